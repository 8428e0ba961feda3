// andAgent: asks an agent and passes on its reply, as `{ text }` or as an object that fits a schema.
import type { ModelMessage } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { Json } from "../../values/json.ts";
import { checkSchema, type Schema, type SchemaOutput } from "../../values/schema.ts";
import { withoutBytes } from "../../values/without-bytes.ts";
import type { AgentPrompt, AgentStep, ExecutionBudget, PromptFunction, WorkflowAgent } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import { type StepOptions, stepBase, stepOptionsWithoutOutput } from "./step-options.ts";

export interface AgentStepOptions<Data, Input, S extends Schema> extends Omit<StepOptions, "outputSchema"> {
  /** Any agent of the AI SDK, such as a `ToolLoopAgent`. */
  readonly agent: WorkflowAgent;
  /**
   * The prompt: a string, or messages with files, or a function of the data that makes it. Its return value is kept like a
   * body's outcome, bytes as base64.
   */
  readonly prompt: AgentPrompt | PromptFunction<Data, Input>["prompt"];
  /** The shape of the reply. Default: none, the output is `{ text }`. */
  readonly schema?: S;
  /**
   * Whether a reply counts that stopped because of its length, a content filter or the agent's `maxSteps`. Default: false,
   * it fails the step.
   */
  readonly allowIncomplete?: boolean;
  /**
   * The limit of all agents of the execution until this step is done; checked before each model call of this step.
   * Default: no limit.
   */
  readonly budget?: ExecutionBudget;
  /**
   * The AI SDK's call options for the agent, or a function of the data that makes them. It runs again when the step does.
   * Default: those of the agent.
   */
  readonly callOptions?: object | ((context: FunctionContext<Data, Input>) => object | Promise<object>);
  /**
   * A provider that refuses a call of a model with 429 and `Retry-After`: `fail` fails the step once `maxRetries` are used,
   * `wait` has the execution sleep until then. Default: `fail`.
   */
  readonly onBusy?: "fail" | "wait";
  /** How long one call waits for its provider in all; beyond that it fails. Default: one day. */
  readonly maxWait?: Duration;
  /**
   * `read`: the agent sees the messages of the execution's conversation before the prompt, as far as its `memory` shows them
   * to its model. Nothing is added to the conversation. Default: it sees the prompt alone.
   */
  readonly conversation?: "read";
}

const knownOptions: KnownOptions<AgentStepOptions<unknown, unknown, Schema>> = {
  ...stepOptionsWithoutOutput,
  agent: true,
  prompt: true,
  schema: true,
  allowIncomplete: true,
  budget: true,
  callOptions: true,
  onBusy: true,
  maxWait: true,
  conversation: true,
};

const defaultMaxWait = "1d";

const knownBudget: KnownOptions<ExecutionBudget> = { tokens: true, calls: true, onReached: true };

/** The output of an agent step. */
export type AgentOutput<S extends Schema> = Schema extends S ? { text: string } : Json<SchemaOutput<S>>;

export function agentStep(options: AgentStepOptions<unknown, unknown, Schema>): AgentStep {
  const base = stepBase(options, "andAgent", knownOptions);
  const where = `andAgent "${base.id}"`;
  if (typeof options.agent?.generate !== "function") {
    throw new DefinitionError({ where, problem: "agent must be an agent with a generate function" });
  }
  if (!["string", "function"].includes(typeof options.prompt) && !Array.isArray(options.prompt)) {
    throw new DefinitionError({ where, problem: "prompt must be a string, messages or a function" });
  }
  checkSchema(options.schema, `${where}, schema`);
  const { agent, schema, allowIncomplete = false, budget, callOptions, onBusy = "fail" } = options;
  const { conversation } = options;
  if (conversation !== undefined && conversation !== "read")
    throw new DefinitionError({ where, problem: 'conversation must be "read"' });
  if (conversation !== undefined && !("stream" in agent))
    throw new DefinitionError({ where, problem: "only an agent of the AI SDK can read the conversation" });
  if (onBusy !== "fail" && onBusy !== "wait")
    throw new DefinitionError({ where, problem: 'onBusy must be "fail" or "wait"' });
  if (options.maxWait !== undefined && onBusy === "fail")
    throw new DefinitionError({ where, problem: 'maxWait is only for onBusy: "wait"' });
  const maxWait =
    onBusy === "wait" ? parseDuration(options.maxWait ?? defaultMaxWait, `${where}, maxWait`) : undefined;
  checkBudget(budget, where);
  if (typeof allowIncomplete !== "boolean") {
    throw new DefinitionError({ where, problem: "allowIncomplete must be true or false" });
  }
  const prompt = promptOf(options.prompt);
  const reply = { schema, outputSchema: schema, allowIncomplete };
  const readsConversation = conversation === "read";
  return {
    ...base,
    type: "andAgent",
    agent,
    prompt,
    ...reply,
    budget,
    callOptions,
    maxWait,
    readsConversation,
  };
}

function checkBudget(budget: ExecutionBudget | undefined, where: string): void {
  if (budget === undefined) return;
  checkKnownOptions(`${where}, budget`, budget, knownBudget);
  const { tokens, calls, onReached = "stop" } = budget;
  for (const limit of [tokens, calls]) {
    if (limit === undefined || (Number.isInteger(limit) && limit >= 1)) continue;
    throw new DefinitionError({ where, problem: "a budget must be a whole number of 1 or more" });
  }
  if (onReached !== "stop" && onReached !== "suspend")
    throw new DefinitionError({ where, problem: 'budget.onReached must be "stop" or "suspend"' });
}

/** Files may be given as bytes, which JSON cannot hold. */
function promptOf(prompt: AgentStep["prompt"]): AgentStep["prompt"] {
  if (typeof prompt === "function") return async (context) => asJson(await prompt(context));
  return asJson(prompt);
}

function asJson(prompt: AgentPrompt): AgentPrompt {
  // A function of the host may return any value; one that is not messages is refused when the agent is called.
  return Array.isArray(prompt) ? (prompt.map(withoutBytes) as ModelMessage[]) : prompt;
}
