// Asks an agent for the answer of an andAgent step, and tells those who follow the execution what it says meanwhile.
import type { ModelMessage, TelemetryOptions } from "ai";
import { Agent } from "../../agent/agent.ts";
import type { AnyAgent } from "../../agent/call/any-agent.ts";
import { type AgentUsage, Operation } from "../../agent/call/operation.ts";
import { askForObject, objectOutput, withSchemaInWords } from "../../agent/reply/ask-for-object.ts";
import { StepSchemaError } from "../../errors/index.ts";
import { type Schema, toJsonSchema, validate } from "../../values/schema.ts";
import type { AgentStep, WorkflowAgent } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";

/** The body that asks. */
export interface AskingBody
  extends Pick<StepContext, "userId" | "conversationId" | "context" | "logger" | "signal"> {
  /** The AI SDK's `telemetry` option for a call of this agent. */
  telemetryFor(agentId: string): TelemetryOptions;
  /** What the models have used; set when it is known. */
  usage: AgentUsage | undefined;
  /** A piece of the answer has come. */
  tell(delta: string): void;
}

/** The agent's answer: `{ text }`, or an object that fits the step's schema. */
export async function askAgent(
  step: AgentStep,
  path: string,
  prompt: unknown,
  body: AskingBody,
): Promise<unknown> {
  if (typeof prompt !== "string") {
    throw new StepSchemaError({ path, what: "prompt", detail: `expected a text, received ${typeof prompt}` });
  }
  const { userId, conversationId, context, logger, signal } = body;
  const facts = { userId, conversationId, context: new Map(context), logger, signal };
  const operation = new Operation(facts, (agentId) => body.telemetryFor(agentId));
  try {
    const question: ModelMessage[] = [{ role: "user", content: prompt }];
    if (step.schema === undefined) return { text: await ask(step.agent, question, operation, body) };
    return await askWithSchema(step.agent, step.schema, path, question, operation, body);
  } finally {
    if (operation.usage.calls > 0) body.usage = operation.usage;
  }
}

async function askWithSchema(
  agent: WorkflowAgent,
  schema: Schema,
  path: string,
  question: readonly ModelMessage[],
  operation: Operation,
  body: AskingBody,
): Promise<unknown> {
  const shape = {
    schema: toJsonSchema(schema, "input", path),
    check: async (value: unknown) => {
      const result = await validate(schema, value);
      // As it was said: the step's output schema makes of it what it will, once.
      return result.ok ? { ok: true as const, value } : result;
    },
  };
  const answer = await askForObject(question, shape, (messages) =>
    agent instanceof Agent
      ? ask(agent, messages, operation, body, objectOutput(shape))
      : ask(agent, withSchemaInWords(messages, shape), operation, body),
  );
  if (!answer.ok) throw new StepSchemaError({ path, what: "output", detail: answer.detail });
  return answer.value;
}

/** One question; answers with the text of the last step of the agent. */
async function ask(
  agent: WorkflowAgent,
  messages: ModelMessage[],
  operation: Operation,
  body: AskingBody,
  output?: ReturnType<typeof objectOutput>,
): Promise<string> {
  const { signal } = operation;
  const telemetry = body.telemetryFor(agent.id ?? "agent");
  if (!streams(agent)) return generate(agent, messages, signal, telemetry);
  const call = { messages, abortSignal: signal };
  const result = await (agent instanceof Agent
    ? agent.stream({ ...call, operation, output })
    : agent.stream(callOfOthers(call, telemetry, operation)));
  let text = "";
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") signal.throwIfAborted();
    if (part.type === "start-step") text = "";
    if (part.type !== "text-delta" || part.text === "") continue;
    text += part.text;
    body.tell(part.text);
  }
  return text;
}

/** The AI SDK's own agents pass `telemetry` on, though the interface does not name it. */
function callOfOthers(
  call: { readonly messages: ModelMessage[]; readonly abortSignal: AbortSignal },
  telemetry: TelemetryOptions,
  operation: Operation,
) {
  type Step = { usage: Parameters<Operation["count"]>[0] };
  return { ...call, telemetry, onStepEnd: ({ usage }: Step) => operation.count(usage) };
}

/** What only generates is given a text, as its interface says. */
async function generate(
  agent: WorkflowAgent,
  messages: ModelMessage[],
  abortSignal: AbortSignal,
  telemetry: TelemetryOptions,
): Promise<string> {
  const prompt = messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n\n");
  const { text } = await agent.generate({ prompt, abortSignal, telemetry });
  return text;
}

function streams(agent: WorkflowAgent): agent is WorkflowAgent & AnyAgent {
  return (
    "version" in agent &&
    agent.version === "agent-v1" &&
    "stream" in agent &&
    typeof agent.stream === "function"
  );
}
