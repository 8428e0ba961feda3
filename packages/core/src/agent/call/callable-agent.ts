// An agent as the rest of Andante calls it, regardless of who made it: our `Agent` is one, and an agent of the AI SDK
// is wrapped into one (`foreign-agent.ts`).
import type { GenerateTextResult, ModelMessage, StreamTextResult, ToolSet } from "ai";
import { PlaygroundOffError } from "../../errors/index.ts";
import type { AgentSchedule } from "./agent-schedules.ts";
import type { AgentTask, AnyAgent, AnyOutput, AnyReply, AnyStream, Context } from "./any-agent.ts";
import type { ToolApproval } from "./approval-deadline.ts";
import type { SupportedUrls } from "./attachments.ts";
import type { AgentBudget } from "./budget.ts";
import type { CallSettings } from "./call-settings.ts";
import type { ConvertDataPart, MakeTitle, MemoryOptions, MessageMetadata } from "./message-options.ts";
import type { Operation } from "./operation.ts";
import type { PlaygroundChoices, PlaygroundSettings } from "./playground.ts";
import type { WhenBusy } from "./when-busy.ts";

/** The description of an agent. */
export interface AgentInfo {
  readonly id: string;
  readonly name: string;
  /** Its purpose; "" when unknown. */
  readonly purpose: string;
  /** Provider and name of the model; null when unknown. */
  readonly model: string | null;
  /** Null when they are made for each call, or unknown. */
  readonly instructions: string | null;
  /** The agent's own tools and its sub-agents; without tools that are made for each call. */
  readonly tools: ToolSet;
  /** Which calls of tools a person must allow; undefined when the tools themselves say it. */
  readonly toolApproval: ToolApproval | undefined;
  readonly subAgents: readonly AnyAgent[];
}

export interface ApprovalSettings {
  /** Undefined: the store's. */
  readonly secret: string | undefined;
  /** Milliseconds. */
  readonly maxAge: number;
}

/** One call of an agent. */
export interface AgentRequest {
  readonly messages: ModelMessage[];
  readonly operation: Operation;
  /** Default: the operation's signal. */
  readonly abortSignal?: AbortSignal;
  readonly settings?: CallSettings | undefined;
  /** The result of `toolsFor`. Default: `toolsFor` is called. */
  readonly tools?: ToolSet | undefined;
  /** The shape of the reply. Default: text. */
  readonly output?: AnyOutput | undefined;
  /** The AI SDK's call options. Default: those of the agent. */
  readonly callOptions?: unknown;
}

export type AgentResult = GenerateTextResult<ToolSet, Context, AnyOutput>;
export type AgentStreamResult = StreamTextResult<ToolSet, Context, AnyOutput>;

/**
 * A class, so that one `instanceof` recognises it; `Agent` itself uses that for its sub-agents. The values here are those of
 * an agent of which no more is known.
 */
export abstract class CallableAgent implements AgentInfo {
  abstract readonly id: string;
  abstract readonly name: string;
  abstract readonly purpose: string;
  abstract readonly model: string | null;
  abstract readonly instructions: string | null;
  abstract readonly tools: ToolSet;
  readonly toolApproval: ToolApproval | undefined = undefined;
  readonly subAgents: readonly AnyAgent[] = [];
  /** The work of those of its sub-agents that work in the background. */
  readonly tasks: readonly AgentTask[] = [];
  /** How many messages of a conversation the model sees; 0 when none is kept. */
  abstract readonly window: number;
  /** Further bounds and changes of the part of a conversation that the model sees. */
  readonly memory: Omit<MemoryOptions, "window"> = {};
  /** Milliseconds: a reply in a conversation that began longer ago is not continued after a restart. */
  abstract readonly recoverWithin: number;
  /** What happens to a message while a reply runs in its conversation. */
  readonly whenBusy: WhenBusy = "queue";
  /** How approval requests are signed that only the client keeps. */
  abstract readonly approval: ApprovalSettings;

  /** Its schedules, by name; undefined for none. */
  readonly schedules: ReadonlyMap<string, AgentSchedule> | undefined = undefined;

  /** Writes the summaries of its conversations; undefined where it compacts none. */
  readonly summarizer: CallableAgent | undefined = undefined;

  /** How many calls of the model it makes for one reply; undefined when unknown. */
  readonly maxSteps: number | undefined = undefined;
  /** True when its calls of models and tools can be recorded one by one. */
  readonly recordsCalls: boolean = false;

  /** Its tools that hold something open; undefined for none. */
  readonly held: HeldTools | undefined = undefined;

  readonly budget: AgentBudget | undefined = undefined;
  /** The shape of every reply that is not asked for in another; undefined for text. */
  readonly output: AnyOutput | undefined = undefined;
  /** Makes the metadata of the message that a reply becomes. */
  readonly messageMetadata: MessageMetadata | undefined = undefined;
  /** Makes the title of a conversation. */
  readonly title: MakeTitle | undefined = undefined;
  /** Converts data parts for the model. */
  readonly convertDataPart: ConvertDataPart | undefined = undefined;

  /** The choices of its playground; undefined where it has none. */
  get playground(): PlaygroundChoices | undefined {
    return undefined;
  }

  /** The agent for one reply, with the settings of the playground in place of its own. */
  changed(_settings: PlaygroundSettings): CallableAgent {
    throw new PlaygroundOffError({ agentId: this.id });
  }

  /** Which addresses of files its model's provider loads by itself. */
  abstract supportedUrls(operation: Operation): SupportedUrls | Promise<SupportedUrls>;
  /** The tools of one reply. */
  abstract toolsFor(operation: Operation): ToolSet | Promise<ToolSet>;
  /** Throws when the agent does not accept these settings for one call. */
  abstract checkSettings(settings: CallSettings): void;
  abstract generate(request: AgentRequest): PromiseLike<AnyReply>;
  abstract stream(request: AgentRequest): PromiseLike<AnyStream>;

  /** Streams a reply whose parts have one reader. */
  parts(request: AgentRequest): PromiseLike<AnyStream> {
    return this.stream(request);
  }
}

/** Tools that hold something open, such as connections: an Andante retains them from its start until it has closed. */
export interface HeldTools {
  retain(): void;
  release(): Promise<void>;
}

export function isHeld(tools: unknown): tools is HeldTools {
  return typeof tools === "function" && "retain" in tools && "release" in tools;
}
