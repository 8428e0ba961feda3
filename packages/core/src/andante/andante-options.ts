// The options of createAndante, and the check that refuses unknown ones.
import { checkEndpointOptions, type EndpointRecord } from "../delivery/endpoint-options.ts";
import { OptionError } from "../errors/index.ts";
import { type RetentionOptions, retentionBounds } from "../execution/engine/retention.ts";
import {
  type AndanteLimits,
  type JournalLimits,
  queueLimit,
  repliesLimit,
  runningLimit,
  sizeLimits,
  userShareOf,
} from "../execution/limits/limits.ts";
import { checkLinksOptions, type LinksOptions } from "../link/link-options.ts";
import type { LogOptions } from "../observe/log/log-options.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { RollupOptions } from "../observe/rollups/rollups.ts";
import type { TracingOptions } from "../observe/trace/tracing-options.ts";
import { type BudgetOptions, countedBudgets } from "../observe/usage/budget-options.ts";
import { checkPrices, type Prices } from "../observe/usage/prices.ts";
import type { Store } from "../store/store.ts";
import { checkKnownOptions, checkOptionGroup, type KnownOptions } from "../values/check-options.ts";
import type { Clock } from "../values/clock.ts";
import type { WorkflowRecord } from "./andante.ts";
import type { AgentRecord, EventRecord } from "./host-types.ts";

export interface AndanteOptions<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> {
  /** The workflows to serve. A workflow's own id counts, not its key. */
  readonly workflows?: W;
  /** The agents to serve: ours, and any of the AI SDK. An agent's own id counts; one without an id takes its key. */
  readonly agents?: A;
  /**
   * The events that callers may send, beside those that the workflows name. An event's own name counts, not its key.
   */
  readonly events?: E;
  /** Where executions and conversations are kept. */
  readonly store: Store;
  /**
   * Default: pino on standard output; pretty on a terminal, JSON lines elsewhere. Its level is ANDANTE_LOG_LEVEL from the
   * environment, else `silent` inside a test (NODE_ENV=test, or Node's test runner) and `info` everywhere else.
   */
  readonly logger?: Logger;
  /** Which log lines are kept in the store, and how long. Default: info and above, 7 days, 100 000 lines. */
  readonly logs?: LogOptions;
  /** Spans of executions, steps, agents and tools; false makes none. Default: all of them, kept for 7 days. */
  readonly tracing?: TracingOptions | false;
  /**
   * Counts of executions and steps per minute, which charts over time are read from; false keeps none. Default: those of
   * executions are kept for 7 days, those of steps for one.
   */
  readonly rollups?: RollupOptions | false;
  readonly limits?: AndanteLimits;
  /** Prices of models, for the money in usage. Default: none, and all money is unknown. */
  readonly prices?: Prices;
  /** Limits of tokens or money over windows of time. Default: none. */
  readonly budgets?: readonly BudgetOptions[];
  /** Links with which people decide about steps that wait: `link()` in a body. Default: none can be made. */
  readonly links?: LinksOptions;
  /** Where events of executions are sent, by name; {} for those that are set at run time. Default: none, and none can be set. */
  readonly endpoints?: EndpointRecord;
  /** Which ended executions are kept; the others are deleted. Default: all are kept. */
  readonly retention?: RetentionOptions;
  /** The time as executions see it, for tests. Default: the machine's clock. */
  readonly clock?: Clock;
}

export const knownAndanteOptions: KnownOptions<AndanteOptions> = {
  workflows: true,
  agents: true,
  events: true,
  store: true,
  logger: true,
  logs: true,
  tracing: true,
  rollups: true,
  prices: true,
  budgets: true,
  links: true,
  endpoints: true,
  limits: true,
  retention: true,
  clock: true,
};

export const knownAndanteLimits: KnownOptions<AndanteLimits> = {
  running: true,
  agentReplies: true,
  queuedMessages: true,
  schedulesPerUser: true,
  userShare: true,
  input: true,
  context: true,
  resumeData: true,
  reason: true,
  output: true,
  containerOutput: true,
  state: true,
  result: true,
  journal: true,
};

const journal: KnownOptions<JournalLimits> = { events: true, bytes: true };
const logs: KnownOptions<LogOptions> = { level: true, maxAge: true, maxCount: true };
const rollups: KnownOptions<RollupOptions> = { maxAge: true };
const retention: KnownOptions<RetentionOptions> = {
  maxAge: true,
  maxCount: true,
  conversations: true,
  usage: true,
  events: true,
  maxEvents: true,
};

const tracing: KnownOptions<TracingOptions> = {
  processors: true,
  resource: true,
  sample: true,
  content: true,
  maxAge: true,
  maxCount: true,
};

export function checkAndanteOptions(options: AndanteOptions): void {
  checkKnownOptions("createAndante", options, knownAndanteOptions);
  if (typeof options?.store?.open !== "function") {
    throw new OptionError({
      option: "store",
      problem: "expected a store, such as sqliteStore or memoryStore make",
    });
  }
  checkOptionGroup("limits", options.limits, knownAndanteLimits);
  checkOptionGroup("limits.journal", options.limits?.journal, journal);
  checkOptionGroup("logs", options.logs, logs);
  checkOptionGroup("retention", options.retention, retention);
  if (options.rollups !== false)
    checkOptionGroup("rollups", options.rollups, rollups, "an object, or false for no counts");
  if (options.tracing !== false)
    checkOptionGroup("tracing", options.tracing, tracing, "an object, or false for no traces");
  // Only so that they throw before anything is opened: their results are read elsewhere.
  for (const check of [sizeLimits, runningLimit, repliesLimit, queueLimit, userShareOf])
    check(options.limits ?? {});
  retentionBounds(options.retention ?? {});
  checkPrices(options.prices);
  countedBudgets(options.budgets, options.prices);
  checkLinksOptions(options.links);
  checkEndpointOptions(options.endpoints);
}
