// The SQLite store: one file (or memory), a thread that writes and, from the first read of a caller on, one that reads.
import { statSync, writeSync } from "node:fs";
import path from "node:path";
import { OptionError, StoreOpenError, StoreUnavailableError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { ApprovalStore } from "../approval-store.ts";
import type { BudgetStore } from "../budget-store.ts";
import type { ConversationStore } from "../conversation-store.ts";
import type { FactStore } from "../fact-store.ts";
import type { ObservationStore } from "../observation-store.ts";
import type { RollupStore } from "../rollup-store.ts";
import type { ScheduleStore } from "../schedule-store.ts";
import type { SearchStore } from "../search-store.ts";
import type { SignalStore } from "../signal-store.ts";
import type { Commit, ListedExecution, NewExecution, Store, StoreHealth } from "../store.ts";
import type { UsageStore } from "../usage-store.ts";
import type { Health, OperationName, Operations } from "./operations/index.ts";
import { packCommit } from "./packed-commit.ts";
import { ThreadClient } from "./thread-client.ts";

export interface SqliteStoreOptions {
  /** The database file; made when it is missing. One process at a time owns it. */
  readonly path: string;
  /** Stop growing at this size; runs then wait and starts are refused with 503. Default: no limit. */
  readonly maxBytes?: number;
}

/** Milliseconds that a thread has to tell how it is. */
const healthTime = 2000;

const knownOptions: KnownOptions<SqliteStoreOptions> = { path: true, maxBytes: true };

/**
 * A store in one SQLite file: no commit is lost, however the process ends.
 *
 * @example
 * ```ts
 * import { createAndante, sqliteStore } from "@andante/core";
 *
 * export const andante = createAndante({ store: sqliteStore({ path: "./andante.db" }) });
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  checkKnownOptions("sqliteStore", options, knownOptions);
  if (typeof options?.path !== "string" || options.path === "") {
    throw new OptionError({ option: "path", problem: "sqliteStore needs the path of a file" });
  }
  return new SqliteStore(path.resolve(options.path), options.maxBytes ?? null);
}

/**
 * The same store without a file: everything is gone with the process. For tests and trials.
 *
 * @example
 * ```ts
 * import { createAndante, memoryStore } from "@andante/core";
 *
 * export const andante = createAndante({ store: memoryStore() });
 * ```
 */
export function memoryStore(): Store {
  return new SqliteStore(":memory:", null);
}

class SqliteStore implements Store {
  readonly location: string;
  readonly #maxBytes: number | null;
  #writer: ThreadClient | undefined;
  #reader: ThreadClient | undefined;

  constructor(location: string, maxBytes: number | null) {
    this.location = location;
    this.#maxBytes = maxBytes;
  }

  async open(): Promise<void> {
    if (this.#writer !== undefined)
      throw new StoreOpenError({ path: this.location, problem: "it is already open" });
    const lost = (reason: Error) => endProcess(this.location, reason);
    const start = { path: this.location, maxBytes: this.#maxBytes, lost };
    try {
      if (this.location === ":memory:") {
        this.#writer = await ThreadClient.open({ ...start, role: "both" });
        this.#reader = this.#writer;
      } else {
        this.#writer = await ThreadClient.open({ ...start, role: "write" });
        const inode = statSync(this.location).ino;
        this.#reader = ThreadClient.onDemand({ ...start, role: "read", inode });
      }
    } catch (cause) {
      await this.close();
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new StoreOpenError({ path: this.location, problem, cause });
    }
  }

  create = this.#write("create");
  commit = (commit: Commit) => this.#call(this.#writer, "commit", packCommit(commit));
  beginTurn = this.#write("beginTurn");
  endTurn = this.#write("endTurn");
  pause = this.#write("pause");
  resume = this.#write("resume");
  cancel = this.#write("cancel");
  heartbeat = this.#write("heartbeat");
  nodes = () => this.#call(this.#reader, "nodes", undefined);
  release = this.#write("release");
  claimAbandoned = this.#write("claimAbandoned");
  claims = this.#write("claims");
  wake = this.#write("wake");
  endHandled = this.#write("endHandled");
  due = this.#write("due");
  state = this.#read("state");
  heads = this.#read("heads");
  liveTurn = this.#read("liveTurn");
  events = this.#read("events");
  keepSnapshot = this.#write("keepSnapshot");
  snapshot = this.#read("snapshot");
  list = this.#read("list");
  waiting = this.#read("waiting");
  define = this.#write("define");
  outline = this.#write("outline");
  definitions = this.#read("definitions");
  adopt = this.#write("adopt");
  park = this.#write("park");
  unpark = this.#write("unpark");
  countUnfinished = () => this.#call(this.#writer, "countUnfinished", undefined);
  endedBeyond = this.#read("endedBeyond");
  deleteFinished = this.#write("deleteFinished");
  compact = this.#write("compact");
  readonly observations: ObservationStore = {
    append: this.#write("appendObservations"),
    trim: this.#write("trimObservations"),
    keepFrom: this.#read("keepFrom"),
    logs: this.#read("logs"),
    traces: this.#read("traces"),
    trace: this.#read("trace"),
    countSuspended: () => this.#call(this.#reader, "countSuspended", undefined),
  };
  readonly rollups: RollupStore = {
    add: this.#write("addRollups"),
    overTime: this.#read("rollupsOverTime"),
    totals: this.#read("rollupTotals"),
    trim: this.#write("trimRollups"),
  };
  readonly usage: UsageStore = {
    add: this.#write("addUsage"),
    totals: this.#read("usageTotals"),
    trim: this.#write("trimUsage"),
  };
  readonly budgets: BudgetStore = {
    hold: this.#write("holdBudgets"),
    charge: this.#write("chargeBudgets"),
    renew: this.#write("renewHolds"),
    accounts: this.#read("budgetAccounts"),
    trim: this.#write("trimBudgets"),
  };
  readonly schedules: ScheduleStore<NewExecution> = {
    change: this.#write("changeSchedule"),
    read: this.#write("readSchedule"),
    // A start reads the sets, and whether there are schedules: it does not wait for the reader thread, which opens with the
    // first read of a caller.
    list: (query) =>
      query.kind === "set" || (query.kind === "schedule" && query.limit === 1)
        ? this.#call(this.#writer, "declaredSets", query)
        : this.#call(this.#reader, "listSchedules", query),
  };
  readonly signals: SignalStore = {
    send: this.#write("sendSignals"),
    find: this.#write("findSignals"),
    waits: this.#write("signalWaits"),
    work: this.#write("signalWork"),
    settle: this.#write("settleSignal"),
    read: this.#write("readSignal"),
    bySeq: this.#write("signalBySeq"),
    list: this.#read("listSignals"),
    trim: this.#write("trimSignals"),
  };
  readonly conversations: ConversationStore = {
    post: this.#write("postMessage"),
    change: this.#write("changeConversation"),
    fork: this.#write("forkConversation"),
    remove: this.#write("removeConversation"),
    removeSummary: this.#write("removeSummary"),
    removeUnchanged: this.#write("removeUnchanged"),
    removeUnfinishedFork: this.#write("removeUnfinishedFork"),
    recent: this.#read("recentMessages"),
    messages: this.#read("conversationMessages"),
    read: this.#read("readConversation"),
    list: this.#read("listConversations"),
    queue: this.#read("queuedMessages"),
    leaveQueue: this.#write("leaveQueue"),
    leftQueues: this.#write("leftQueues"),
  };

  readonly search: SearchStore<ListedExecution> = {
    define: this.#write("defineSearch"),
    index: this.#write("indexValues"),
    find: this.#read("findValues"),
  };

  readonly facts: FactStore = {
    append: this.#write("appendFact"),
    read: this.#read("readFacts"),
    fold: this.#write("foldFacts"),
    remove: this.#write("removeFacts"),
  };

  readonly approvals: ApprovalStore = {
    use: this.#write("useApproval"),
    secret: this.#write("approvalSecret"),
  };

  health = async (): Promise<StoreHealth> => {
    const [writer, reader] = [this.#writer, this.#reader];
    const restarts = [writer?.restarts, reader === writer ? undefined : reader?.restarts];
    const { problem, bytes } = await askBoth(writer, reader);
    return {
      problem,
      bytes,
      restarts: {
        count: restarts.reduce((total, each) => total + (each?.count ?? 0), 0),
        reason: restarts.find((each) => each?.reason)?.reason ?? "",
      },
    };
  };

  async close(): Promise<void> {
    const reader = this.#reader;
    const writer = this.#writer;
    this.#reader = undefined;
    this.#writer = undefined;
    if (reader !== writer) await reader?.close();
    await writer?.close();
  }

  /** Calls the writer thread, which also serves the frequent reads of the engine. */
  #write<Name extends OperationName>(name: Name) {
    return (argument: Parameters<Operations[Name]>[0]) => this.#call(this.#writer, name, argument);
  }

  #read<Name extends OperationName>(name: Name) {
    return (argument: Parameters<Operations[Name]>[0]) => this.#call(this.#reader, name, argument);
  }

  #call<Name extends OperationName>(
    thread: ThreadClient | undefined,
    name: Name,
    argument: Parameters<Operations[Name]>[0],
  ): Promise<ReturnType<Operations[Name]>> {
    return thread === undefined ? notOpen() : thread.call(name, argument);
  }
}

function notOpen(): Promise<never> {
  return Promise.reject(new StoreUnavailableError({ cause: new Error("the store is not open") }));
}

const allWell: Health = { problem: null, bytes: null };

async function askBoth(writer: ThreadClient | undefined, reader: ThreadClient | undefined): Promise<Health> {
  // A thread that was not needed yet is not started for this.
  const needed = reader?.isStarted !== false;
  const [writes, reads] = await Promise.all([ask(writer, "writes"), needed ? ask(reader, "reads") : allWell]);
  return { problem: writes.problem ?? reads.problem, bytes: writes.bytes };
}

async function ask(thread: ThreadClient | undefined, does: string): Promise<Health> {
  const none = { problem: "the store is not open", bytes: null };
  if (thread === undefined) return none;
  try {
    const asked = await withTimeout(thread.call("health", undefined), healthTime, { keepAlive: false });
    return asked.value ?? { ...none, problem: `the database thread that ${does} does not respond` };
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { ...none, problem: `the database thread that ${does} failed: ${cause}` };
  }
}

/**
 * A database thread is gone for good, and with it the knowledge of its commits. A process that went on would do
 * things twice or not at all; the next one knows from the file.
 */
function endProcess(location: string, reason: Error): void {
  const line = `Andante: the database thread of ${location} has died and cannot be replaced (${reason.message}). This process ends; what was committed is safe, and the next start continues it.\n`;
  // At once: text written to a stream may never arrive.
  writeSync(process.stderr.fd, line);
  process.exit(1);
}
