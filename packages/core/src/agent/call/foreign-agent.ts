// An agent of the AI SDK as Andante calls it. Its interface has no place for settings, schemas and usage, so settings
// are refused, a schema is put into words, and usage is counted step by step.
import type { LanguageModelUsage, ModelMessage } from "ai";
import { InvalidOptionError } from "../../errors/index.ts";
import { propertyOf } from "../../values/fields.ts";
import { defaultApprovalMaxAge, defaultRecoverWithin, defaultWindow } from "./agent-options.ts";
import type { AnyAgent } from "./any-agent.ts";
import { type CallSettings, checkSettings, pickSettings } from "./call-settings.ts";
import { type AgentRequest, CallableAgent } from "./callable-agent.ts";
import { countedTokens } from "./operation.ts";

/** The agent itself when it is ours, else wrapped; `id` is for one that has none of its own. */
export function callableAgent(agent: AnyAgent, id: string): CallableAgent {
  return agent instanceof CallableAgent ? agent : new ForeignAgent(agent, agent.id ?? id);
}

class ForeignAgent extends CallableAgent {
  readonly id: string;
  readonly model = null;
  readonly instructions = null;
  readonly window = defaultWindow;
  readonly recoverWithin = defaultRecoverWithin;
  readonly approval = { secret: undefined, maxAge: defaultApprovalMaxAge };
  readonly #agent: AnyAgent;

  constructor(agent: AnyAgent, id: string) {
    super();
    this.#agent = agent;
    this.id = id;
  }

  get name(): string {
    return this.id;
  }
  get purpose(): string {
    const agent = this.#agent;
    return "purpose" in agent && typeof agent.purpose === "string" ? agent.purpose : "";
  }
  get tools() {
    return this.#agent.tools ?? {};
  }

  /** Not known, so none: a file that only the AI SDK would load could end the conversation once it is gone. */
  supportedUrls() {
    return {};
  }

  toolsFor() {
    return this.tools;
  }

  checkSettings(settings: CallSettings): void {
    refuseSettings(this.id, settings);
  }

  async generate(request: AgentRequest) {
    return this.#agent.generate(await this.#parameters(request));
  }

  async stream(request: AgentRequest) {
    return this.#agent.stream(await this.#parameters(request));
  }

  async #parameters({
    messages,
    operation,
    abortSignal = operation.signal,
    output,
    callOptions,
  }: AgentRequest) {
    const { userId, tags, meter } = operation;
    await meter?.budgets?.check({ userId, tags, agentId: this.id }, { model: null });
    const format = await output?.responseFormat;
    const schema = format?.type === "json" ? format.schema : undefined;
    const { boundedDownload, downloadAll } = await import("./bounded-download.ts");
    return {
      messages: schema === undefined ? messages : withSchemaInWords(messages, schema),
      abortSignal,
      ...(callOptions !== undefined && { options: callOptions as never }),
      // The AI SDK's own agents pass these on, though the interface does not name them.
      telemetry: operation.telemetry?.(this.id),
      ...(!hasDownload(this.#agent) && {
        experimental_download: downloadAll(boundedDownload(operation.files), abortSignal),
      }),
      onStepEnd: ({ usage }: { usage: LanguageModelUsage }) =>
        operation.countUnrecorded(this.id, countedTokens(usage)),
    };
  }
}

/** Throws for any setting of a caller: the agent keeps its settings to itself. */
export function refuseSettings(agentId: string, settings: CallSettings): void {
  checkSettings(settings);
  for (const [option, value] of Object.entries(pickSettings(settings))) {
    if (value === undefined) continue;
    throw new InvalidOptionError({ option, problem: `agent ${agentId} has settings of its own` });
  }
}

/** True for an agent of the AI SDK whose host loads files in another way, which the option of a call would replace. */
function hasDownload(agent: AnyAgent): boolean {
  return propertyOf(propertyOf(agent, "settings"), "experimental_download") !== undefined;
}

/** Asks an agent without structured output for JSON: the messages with the schema added to the last one of the user. */
export function withSchemaInWords(messages: readonly ModelMessage[], schema: object): ModelMessage[] {
  const words = `Reply with nothing but JSON that matches this JSON Schema:\n${JSON.stringify(schema)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  const { content } = last;
  const extended =
    typeof content === "string"
      ? `${content}\n\n${words}`
      : [...content, { type: "text" as const, text: words }];
  return [...messages.slice(0, -1), { ...last, content: extended }];
}
