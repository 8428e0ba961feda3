// The PostgreSQL store: any number of processes on one database.
import { randomUUID } from "node:crypto";
import { StoreOpenError, StoreUnavailableError } from "@andante/core/errors";
import type { ClusterChannel, ClusterListener, NewExecution, Store, StoreHealth } from "@andante/core/store";
import { type OpenStore, openStore } from "./open-store.ts";
import { locationOf, type PostgresStoreOptions, readOptions, type Settings } from "./options.ts";

/**
 * A store on PostgreSQL, shared by any number of nodes: each continues the executions that another one leaves behind.
 *
 * @example
 * ```ts
 * import { createAndante } from "@andante/core";
 * import { postgresStore } from "@andante/postgres";
 *
 * const store = postgresStore({ url: "postgres://andante:secret@127.0.0.1:5432/app" });
 * export const andante = createAndante({ store });
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  return new PostgresStore(readOptions(options));
}

class PostgresStore implements Store {
  readonly location: string;
  readonly #settings: Settings;
  readonly #listeners = new Listeners();
  #opened: OpenStore | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.location = locationOf(settings);
    const opened = () => this.#opened;
    this.clusterChannel = {
      lease: settings.lease,
      get clockOffset() {
        return opened()?.clock.offset ?? 0;
      },
      listen: (listener) => this.#listeners.add(listener),
      askToStop: (executionId) => this.#opened?.askToStop(executionId),
    };
  }

  async open(): Promise<void> {
    if (this.#opened !== undefined)
      throw new StoreOpenError({ path: this.location, problem: "it is already open" });
    try {
      this.#opened = await alive(openStore(this.#settings, randomUUID(), this.#listeners));
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new StoreOpenError({ path: this.location, problem, cause });
    }
  }

  create = (execution: NewExecution) => this.#call((store) => store.create(execution));
  commit: Store["commit"] = (commit) => this.#call((store) => store.commit(commit));
  beginTurn: Store["beginTurn"] = (begin) => this.#call((store) => store.beginTurn(begin));
  endTurn: Store["endTurn"] = (end) => this.#call((store) => store.endTurn(end));
  pause: Store["pause"] = (pause) => this.#call((store) => store.pause(pause));
  resume: Store["resume"] = (resume) => this.#call((store) => store.resume(resume));
  cancel: Store["cancel"] = (cancel) => this.#call((store) => store.cancel(cancel));
  heartbeat: Store["heartbeat"] = (beat) => this.#call((store) => store.heartbeat(beat));
  release: Store["release"] = (release) => this.#call((store) => store.release(release));
  claims: Store["claims"] = (query) => this.#call((store) => store.claims(query));
  claimAbandoned: Store["claimAbandoned"] = (query) => this.#call((store) => store.claimAbandoned(query));
  wake: Store["wake"] = (wake) => this.#call((store) => store.wake(wake));
  due: Store["due"] = (query) => this.#call((store) => store.due(query));
  state: Store["state"] = (executionId) => this.#call((store) => store.state(executionId));
  heads: Store["heads"] = (executionIds) => this.#call((store) => store.heads(executionIds));
  liveTurn: Store["liveTurn"] = (conversationId) => this.#call((store) => store.liveTurn(conversationId));
  events: Store["events"] = (query) => this.#call((store) => store.events(query));
  keepSnapshot: Store["keepSnapshot"] = (snapshot) => this.#call((store) => store.keepSnapshot(snapshot));
  snapshot: Store["snapshot"] = (executionId) => this.#call((store) => store.snapshot(executionId));
  list: Store["list"] = (query) => this.#call((store) => store.list(query));
  waiting: Store["waiting"] = (query) => this.#call((store) => store.waiting(query));
  define: Store["define"] = (definition) => this.#call((store) => store.define(definition));
  outline: Store["outline"] = (definition) => this.#call((store) => store.outline(definition));
  adopt: Store["adopt"] = (adopt) => this.#call((store) => store.adopt(adopt));
  park: Store["park"] = (park) => this.#call((store) => store.park(park));
  unpark: Store["unpark"] = (unpark) => this.#call((store) => store.unpark(unpark));
  countUnfinished: Store["countUnfinished"] = () => this.#call((store) => store.countUnfinished());
  endedBeyond: Store["endedBeyond"] = (query) => this.#call((store) => store.endedBeyond(query));
  deleteFinished: Store["deleteFinished"] = (query) => this.#call((store) => store.deleteFinished(query));
  compact: Store["compact"] = (query) => this.#call((store) => store.compact(query));

  readonly clusterChannel: ClusterChannel;

  readonly observations: Store["observations"] = {
    append: (batch) => this.#call((store) => store.observations.append(batch)),
    logs: (query) => this.#call((store) => store.observations.logs(query)),
    logsElsewhere: (query) => this.#call(async (store) => store.observations.logsElsewhere?.(query) ?? []),
    spansElsewhere: (query) => this.#call(async (store) => store.observations.spansElsewhere?.(query) ?? []),
    traces: (query) => this.#call((store) => store.observations.traces(query)),
    trace: (traceId) => this.#call((store) => store.observations.trace(traceId)),
    keepFrom: (counts) => this.#call((store) => store.observations.keepFrom(counts)),
    trim: (trim) => this.#call((store) => store.observations.trim(trim)),
    countSuspended: () => this.#call((store) => store.observations.countSuspended()),
  };

  readonly rollups: Store["rollups"] = {
    add: (batch) => this.#call((store) => store.rollups.add(batch)),
    overTime: (query) => this.#call((store) => store.rollups.overTime(query)),
    totals: (query) => this.#call((store) => store.rollups.totals(query)),
    trim: (trim) => this.#call((store) => store.rollups.trim(trim)),
  };

  readonly conversations: Store["conversations"] = {
    post: (message) => this.#call((store) => store.conversations.post(message)),
    recent: (query) => this.#call((store) => store.conversations.recent(query)),
    messages: (query) => this.#call((store) => store.conversations.messages(query)),
    read: (which) => this.#call((store) => store.conversations.read(which)),
    list: (query) => this.#call((store) => store.conversations.list(query)),
    change: (change) => this.#call((store) => store.conversations.change(change)),
    fork: (fork) => this.#call((store) => store.conversations.fork(fork)),
    removeUnfinishedFork: (which) => this.#call((store) => store.conversations.removeUnfinishedFork(which)),
    removeUnchanged: (which) => this.#call((store) => store.conversations.removeUnchanged(which)),
    remove: (which) => this.#call((store) => store.conversations.remove(which)),
  };

  readonly approvals: Store["approvals"] = {
    use: (approval) => this.#call((store) => store.approvals.use(approval)),
    secret: (candidate) => this.#call((store) => store.approvals.secret(candidate)),
  };

  // Not a method: code that spreads the store to replace some operations keeps it with the others.
  readonly health = async (): Promise<StoreHealth> => {
    const never = { count: 0, reason: "" };
    return this.#opened?.health() ?? { problem: "the store is not open", bytes: null, restarts: never };
  };

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened !== undefined) await alive(opened.close());
  }

  #call<Value>(work: (store: OpenStore) => Promise<Value>): Promise<Value> {
    if (this.#opened !== undefined) return work(this.#opened);
    return Promise.reject(new StoreUnavailableError({ cause: new Error("the store is not open") }));
  }
}

/** Idle connections do not keep the process alive, not even while they close: the caller of close does. */
async function alive<Value>(work: Promise<Value>): Promise<Value> {
  const timer = setInterval(() => undefined, 60_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** The listeners to other processes, also before the store is open. */
class Listeners implements ClusterListener {
  readonly #listeners = new Set<ClusterListener>();

  /** Returns a function that ends it. */
  add(listener: ClusterListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wrote(executionIds: ReadonlySet<string> | undefined): void {
    for (const listener of this.#listeners) listener.wrote(executionIds);
  }

  offered(): void {
    for (const listener of this.#listeners) listener.offered();
  }

  stop(executionId: string): void {
    for (const listener of this.#listeners) listener.stop(executionId);
  }
}
