// Agent: instructions, a model and tools under one name. It is an agent of the AI SDK too, so it works wherever one does.
import type { ToolSet } from "ai";
import { DefinitionError } from "../errors/index.ts";
import { parseDuration } from "../values/duration.ts";
import {
  type AgentOptions,
  checkAgentOptions,
  defaultApprovalMaxAge,
  defaultRecoverWithin,
  defaultSteps,
  defaultWindow,
} from "./call/agent-options.ts";
import type { AnyAgent, AnyOutput } from "./call/any-agent.ts";
import type { SupportedUrls } from "./call/attachments.ts";
import type { AgentBudget } from "./call/budget.ts";
import type { AgentStreamCall, Called } from "./call/call-model.ts";
import { type CallSettings, checkSettings } from "./call/call-settings.ts";
import {
  type AgentRequest,
  type AgentResult,
  type AgentStreamResult,
  type ApprovalSettings,
  CallableAgent,
  type HeldTools,
  isHeld,
} from "./call/callable-agent.ts";
import { callHost } from "./call/host-function.ts";
import { resolveOption } from "./call/host-options.ts";
import { checkAllowed } from "./call/merge-settings.ts";
import type { ConvertDataPart, MakeTitle, MemoryOptions, MessageMetadata } from "./call/message-options.ts";
import type { OperationContext } from "./call/operation.ts";
import type { AgentParameters } from "./call/prepare-call.ts";
import { subAgentTools } from "./call/sub-agent-tool.ts";

/**
 * An agent: instructions, a model and tools under one name.
 *
 * @example
 * ```ts
 * import { Agent } from "@andante/core";
 *
 * export const writer = new Agent({
 *   id: "writer",
 *   purpose: "Writes short posts",
 *   model: "openai/gpt-5",
 *   instructions: "Write one paragraph.",
 * });
 * ```
 */
export class Agent<Id extends string = string> extends CallableAgent implements AnyAgent {
  readonly version = "agent-v1";
  override readonly recordsCalls = true;
  readonly id: Id;
  readonly name: string;
  readonly purpose: string;
  /** The agent's own tools and its sub-agents; without tools that are made for each call. */
  readonly tools: ToolSet;
  override readonly toolApproval: AgentOptions["toolApproval"];
  override readonly subAgents: readonly AnyAgent[];
  override readonly maxSteps: number;
  /** How many messages of a conversation the model sees; 0 when none is kept. */
  readonly window: number;
  override readonly memory: Pick<MemoryOptions, "tokens" | "prepare">;
  readonly recoverWithin: number;
  readonly approval: ApprovalSettings;
  override readonly held: HeldTools | undefined;
  override readonly output: AnyOutput | undefined;
  override readonly budget: AgentBudget | undefined;
  override readonly messageMetadata: MessageMetadata | undefined;
  override readonly title: MakeTitle | undefined;
  override readonly convertDataPart: ConvertDataPart | undefined;
  readonly #asTools: ToolSet;
  readonly #options: AgentOptions;
  readonly #called: Called;

  constructor(options: AgentOptions & { readonly id: Id }) {
    super();
    const where = checkAgentOptions(options);
    const { id, name = id, description = "", purpose = description, subAgents = [], memory = {} } = options;
    this.id = id;
    this.name = name;
    this.purpose = purpose;
    this.subAgents = subAgents;
    this.#asTools = subAgentTools(where, subAgents);
    const { tools = {} } = options;
    this.tools = this.#withSubAgents(typeof tools === "function" ? {} : tools);
    this.toolApproval = options.toolApproval;
    this.held = isHeld(tools) ? tools : undefined;
    this.maxSteps = options.maxSteps ?? defaultSteps;
    this.window = memory === false ? 0 : (memory.window ?? defaultWindow);
    this.output = options.output;
    this.budget = options.budget;
    this.messageMetadata = options.messageMetadata;
    this.title = options.title;
    this.convertDataPart = options.convertDataPart;
    this.memory = memory === false ? {} : memory;
    this.#options = options;
    this.#called = { agent: this, options };
    const {
      approvalSecret,
      approvalMaxAge = defaultApprovalMaxAge,
      recoverWithin = defaultRecoverWithin,
    } = options;
    this.recoverWithin = parseDuration(recoverWithin, where);
    this.approval = { secret: approvalSecret, maxAge: parseDuration(approvalMaxAge, where) };
  }

  /** The provider and name of the model; null when it is chosen for each call. */
  get model(): string | null {
    const { model } = this.#options;
    if (typeof model === "function") return null;
    return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
  }

  /** The instructions; null when they are made for each call. */
  get instructions(): string | null {
    const { instructions = "" } = this.#options;
    if (typeof instructions === "function") return null;
    if (typeof instructions === "string") return instructions;
    return [instructions]
      .flat()
      .map(({ content }) => content)
      .join("\n\n");
  }

  async supportedUrls(operation: OperationContext): Promise<SupportedUrls> {
    const model = await resolveOption("model", this.#options.model, operation);
    // One that is named goes through a gateway, which loads files by itself.
    return typeof model === "string" ? { "*": [/./] } : ((await model.supportedUrls) ?? {});
  }

  async toolsFor(operation: OperationContext): Promise<ToolSet> {
    const { tools } = this.#options;
    if (typeof tools !== "function") return this.tools;
    return this.#withSubAgents(await callHost("tools", () => tools(operation)));
  }

  /** Throws when a setting is outside its range, or one that the host does not leave to callers. */
  checkSettings(settings: CallSettings): void {
    checkSettings(settings);
    checkAllowed(this.id, this.#options.allowProviderOptions ?? {}, settings.providerOptions);
  }

  async generate(call: AgentParameters): Promise<AgentResult> {
    const { generate } = await loadCalls();
    return generate(this.#called, call);
  }

  async stream(call: AgentStreamCall): Promise<AgentStreamResult> {
    const { stream } = await loadCalls();
    return stream(this.#called, call);
  }

  override async parts(call: AgentRequest): Promise<Pick<AgentStreamResult, "stream">> {
    const { streamParts } = await loadCalls();
    // A host that replaced `stream` may change or watch its result.
    return this.stream === Agent.prototype.stream ? streamParts(this.#called, call) : this.stream(call);
  }

  #withSubAgents(tools: ToolSet): ToolSet {
    for (const name of Object.keys(this.#asTools)) {
      if (!Object.hasOwn(tools, name)) continue;
      const problem = `a tool and a sub-agent are both called "${name}"`;
      throw new DefinitionError({ where: `Agent "${this.id}"`, problem });
    }
    return { ...tools, ...this.#asTools };
  }
}

/** Loaded by the first call: the AI SDK is a third of a start. */
function loadCalls(): Promise<typeof import("./call/call-model.ts")> {
  return import("./call/call-model.ts");
}
