// Asks an agent for the reply of an andAgent step, and passes its text on to the execution's followers.

import type { FinishReason, ModelMessage, TelemetryOptions, ToolSet } from "ai";
import { adoptAgent } from "../../agent/adopt-agent.ts";
import type { AnyAgent } from "../../agent/call/any-agent.ts";
import { budgetError } from "../../agent/call/budget.ts";
import type { CallableAgent } from "../../agent/call/callable-agent.ts";
import { FileBudget, type FilePool } from "../../agent/call/file-budget.ts";
import { withSchemaInWords } from "../../agent/call/foreign-agent.ts";
import { refusedUntil, toolErrorText } from "../../agent/call/model-failure.ts";
import { objectOutput } from "../../agent/call/object-output.ts";
import { type Meter, Operation } from "../../agent/call/operation.ts";
import { seenMessages } from "../../agent/conversation/compaction.ts";
import { messageOf } from "../../agent/conversation/kept-message.ts";
import { DurableLoop } from "../../agent/durable/durable-loop.ts";
import type { FactKeeper } from "../../agent/facts/fact-keeper.ts";
import {
  attachmentsOf,
  forModel,
  historyForModel,
  readMessages,
} from "../../agent/messages/given-messages.ts";
import { askForObject } from "../../agent/reply/ask-for-object.ts";
import type { Part } from "../../agent/reply/stream-parts.ts";
import { InputValidationError, ReplyIncompleteError, StepSchemaError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { usageSince } from "../../store/usage.ts";
import { fromJson, plainJson } from "../../values/json.ts";
import { type JsonSchema, type Schema, toJsonSchema, validate } from "../../values/schema.ts";
import type { AgentStep, WorkflowAgent } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";
import type { LiveText, LiveTool } from "../stream/feed.ts";
import { BudgetGate } from "./budget-gate.ts";
import type { StepRecorder } from "./step-recorder.ts";

/** The body that asks. */
export interface AskingBody
  extends Pick<StepContext, "userId" | "conversationId" | "context" | "logger" | "signal" | "checkpoint"> {
  /** The AI SDK's `telemetry` option for a call of this agent. */
  telemetryFor(agentId: string): TelemetryOptions;
  /** The facts that agents keep. */
  readonly facts: FactKeeper;
  readonly conversations: Pick<ConversationStore, "recent">;
  /** The memory that files of agents share. */
  readonly files: FilePool;
  /** Puts prices on calls. */
  readonly meter: Meter | undefined;
  /** The tags of the execution. */
  readonly tags: readonly string[];
  /** Resolves when calls of agents can be observed. */
  observed(): Promise<void>;
  /** The usage of the models; set when it is known. */
  usage: StepUsage | undefined;
  /** The usage of the whole execution so far. */
  used(): Promise<StepUsage>;
  /** The usage of the whole execution at the moments when these suspensions were resumed, the earliest first. */
  usedAtResumes(suspensionIds: ReadonlySet<string>): Promise<ReadonlyMap<string, StepUsage>>;
  /** Records the calls of the agent. */
  recorder(): StepRecorder;
  /** Publishes a piece of the reply, or a call of a tool. */
  publishLive(piece: Pick<LiveText, "delta" | "tool">): void;
}

/** Asks once; resolves to the text of the agent's last step. With a schema the text should be JSON that matches it. */
type AskAgent = (messages: ModelMessage[], schema?: JsonSchema) => Promise<string>;

/** The agent's reply: `{ text }`, or an object that fits the step's schema. */
export async function askAgent(
  step: AgentStep,
  path: string,
  prompt: unknown,
  body: AskingBody,
  callOptions?: unknown,
): Promise<unknown> {
  await body.observed();
  const { userId, conversationId, context, logger, signal } = body;
  const recorder = body.recorder();
  recorder.busy = step.maxWait === undefined ? undefined : { maxWait: step.maxWait, refusedUntil };
  const gate = step.budget && new BudgetGate(step.budget, recorder, body);
  const loop = new DurableLoop(recorder, logger, gate);
  const files = new FileBudget({ pool: body.files, userId });
  const operation = new Operation(
    { userId, conversationId, context: new Map(context), logger, signal },
    {
      telemetry: (agentId) => body.telemetryFor(agentId),
      ...{ loop, facts: body.facts, files, meter: body.meter, tags: body.tags },
    },
  );
  const ask = askerOf(step, path, { operation, loop, body, gate, callOptions });
  try {
    const history = step.readsConversation === true ? await historyOf(step.agent, operation, body) : [];
    const messages = [...history, ...(await messagesOf(prompt, path, step.agent))];
    if (step.schema === undefined) return { text: await ask(messages) };
    return await askWithSchema(step.schema, path, messages, ask);
  } catch (error) {
    if (loop.left === undefined) throw error;
    return recorder.leave(loop.left.reason);
  } finally {
    files.end();
    body.usage = recorder.usage;
  }
}

async function askWithSchema(
  schema: Schema,
  path: string,
  messages: readonly ModelMessage[],
  ask: AskAgent,
): Promise<unknown> {
  const shape = {
    schema: toJsonSchema(schema, "input", path),
    check: async (value: unknown) => {
      const result = await validate(schema, value);
      // As the model wrote it: the step's output schema transforms it, once.
      return result.ok ? { ok: true as const, value } : result;
    },
  };
  const reply = await askForObject(messages, shape, (sent) => ask(sent, shape.schema));
  if (!reply.ok) throw new StepSchemaError({ path, subject: "output", detail: reply.detail });
  return reply.value;
}

interface Asking {
  readonly operation: Operation;
  readonly loop: DurableLoop;
  readonly body: AskingBody;
  readonly gate: BudgetGate | undefined;
  readonly callOptions: unknown;
}

function askerOf({ agent, allowIncomplete }: AgentStep, path: string, asking: Asking): AskAgent {
  const { gate } = asking;
  const id = agent.id ?? "agent";
  if (!streams(agent)) {
    return (messages, schema) =>
      asOneCall(asking, id, () => generate(agent, id, messages, schema, asking.body));
  }
  const callable = adoptAgent(agent, id);
  const ask: AskAgent = async (messages, schema) => {
    const streamed = await stream(callable, messages, schema, asking);
    const { text, why = gate?.hasStopped ? usedUp : undefined } = streamed;
    if (why !== undefined && !allowIncomplete) throw new ReplyIncompleteError({ path, why });
    return text;
  };
  if (callable.recordsCalls) return ask;
  return (messages, schema) => asOneCall(asking, id, () => ask(messages, schema));
}

/** An agent that is not ours: its calls cannot be seen from here, so its reply is recorded as a whole. */
async function asOneCall(
  { operation, loop }: Asking,
  agentId: string,
  ask: () => Promise<string>,
): Promise<string> {
  const before = operation.usage;
  const run = async () => {
    const text = await ask();
    const usage = operation.usage.calls > before.calls ? usageSince(operation.usage, before) : undefined;
    return { output: JSON.stringify(text), usage };
  };
  const { output } = await loop.whole(agentId, run);
  return String(fromJson(output));
}

const usedUp = "the execution has used its budget, and the last reply asks for tools";

/** The text of the last step, and why it is not the whole reply when it is not. */
interface StreamedText {
  readonly text: string;
  readonly why: string | undefined;
}

async function stream(
  agent: CallableAgent,
  messages: ModelMessage[],
  schema: JsonSchema | undefined,
  { operation, loop, body, callOptions }: Asking,
): Promise<StreamedText> {
  const output = schema && objectOutput(schema);
  const first = loop.calls;
  let call = first - 1;
  const { signal: abortSignal } = operation;
  const result = await agent.stream({ messages, operation, abortSignal, output, callOptions });
  let text = "";
  let why: string | undefined;
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") {
      if (loop.left !== undefined) throw loop.left;
      operation.signal.throwIfAborted();
    }
    if (part.type === "start-step") {
      text = "";
      call++;
    }
    if (part.type === "finish") why = whyIncomplete(part.finishReason, call + 1 - first, agent, operation);
    const tool = liveTool(part, loop);
    if (tool !== undefined) body.publishLive({ tool, delta: JSON.stringify(tool) });
    if (part.type !== "text-delta" || part.text === "") continue;
    text += part.text;
    // A replayed call was published before.
    if (!loop.isWalked(call)) body.publishLive({ delta: part.text });
  }
  return { text, why };
}

