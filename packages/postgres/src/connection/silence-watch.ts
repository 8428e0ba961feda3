// Finds connections that were cut without a word, as by a firewall that drops their packets: a statement waits on one for
// its reply, but the database, asked on another connection, does not run it.
//
// A timeout for statements cannot do that: one short enough to keep the lease would end reads and commits that are only
// slow. Keep-alive packets of the kernel cannot either: none are sent while a statement has not been acknowledged.
import pg from "pg";
import { integer } from "../columns.ts";
import { type ConnectSettings, configOf } from "./client.ts";

/** A connection as the watch sees it. */
export interface Watched {
  readonly client: pg.ClientBase;
  /** Whether the process that it names is the database's. Else a pooler is between: nothing can be asked about it. */
  readonly isDirect: boolean;
  /** Since when a statement waits without a reply to it or another one, by `performance.now()`; undefined: none waits. */
  waitsSince: number | undefined;
}

export class SilenceWatch {
  readonly #settings: ConnectSettings;
  readonly #patience: number;
  readonly #pooledPatience: number;
  readonly #watched = new Set<Watched>();
  /** Set with the first connection. */
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  /**
   * `patience`: milliseconds without a reply after which the database is asked. `pooledPatience`: those after which a
   * connection through a pooler is given up. Default: three times as many, for such as run short statements.
   */
  constructor(settings: ConnectSettings, patience: number, pooledPatience = patience * 3) {
    const connectTimeout = Math.min(settings.connectTimeout, patience);
    this.#settings = { ...settings, connectTimeout, statementTimeout: patience };
    this.#patience = patience;
    this.#pooledPatience = pooledPatience;
  }

  /** Watches a connection until it ends. */
  add(watched: Watched): void {
    this.#timer ??= setInterval(() => void this.#look(), this.#patience / 2).unref();
    this.#watched.add(watched);
    watched.client.once("end", () => this.#watched.delete(watched));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const now = performance.now();
    const silentFor = (least: number) =>
      [...this.#watched].filter(({ waitsSince = now }) => now - waitsSince >= least);
    for (const { isDirect, client } of silentFor(this.#pooledPatience)) if (!isDirect) cut(client);
    const silent = silentFor(this.#patience).filter(({ isDirect }) => isDirect);
    if (silent.length === 0 || this.#asking) return;
    this.#asking = true;
    const before = new Map(silent.map((watched) => [watched, watched.waitsSince]));
    // Without a reply of the database their state is not known.
    const active = await this.#activeAmong(silent).catch(() => undefined);
    this.#asking = false;
    if (active === undefined) return;
    for (const [watched, since] of before) {
      const { client, waitsSince } = watched;
      // A reply that came meanwhile was on its way.
      if (waitsSince === since && !active.has(processOf(client))) cut(client);
    }
  }

  /**
   * The processes of those whose statement runs, or waits for a lock or a replica. With `track_activities` off the
   * database does not know: then the timeout of statements has to do.
   */
  async #activeAmong(silent: readonly Watched[]): Promise<ReadonlySet<number>> {
    const client = new pg.Client(configOf(this.#settings));
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query(
        "select pid from pg_stat_activity where pid = any($1) and state in ('active', 'disabled')",
        [silent.map((watched) => processOf(watched.client))],
      );
      return new Set(rows.map((row) => integer(row, "pid")));
    } finally {
      client.end().catch(() => {});
    }
  }
}

/** Ends a connection at once: its pending statements are rejected. The library has no call that does not wait for a reply. */
export function cut(client: pg.ClientBase): void {
  connectionOf(client)?.stream.destroy();
}

/** Whether this side has ended it. */
export function isCut(client: pg.ClientBase): boolean {
  return connectionOf(client)?.stream.destroyed ?? false;
}

function connectionOf(client: pg.ClientBase): pg.Connection | undefined {
  return "connection" in client && client.connection instanceof pg.Connection ? client.connection : undefined;
}

function processOf(client: pg.ClientBase): number {
  return "processID" in client && typeof client.processID === "number" ? client.processID : 0;
}
