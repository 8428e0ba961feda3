// The PostgreSQL store: any number of processes on one database. Connections are made with the first statement on them.
import { randomUUID } from "node:crypto";
import { StoreOpenError } from "@andante/core/errors";
import type { ClusterListener, Store, StoreHealth } from "@andante/core/store";
import pg from "pg";
import { Hints } from "./cluster/index.ts";
import type { ConnectSettings } from "./connection/client.ts";
import { Connection } from "./connection/connection.ts";
import { DatabaseClock } from "./connection/database-clock.ts";
import { Readers } from "./connection/readers.ts";
import { Servers } from "./connection/servers.ts";
import { SilenceWatch } from "./connection/silence-watch.ts";
import { Writers } from "./group/writers.ts";
import { approvals } from "./operations/approvals.ts";
import { budgets } from "./operations/budgets.ts";
import { claimAbandoned } from "./operations/claim-abandoned.ts";
import { claims } from "./operations/claims.ts";
import { conversations } from "./operations/conversations/index.ts";
import { countUnfinished, nodes } from "./operations/counts.ts";
import { define, definitions, outline, unpark } from "./operations/definitions.ts";
import { due } from "./operations/due.ts";
import { events } from "./operations/events.ts";
import { facts } from "./operations/facts.ts";
import { heads, liveTurn } from "./operations/heads.ts";
import { health } from "./operations/health.ts";
import { heartbeat } from "./operations/heartbeat.ts";
import { list } from "./operations/list.ts";
import { observations } from "./operations/observations/index.ts";
import { deleteFinished, endedBeyond } from "./operations/retention.ts";
import { rollups } from "./operations/rollups.ts";
import { schedules } from "./operations/schedules.ts";
import { search } from "./operations/search.ts";
import { signals } from "./operations/signals.ts";
import { keepSnapshot, snapshot } from "./operations/snapshots.ts";
import { state } from "./operations/state.ts";
import { beginTurn } from "./operations/turns/begin-turn.ts";
import { endTurn } from "./operations/turns/end-turn.ts";
import { usage } from "./operations/usage.ts";
import { waiting } from "./operations/waiting.ts";
import { addressesIn, locationOf, type PostgresStoreOptions, readOptions } from "./options.ts";
import { prepareDatabase } from "./prepare-database.ts";

/** Milliseconds that closing may take; later writes are refused. */
const closingTime = 5_000;

/** Milliseconds that a heartbeat or a hint is given, however short the lease. */
const minPatience = 250;

const notOpen: StoreHealth = {
  problem: "the store is not open",
  bytes: null,
  restarts: { count: 0, reason: "" },
};

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
  const settings = readOptions(options);
  const { schema: name, url, listenUrl, connectTimeout } = settings;
  const location = locationOf(settings);
  const s = pg.escapeIdentifier(name);
  // Names this process among those that write.
  const node = randomUUID();
  const listeners = new Listeners();
  const servers = new Servers(addressesIn(url), connectTimeout);
  const connect: ConnectSettings = { ...settings, servers };
  // A connection that was cut in silence is given up while there is time for another.
  const patience = Math.max(minPatience, Math.ceil(settings.lease / 4));
  const timeouts = {
    idle: Math.ceil(Math.min(settings.statementTimeout / 3, settings.lease / 2)),
    lock: Math.ceil(Math.min(settings.statementTimeout / 2, (settings.lease * 3) / 4)),
  };
  const watch = new SilenceWatch(connect, patience);
  const readers = new Readers(connect, settings.readers, timeouts, watch);
  const quick = { ...connect, statementTimeout: Math.min(settings.statementTimeout, patience) };
  const lease = new Connection(quick);
  const clock = new DatabaseClock();
  const elsewhere = listenUrl === undefined ? undefined : new Servers(addressesIn(listenUrl), connectTimeout);
  const listenServers = listenUrl === url ? servers : elsewhere;
  const hints = new Hints({ connect: quick, listenServers, schema: name, node, listener: listeners });
  const writers = new Writers({
    connect,
    count: settings.writers,
    schema: s,
    timeouts,
    watch,
    written: (executionIds) => hints.wrote(executionIds),
  });
  const begin = beginTurn(s);
  const end = endTurn(s);
  const { giveBack, ...writes } = writers.operations;
  let phase: "new" | "open" | "closed" = "new";
  return {
    ...writes,
    location,
    clusterChannel: {
      lease: settings.lease,
      get clockOffset() {
        return clock.offset;
      },
      listen: (listener) => listeners.add(listener),
      askToStop: hints.askToStop,
    },
    open: async () => {
      if (phase !== "new") throw new StoreOpenError({ path: location, problem: `it is already ${phase}` });
      try {
        await alive(prepareDatabase(settings, connect, s, patience));
      } catch (cause) {
        const problem = cause instanceof Error ? cause.message : String(cause);
        throw new StoreOpenError({ path: location, problem, cause });
      }
      hints.start();
      phase = "open";
    },
    release: async (release) => {
      await writes.release(release);
      if (release.offer) hints.offered();
    },
    beginTurn: async (argument) => {
      try {
        const result = await readers.write("beginTurn", (query) => begin(query, argument));
        if (result.kind === "begun") hints.wrote([argument.turn.executionId]);
        return result;
      } catch (error) {
        // It is uncertain whether the turn was begun: if so, no process runs it.
        const { executionId, claim } = argument.turn;
        giveBack({ executionId, token: claim.token });
        throw error;
      }
    },
    endTurn: async (argument) => {
      const result = await readers.write("endTurn", (query) => end(query, argument), { patient: true });
      hints.wrote([argument.commit.executionId]);
      return result;
    },
    heartbeat: heartbeat(lease, s, clock, hints.sawOthers),
    claimAbandoned: claimAbandoned(readers, s),
    claims: claims(readers, s),
    due: due(readers, s),
    state: readers.forCallers(state(readers, s)),
    heads: heads(readers, s),
    liveTurn: readers.forCallers(liveTurn(readers, s)),
    events: events(readers, s),
    keepSnapshot: keepSnapshot(readers, s),
    snapshot: snapshot(readers, s),
    list: readers.forCallers(list(readers, s)),
    waiting: readers.forCallers(waiting(readers, s)),
    define: define(readers, s),
    outline: outline(readers, s),
    definitions: definitions(readers, s),
    unpark: unpark(readers, s),
    countUnfinished: countUnfinished(readers, s),
    nodes: nodes(readers, s),
    endedBeyond: endedBeyond(readers, s),
    deleteFinished: deleteFinished(readers, s),
    // The database's own vacuum reuses the space of deleted rows.
    compact: async () => ({ more: false }),
    health: async () => (phase === "open" ? health(readers, name, writers.troubles) : notOpen),
    observations: observations(readers, s, node),
    rollups: rollups(readers, s),
    usage: usage(readers, s),
    budgets: budgets(readers, s),
    schedules: schedules(readers, s),
    signals: signals(readers, s),
    conversations: conversations(readers, s),
    facts: facts(readers, s),
    approvals: approvals(readers, s),
    search: search(readers, s),
    close: async () => {
      if (phase !== "open") return;
      phase = "closed";
      await alive(writers.close(closingTime));
      watch.close();
      await alive(Promise.all([lease.close(), readers.close(), hints.close()]));
    },
  };
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