/** A call of a tool for followers of the execution; undefined for a replayed call. */
function liveTool(part: Part, loop: DurableLoop): LiveTool | undefined {
  if (part.type !== "tool-call" && part.type !== "tool-result" && part.type !== "tool-error")
    return undefined;
  const { type, toolCallId, toolName } = part;
  const isOurs = part.providerExecuted !== true;
  if (isOurs && loop.toolCall(toolCallId, toolName).isWalked) return undefined;
  const input = plainJson(part.input);
  const call = { type, toolCallId, toolName, input };
  if (part.type === "tool-error") return { ...call, error: toolErrorText(part.error) };
  if (part.type === "tool-call") return call;
  const preliminary = part.preliminary === true && { preliminary: true };
  return { ...call, output: plainJson(part.output), ...preliminary };
}

/** Why a reply that ended so is not complete; undefined when it is. */
function whyIncomplete(
  reason: FinishReason,
  steps: number,
  agent: CallableAgent,
  { usage }: Operation,
): string | undefined {
  if (reason === "length") return "it has reached the number of tokens that the model may write";
  if (reason === "content-filter") return "the provider's content filter stopped it";
  if (reason === "tool-calls" && budgetError(agent.budget, usage) !== undefined)
    return "it has used the agent's budget, and the last reply asks for tools";
  // Ended by a condition of the host's, a loop of tools is complete.
  const { maxSteps } = agent;
  if (reason !== "tool-calls" || maxSteps === undefined || steps < maxSteps) return undefined;
  return `it has called the model ${steps} times, as often as maxSteps allows, and the last reply asks for tools`;
}

