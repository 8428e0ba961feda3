// One operation of an agent: its caller, its context, and the usage of its model calls.

import type { LanguageModelUsage, TelemetryOptions } from "ai";
import type { BudgetReachedError } from "../../errors/index.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Budgets } from "../../observe/usage/budgets.ts";
import type { FactChange } from "../../store/fact-store.ts";
import { nothingUsed, reportedDetails, type StoredUsage, sumUsage, wholeTokens } from "../../store/usage.ts";
import type { Schema } from "../../values/schema.ts";
import { plainSchema } from "../../values/schema.ts";
import type { ApprovalDeadline } from "../durable/call-waits.ts";
import type { DurableLoop } from "../durable/durable-loop.ts";
import type { ToolCall } from "../durable/tool-call.ts";
import type { FactKeeper } from "../facts/fact-keeper.ts";
import { type DataChunk, type DataPart, DataWriter, dataChunk } from "./data-writer.ts";
import { FileBudget } from "./file-budget.ts";
import type { OwnSchedules } from "./own-schedules.ts";

/** The call that hooks and tools belong to. A type: the AI SDK does not accept an interface here. */
export type OperationContext = {
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** The caller's `options.context`, with `user` when authenticated. The hooks and tools of one call share it. */
  readonly context: Map<string, unknown>;
  readonly logger: Logger;
  /** Aborted when the last reader of the reply has left. */
  readonly signal: AbortSignal;
  /** The execution that asks; only for a tool whose calls are recorded, as are the following. */
  readonly executionId?: string;
  /** Where this call is recorded, such as `ask#call[2].tool[0]`. */
  readonly stepPath?: string;
  /** The attempt of the step that asks the agent; 1 is the first. */
  readonly attempt?: number;
  /** The same on every attempt and every node: pass it to the services that this tool calls. */
  readonly idempotencyKey?: string;
  /** Sends an event of your own to the stream of the execution. */
  readonly emit?: (type: string, data?: unknown) => void;
  /** Adds a data part to the reply, or sends it only (`transient`). The parts of a tool are recorded with its call. */
  readonly write?: (part: DataPart) => void;
};

/** Tokens and calls, summed over the model calls of sub-agents too. */
export type AgentUsage = StoredUsage;

/** The usage of one call of a model, as far as its provider reports it. */
export type CountedTokens = {
  readonly [Field in Exclude<keyof AgentUsage, "calls">]?: AgentUsage[Field] | undefined;
};

/** The maker of a call of a model. */
export interface CallMaker {
  readonly agentId: string;
  /** Provider and name; null when it is not known. */
  readonly model: string | null;
}

/** Puts prices on calls, and keeps the usage of those that are not recorded. */
export interface Meter {
  /** Undefined where the host has none. */
  readonly budgets?: Budgets | undefined;
  priced(model: string | null, usage: AgentUsage): AgentUsage;
  count(call: CallMaker & { readonly userId: string | undefined; readonly usage: AgentUsage }): void;
}

/** The same from the AI SDK's words. */
export function countedTokens(usage: LanguageModelUsage): Omit<AgentUsage, "calls"> {
  const { inputTokenDetails, outputTokenDetails } = usage;
  return {
    ...wholeTokens(usage),
    // An agent that is not of the AI SDK's making may leave them out.
    ...reportedDetails(
      inputTokenDetails?.cacheReadTokens,
      outputTokenDetails?.reasoningTokens,
      inputTokenDetails?.cacheWriteTokens,
    ),
  };
}

export interface OperationParts {
  /** Makes the AI SDK's `telemetry` option for an agent of the operation. Default: no observation. */
  readonly telemetry?: ((agentId: string) => TelemetryOptions) | undefined;
  /** Records the calls. Default: nothing is recorded. */
  readonly loop?: DurableLoop | undefined;
  /** Keeps facts. Default: none are kept. */
  readonly facts?: FactKeeper | undefined;
  /** Keeps schedules. Default: none are kept. */
  readonly schedules?: OwnSchedules | undefined;
  /** Default: a budget of its own. */
  readonly files?: FileBudget | undefined;
  /** Default: calls have no price, and only the caller learns of their usage. */
  readonly meter?: Meter | undefined;
  /** The tags of the execution that calls. Default: none. */
  readonly tags?: readonly string[] | undefined;
}

export class Operation implements OperationContext {
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  readonly context: Map<string, unknown>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Makes the AI SDK's `telemetry` option for an agent of the operation; undefined without observation. */
  readonly telemetry: ((agentId: string) => TelemetryOptions) | undefined;
  /** The loop that records the calls; undefined where nothing is recorded. */
  readonly loop: DurableLoop | undefined;
  /** The deadlines of the calls that a person must approve, by their ids. */
  readonly deadlines = new Map<string, ApprovalDeadline>();
  /** Where data parts go. */
  readonly writer: DataWriter;
  /** Keeps facts; undefined where none are kept. */
  readonly facts: FactKeeper | undefined;
  /** Keeps schedules; undefined where none are kept. */
  readonly schedules: OwnSchedules | undefined;
  /** The remaining budget of its files. */
  readonly files: FileBudget;
  readonly meter: Meter | undefined;
  /** The tags of the execution. */
  readonly tags: readonly string[];
  #usage: AgentUsage = nothingUsed;
  /** The calls of tools that have asked agents whose own calls are not recorded one by one. */
  #toolCalls: Set<ToolCall> | undefined;

