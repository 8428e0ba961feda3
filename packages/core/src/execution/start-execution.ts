// Starts an execution: checks its input and options, creates it, and makes a start with a given id idempotent.
import { randomUUID } from "node:crypto";
import { v7 as uuid } from "uuid";
import {
  ExecutionConflictError,
  InputValidationError,
  InvalidOptionError,
  UnserializableError,
} from "../errors/index.ts";
import type { ExecutionRow } from "../store/store.ts";
import { checkText } from "../workflow/check-text.ts";
import { canonicalJson, type JsonText, toJson } from "../workflow/json.ts";
import { validate } from "../workflow/schema.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { Engine } from "./engine.ts";
import { Journal } from "./journal.ts";

/** Options of a start. */
export interface StartOptions {
  /** Makes the start idempotent: the same id, workflow, input and user answer as that execution does. Default: a new id. */
  readonly executionId?: string | undefined;
  /** Whom the execution is for. Default: nobody. */
  readonly userId?: string | undefined;
  /** The conversation it belongs to. Default: none. */
  readonly conversationId?: string | undefined;
  /** Further data for the steps' `context`; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

export interface Started {
  readonly executionId: string;
  readonly startAt: number;
  /** False when an execution of this id was there before. */
  readonly created: boolean;
  /** True when it was there before and is suspended or has ended. */
  readonly rests: boolean;
}

/** `prepare` is called with the id before anything is created: the moment to start waiting for it or following it. */
export async function startExecution(
  engine: Engine,
  workflowId: string,
  input: unknown,
  options: StartOptions,
  prepare: (executionId: string, existed: boolean) => void,
): Promise<Started> {
  const workflow = engine.workflow(workflowId);
  checkOptions(options);
  const texts = await checkInput(workflow, input);
  const executionId = options.executionId ?? uuid();
  const { userId = null, conversationId = null } = options;
  const row = { executionId, workflowId, context: contextText(options), userId, conversationId };
  const token = randomUUID();
  const startAt = Date.now();
  // Nothing is awaited between this check and the driver that counts from then on.
  engine.checkIntake();
  const driver = engine.prepare({
    row,
    workflow,
    token,
    input: texts.parsed,
    journal: new Journal(),
    suspensions: [],
    sequence: 0,
    stepIndex: 0,
    paused: false,
  });
  prepare(executionId, false);
  const [first, ...rest] = driver.takeFirstEvents();
  // The parsed input is kept only where the schema changed it: defaults, transforms, fields left out.
  const parsed = texts.parsed === texts.raw ? null : (texts.parsed ?? null);
  const events = first === undefined ? rest : [{ ...first, timestamp: startAt, value: parsed }, ...rest];
  const claim = { owner: engine.owner, token };
  let created: boolean;
  try {
    ({ created } = await engine.store.create({ ...row, input: texts.raw ?? null, startAt, claim, events }));
  } catch (error) {
    engine.discard(driver);
    throw error;
  }
  if (!created) {
    engine.discard(driver);
    return existing(engine, row, texts.raw, prepare);
  }
  engine.feed.publish(
    executionId,
    events.map((event, index) => ({ ...event, sequence: index + 1 })),
  );
  engine.admit(driver);
  return { executionId, startAt, created: true, rests: false };
}

/** An execution of this id is there: it answers when it is the same, and else it is not spoken of. */
async function existing(
  engine: Engine,
  row: Pick<ExecutionRow, "executionId" | "workflowId" | "userId">,
  input: JsonText,
  prepare: (executionId: string, existed: boolean) => void,
): Promise<Started> {
  const { executionId } = row;
  prepare(executionId, true);
  const state = await engine.store.state(executionId);
  const same =
    state !== undefined &&
    state.execution.workflowId === row.workflowId &&
    state.execution.userId === row.userId &&
    canonicalJson(state.execution.input ?? undefined) === canonicalJson(input);
  if (!same) throw new ExecutionConflictError({ executionId });
  const { startAt, status } = state.execution;
  return { executionId, startAt, created: false, rests: status !== "running" };
}

async function checkInput(
  workflow: WorkflowDefinition,
  input: unknown,
): Promise<{ raw: JsonText; parsed: JsonText }> {
  try {
    const raw = toJson(input, "input");
    const result = await validate(workflow.inputSchema, input);
    if (!result.ok) throw new InputValidationError({ detail: result.detail });
    return { raw, parsed: toJson(result.value, "input") };
  } catch (error) {
    if (error instanceof UnserializableError) throw new InputValidationError({ detail: error.message });
    throw error;
  }
}

function checkOptions(options: StartOptions): void {
  checkText(options.executionId, "executionId");
  if (options.executionId === "." || options.executionId === "..") {
    throw new InvalidOptionError({ option: "executionId", problem: "no address can hold it" });
  }
  checkText(options.userId, "userId");
  checkText(options.conversationId, "conversationId");
  const { context } = options;
  if (context !== undefined && (typeof context !== "object" || context === null || Array.isArray(context))) {
    throw new InvalidOptionError({ option: "context", problem: "expected an object" });
  }
}

function contextText({ context, userId, conversationId }: StartOptions): string {
  try {
    const known = { ...(userId && { userId }), ...(conversationId && { conversationId }) };
    return toJson({ ...context, ...known }, "context") ?? "{}";
  } catch (error) {
    if (error instanceof UnserializableError) {
      throw new InvalidOptionError({ option: "context", problem: error.message });
    }
    throw error;
  }
}