/**
 * The conversation of the execution, up to the message that was the last one when the step first ran: the agent sees the same
 * messages after a crash. Empty where it has none, or another user's.
 */
async function historyOf(
  asked: WorkflowAgent,
  operation: Operation,
  { userId, conversationId, conversations, checkpoint }: AskingBody,
): Promise<ModelMessage[]> {
  if (conversationId === undefined || !streams(asked)) return [];
  const where = { conversationId, userId: userId ?? null };
  const newest = async () => (await conversations.recent({ ...where, limit: 1 }))?.at(-1)?.messageId ?? null;
  const upTo = await checkpoint("conversation", newest);
  const agent = adoptAgent(asked, asked.id ?? "agent");
  // One without a memory of conversations sees none.
  if (upTo === null || agent.window === 0) return [];
  const recent = (await conversations.recent({ ...where, upTo, limit: agent.window + 1 })) ?? [];
  const seen = seenMessages(agent, recent.map(messageOf));
  const tools = await agent.toolsFor(operation);
  return historyForModel(agent, await attachmentsOf(agent, operation).resolve(seen), tools, operation);
}

/** The prompt of the agent: a string, or messages with files. */
async function messagesOf(prompt: unknown, path: string, agent: WorkflowAgent): Promise<ModelMessage[]> {
  try {
    if (typeof prompt === "string") return [{ role: "user", content: prompt }];
    if (!Array.isArray(prompt)) {
      const detail = `expected a string or messages, received ${typeof prompt}`;
      throw new StepSchemaError({ path, subject: "prompt", detail });
    }
    const tools = "tools" in agent && isToolSet(agent.tools) ? agent.tools : {};
    return await forModel(await readMessages(prompt, tools, "all"), tools);
  } catch (error) {
    if (!(error instanceof InputValidationError)) throw error;
    const detail = error.message.replace(/^.*?input: /, "");
    throw new StepSchemaError({ path, subject: "prompt", detail });
  }
}

function isToolSet(tools: unknown): tools is ToolSet {
  return typeof tools === "object" && tools !== null;
}

/** An agent that only generates gets one string, as its interface says. */
async function generate(
  agent: WorkflowAgent,
  id: string,
  messages: ModelMessage[],
  schema: JsonSchema | undefined,
  body: AskingBody,
): Promise<string> {
  const sent = schema === undefined ? messages : withSchemaInWords(messages, schema);
  const prompt = sent.map(({ content }) => textOf(content)).join("\n\n");
  const { text } = await agent.generate({
    prompt,
    abortSignal: body.signal,
    telemetry: body.telemetryFor(id),
  });
  return text;
}

function textOf(content: ModelMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : refuseFile())).join("\n\n");
}

function refuseFile(): never {
  throw new TypeError("this agent has only a generate function, which takes a string, not files");
}

function streams(agent: WorkflowAgent): agent is WorkflowAgent & AnyAgent {
  return (
    "version" in agent &&
    agent.version === "agent-v1" &&
    "stream" in agent &&
    typeof agent.stream === "function"
  );
}
