// One operation of an agent: who asked, what was given, and what its model calls have used.
import type { LanguageModelUsage, TelemetryOptions } from "ai";
import type { Logger } from "../../observe/log/logger.ts";

/** What hooks and tools know about the call that they belong to. A type, because the AI SDK takes no interface here. */
export type OperationContext = {
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** The caller's `options.context`, with `user` when authenticated. The hooks and tools of one call share it. */
  readonly context: Map<string, unknown>;
  readonly logger: Logger;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** Tokens and calls, summed over the model calls of sub-agents too. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** How many calls of a model were answered. */
  readonly calls: number;
}

export class Operation implements OperationContext {
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  readonly context: Map<string, unknown>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The AI SDK's `telemetry` option for a call of this agent within the operation; undefined where nobody observes. */
  readonly telemetry: ((agentId: string) => TelemetryOptions) | undefined;
  #usage: AgentUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 };

  constructor(facts: OperationContext, telemetry?: (agentId: string) => TelemetryOptions) {
    this.telemetry = telemetry;
    this.userId = facts.userId;
    this.conversationId = facts.conversationId;
    this.context = facts.context;
    this.logger = facts.logger;
    this.signal = facts.signal;
  }

  get usage(): AgentUsage {
    return this.#usage;
  }

  /** Counts one call of a model. */
  count({ inputTokens = 0, outputTokens = 0, totalTokens }: LanguageModelUsage): void {
    const before = this.#usage;
    this.#usage = {
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      totalTokens: before.totalTokens + (totalTokens ?? inputTokens + outputTokens),
      calls: before.calls + 1,
    };
  }
}