  /** An operation inside another one writes to the same reply and shares the budget of its files. */
  constructor(
    context: OperationContext,
    { telemetry, loop, facts, files, meter, schedules, tags = [] }: OperationParts = {},
  ) {
    this.telemetry = telemetry;
    this.tags = context instanceof Operation ? context.tags : tags;
    this.meter = context instanceof Operation ? context.meter : meter;
    this.writer = context instanceof Operation ? context.writer : new DataWriter();
    this.files = context instanceof Operation ? context.files : (files ?? new FileBudget());
    this.facts = context instanceof Operation ? context.facts : facts;
    this.schedules = context instanceof Operation ? context.schedules : schedules;
    this.loop = loop;
    this.userId = context.userId;
    this.conversationId = context.conversationId;
    this.context = context.context;
    this.logger = context.logger;
    this.signal = context.signal;
  }

  // An arrow function, because tools take it out of their context.
  readonly write = (part: DataPart): void => this.writeChunk(dataChunk(part));

  /** Passes on a data part that was checked. */
  writeChunk(chunk: DataChunk): void {
    this.writer.write(chunk);
  }

  /** The operation itself when it is one, else one with this context. Default: the context of an unknown caller. */
  static from(context: OperationContext | undefined, signal: AbortSignal | undefined): Operation {
    if (context instanceof Operation) return context;
    if (context !== undefined && isPlain(context)) return context[source];
    return new Operation(context ?? unknownCaller(signal));
  }

  get usage(): AgentUsage {
    return this.#usage;
  }

  /** The usage without the operation around it: that of the agents that this call of a tool asked. */
  get ownUsage(): AgentUsage {
    return this.#usage;
  }

  /** Returns why its agent, or one above it, may call no model any more; undefined without a budget. */
  budgetReached: (() => BudgetReachedError | undefined) | undefined;

  /** True when a hook of the host refused the reply: it is not kept. */
  isRefused = false;

  /** Counts one call of a model with its price. */
  called(maker: CallMaker, usage: AgentUsage): AgentUsage {
    const priced = this.meter?.priced(maker.model, usage) ?? usage;
    this.add(priced);
    if (this.loop === undefined) this.meter?.count({ ...maker, userId: this.userId, usage: priced });
    return priced;
  }

  /** Adds to the usage. */
  add(used: AgentUsage): void {
    this.#usage = sumUsage(this.#usage, used);
  }

  /** Counts one call of an agent whose calls are not recorded one by one: the record of the tool that called it has its usage. */
  countUnrecorded(agentId: string, usage: CountedTokens): AgentUsage {
    const { userId, tags } = this;
    const counted = this.called({ agentId, model: null }, oneCall(usage));
    void this.meter?.budgets?.count({ userId, tags, agentId }, counted);
    return counted;
  }

  /** Keeps a change of facts: with the record of this call of a tool, else at once. */
  async keepFact(change: FactChange): Promise<void> {
    await this.facts?.append(change);
  }

  /** This call of a tool has used something beside the calls that are recorded. */
  usedBy(call: ToolCall): void {
    this.#toolCalls ??= new Set();
    this.#toolCalls.add(call);
  }

  /** The usage of tools that did not end, and of calls that could not be recorded; undefined for none. */
  get unrecorded(): AgentUsage | undefined {
    let total: AgentUsage | null = this.loop?.recorder.unrecorded ?? null;
    for (const { unrecorded } of this.#toolCalls ?? []) if (unrecorded) total = sumUsage(total, unrecorded);
    return total ?? undefined;
  }
}

/** The usage of one call of a model. */
export function oneCall(usage: CountedTokens): AgentUsage {
  const { cachedInputTokens, reasoningTokens, inputTokenDetails } = usage;
  const details = reportedDetails(cachedInputTokens, reasoningTokens, inputTokenDetails?.cacheWriteTokens);
  return { ...wholeTokens(usage), calls: 1, ...details };
}

function unknownCaller(signal: AbortSignal | undefined): OperationContext {
  return {
    userId: undefined,
    conversationId: undefined,
    context: new Map(),
    logger: createLogger({ level: "silent" }),
    signal: signal ?? new AbortController().signal,
  };
}

/** Leads from the plain object that a tool got to the operation: a tool may pass its `context` on to another agent. */
const source = Symbol("operation");

function isPlain(context: object): context is { readonly [source]: Operation } {
  return source in context;
}

/** The operation as a tool gets it that has no schema for its context: plain fields, the caller's context too. */
export function plainOperation(operation: Operation): Readonly<Record<string, unknown>> {
  const { userId, conversationId, logger, signal, write } = operation;
  const { executionId, stepPath, attempt, idempotencyKey, emit }: OperationContext = operation;
  const recorded = executionId !== undefined && { executionId, stepPath, attempt, idempotencyKey, emit };
  const context = Object.fromEntries(operation.context);
  const plain = { userId, conversationId, context, logger, signal, write, ...recorded };
  return Object.defineProperty(plain, source, { value: operation });
}

/** The `contextSchema` of a tool that wants its `context` typed: `tool({ contextSchema: operationContext, … })`. */
export const operationContext: Schema<unknown, OperationContext> = plainSchema<OperationContext>({
  type: "object",
});
