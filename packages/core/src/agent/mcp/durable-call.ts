// A call of a server's tool that may take days: a question of the server is a suspension, and a task of the server is polled
// after durable sleeps. Each reply of the server is a record, so the call continues where it was after a crash.
import { isRecord } from "../../values/fields.ts";
import type { JsonSchema, Schema, Validation } from "../../values/schema.ts";
import type { DurableTool } from "../call/durable.ts";
import { reasonOf, validateWithin } from "../schema/bounded-validator.ts";
import type { Fields } from "./remote-calls.ts";

/** Milliseconds between two polls: the first, at least that of the server, and the longest. */
const [shortest, longest] = [1000, 300_000];
/** Each poll waits longer than the one before, so that a task of days has some hundred of them. */
const growth = 1.5;
/** Polls in a row without a response before the call fails: more than an hour. */
const maxUnreachable = 25;
/** Milliseconds to check an answer with the schema of its question. */
const maxCheck = 100;

export interface RemoteTool {
  readonly name: string;
  readonly input: unknown;
  /** Sends one message within the time limit of the server. */
  ask(method: string, params: Fields): Promise<Fields>;
  /** Whether the server itself has responded with this error. */
  isReply(error: unknown): boolean;
}

/** The result of the tool. Rejects with an error of the wait when the call leaves the loop. */
export async function callDurably(tool: RemoteTool, steps: DurableTool): Promise<Fields> {
  const call = { name: tool.name, arguments: tool.input };
  let params: Fields = call;
  let pause = shortest;
  for (let round = 0; ; round++) {
    const given = params;
    const result = fieldsOf(await steps.checkpoint(`call-${round}`, () => tool.ask("tools/call", given)));
    if (result.resultType === "task") return pollTask(tool, steps, result);
    if (result.resultType !== "input_required") return result;
    const { requestState } = result;
    const questions = fieldsOf(result.inputRequests);
    // Without a question the server wants the call to be repeated later.
    if (Object.keys(questions).length === 0) {
      await steps.sleep(pause);
      pause = Math.min(pause * growth, longest);
    }
    const inputResponses = await answersTo(steps, questions, new Set());
    params = { ...call, inputResponses, ...(requestState !== undefined && { requestState }) };
  }
}

async function pollTask(tool: RemoteTool, steps: DurableTool, created: Fields): Promise<Fields> {
  const { taskId } = created;
  const answered = new Set<string>();
  let pending: Fields = {};
  let pause = pauseOf(created);
  let unreachable = 0;
  for (let poll = 0; ; poll++) {
    await steps.sleep(pause);
    const task = fieldsOf(await steps.checkpoint(`poll-${poll}`, () => readTask(tool, taskId)));
    unreachable = task.status === "unreachable" ? unreachable + 1 : 0;
    if (unreachable === maxUnreachable) throw new Error(`the task cannot be read: ${task.problem}`);
    if (task.status === "completed") return fieldsOf(task.result);
    if (task.status === "cancelled") throw new Error("the server has cancelled the task");
    if (task.status === "failed")
      throw new Error(String(fieldsOf(task.error).message ?? "the task has failed"));
    pending = { ...pending, ...(await answersTo(steps, fieldsOf(task.inputRequests), answered)) };
    pause = Math.min(Math.max(pause * growth, pauseOf(task)), longest);
    if (Object.keys(pending).length === 0) continue;
    const inputResponses = pending;
    const sent = await steps.checkpoint(`answer-${poll}`, () =>
      reached(tool, "tasks/update", { taskId, inputResponses }),
    );
    if (fieldsOf(sent).status === "unreachable") continue;
    pending = {};
    pause = pauseOf(task);
  }
}

/** The result of a message, or that the server did not respond: one that is away for a while still has the task. */
async function reached({ ask, isReply }: RemoteTool, method: string, params: Fields): Promise<Fields> {
  try {
    return await ask(method, params);
  } catch (error) {
    if (isReply(error)) throw error;
    return { status: "unreachable", problem: String(error) };
  }
}

async function readTask(tool: RemoteTool, taskId: unknown): Promise<Fields> {
  const task = await reached(tool, "tasks/get", { taskId });
  // Only these are recorded.
  const { status, problem, pollIntervalMs, inputRequests, result, error } = task;
  return { status, problem, pollIntervalMs, inputRequests, result, error };
}

/** Suspends the tool for each question in turn; the resume data are the content of its form. */
async function answersTo(steps: DurableTool, questions: Fields, answered: Set<string>): Promise<Fields> {
  const answers: Record<string, unknown> = {};
  for (const [key, question] of Object.entries(questions)) {
    if (answered.has(key)) continue;
    answered.add(key);
    const { method, params } = fieldsOf(question);
    const { mode = "form", message, requestedSchema } = fieldsOf(params);
    if (method !== "elicitation/create" || mode !== "form")
      throw new Error(`the server asks for ${method} (${mode}), which is not supported`);
    const schema = isRecord(requestedSchema) ? { resumeSchema: schemaFrom(requestedSchema) } : {};
    const content = await steps.suspend(String(message ?? ""), undefined, schema);
    answers[key] = { action: "accept", content: isRecord(content) ? content : {} };
  }
  return answers;
}

function pauseOf({ pollIntervalMs }: Fields): number {
  const asked = typeof pollIntervalMs === "number" ? pollIntervalMs : shortest;
  return Math.min(Math.max(asked, shortest), longest);
}

/** A schema of a server, as a schema of ours: with a limit, because strangers write it. */
function schemaFrom(schema: JsonSchema): Schema {
  const check = (value: unknown): Validation => {
    try {
      return validateWithin(schema, value, maxCheck);
    } catch (error) {
      return { ok: false, detail: reasonOf(error, maxCheck) };
    }
  };
  return {
    "~standard": {
      version: 1,
      vendor: "andante",
      validate: (value) => {
        const result = check(value);
        return result.ok ? { value } : { issues: [{ message: result.detail }] };
      },
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
