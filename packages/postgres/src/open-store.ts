// The store once it is open: connects, brings the schema up to date, and binds every operation to its connections.
import type { ClusterListener, Store } from "@andante/core/store";
import pg from "pg";
import { Hints } from "./cluster/index.ts";
import type { ConnectSettings, Query } from "./connection/client.ts";
import { Connection } from "./connection/connection.ts";
import { DatabaseClock } from "./connection/database-clock.ts";
import { Readers } from "./connection/readers.ts";
import { Servers } from "./connection/servers.ts";
import { SilenceWatch } from "./connection/silence-watch.ts";
import { codeOf, problemOf } from "./connection/trouble.ts";
import { Writers } from "./group/writers.ts";
import { migrate } from "./migrate.ts";
import { approvals } from "./operations/approvals.ts";
import { claimAbandoned } from "./operations/claim-abandoned.ts";
import { claims } from "./operations/claims.ts";
import { conversations } from "./operations/conversations/index.ts";
import { countUnfinished } from "./operations/counts.ts";
import { define, outline, unpark } from "./operations/definitions.ts";
import { due } from "./operations/due.ts";
import { events } from "./operations/events.ts";
import { heads, liveTurn } from "./operations/heads.ts";
import { health } from "./operations/health.ts";
import { heartbeat } from "./operations/heartbeat.ts";
import { list } from "./operations/list.ts";
import { observations } from "./operations/observations/index.ts";
import { deleteFinished, endedBeyond } from "./operations/retention.ts";
import { rollups } from "./operations/rollups.ts";
import { keepSnapshot, snapshot } from "./operations/snapshots.ts";
import { state } from "./operations/state.ts";
import { beginTurn } from "./operations/turns/begin-turn.ts";
import { endTurn } from "./operations/turns/end-turn.ts";
import { waiting } from "./operations/waiting.ts";
import { addressesIn, type Settings } from "./options.ts";

export type OpenStore = Omit<Store, "location" | "open" | "clusterChannel"> & {
  askToStop(executionId: string): void;
  readonly clock: DatabaseClock;
};

/** The oldest server that is supported. */
const oldestServer = 14;

/** Milliseconds that closing may take; later writes are refused. */
const closingTime = 5_000;

/** Milliseconds that a statement of a migration may take. */
const migrationTime = 3_600_000;

/** Milliseconds that a heartbeat or a hint is given, however short the lease. */
const minPatience = 250;

/** `node` names this process among those that write. */
export async function openStore(
  settings: Settings,
  node: string,
  listener: ClusterListener,
): Promise<OpenStore> {
  const name = settings.schema;
  const s = pg.escapeIdentifier(name);
  const { url, listenUrl, connectTimeout } = settings;
  const servers = new Servers(addressesIn(url), connectTimeout);
  const connect: ConnectSettings = { ...settings, servers };
  // A connection that was cut in silence is given up while there is time for another.
  const patience = Math.max(minPatience, Math.ceil(settings.lease / 4));
  await prepareDatabase(settings, connect, s, patience);
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
  const hints = new Hints({ connect: quick, listenServers, schema: name, node, listener });
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
  return {
    ...writes,
    askToStop: hints.askToStop,
    release: async (release) => {
      await writes.release(release);
      if (release.offer) hints.offered();
    },
    clock,
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
      const result = await readers.write("endTurn", (query) => end(query, argument), true);
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
    unpark: unpark(readers, s),
    countUnfinished: countUnfinished(readers, s),
    endedBeyond: endedBeyond(readers, s),
    deleteFinished: deleteFinished(readers, s),
    // The database's own vacuum reuses the space of deleted rows.
    compact: async () => ({ more: false }),
    health: () => health(readers, name, writers.troubles),
    observations: observations(readers, s, node),
    rollups: rollups(readers, s),
    conversations: conversations(readers, s),
    approvals: approvals(readers, s),
    close: async () => {
      await writers.close(closingTime);
      watch.close();
      await Promise.all([lease.close(), readers.close(), hints.close()]);
    },
  };
}

/** Connects once, and brings the schema up to date; explains a failure in words. */
async function prepareDatabase(
  settings: Settings,
  connect: ConnectSettings,
  schema: string,
  patience: number,
): Promise<void> {
  // A migration walks whole tables, and waits for that of another node: the watch finds a dropped connection long before.
  const watch = new SilenceWatch(connect, patience, migrationTime);
  // Not prepared: statements that run once gain nothing, and a pooler may be in between.
  const connection = new Connection({ ...connect, prepare: false, statementTimeout: migrationTime }, watch);
  try {
    const query = await connection.query();
    await checkServer(query);
    await migrate(query, { name: settings.schema, schema, migrate: settings.migrate });
  } catch (error) {
    const code = codeOf(error);
    if (code === "" && error instanceof Error) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${problemOf(error)} (${message})`, { cause: error });
  } finally {
    watch.close();
    await connection.close();
  }
}

async function checkServer(query: Query): Promise<void> {
  const { rows } = await query(
    "select current_setting('server_version_num')::integer / 10000 as major, current_setting('server_encoding') as encoding",
  );
  const { major, encoding } = rows[0] ?? {};
  if (Number(major) < oldestServer)
    throw new Error(`the server is PostgreSQL ${major}, but ${oldestServer} or later is needed`);
  if (encoding !== "UTF8")
    throw new Error(
      `the database has the encoding ${encoding}, but UTF8 is needed: create it with encoding 'UTF8'`,
    );
}
