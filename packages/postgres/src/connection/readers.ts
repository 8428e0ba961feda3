// The connections that read, and that make writes beside those of executions: each call takes one that is free.
import { StoreBusyError, StoreRefusedError, StoreUnavailableError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import pg from "pg";
import type { Row } from "../columns.ts";
import {
  begin,
  type ConnectSettings,
  configOf,
  isDirect,
  type Query,
  run,
  type TransactionTimeouts,
  withTimeouts,
} from "./client.ts";
import { cut, isCut, type SilenceWatch, type Watched } from "./silence-watch.ts";
import { codeOf, isPreparedFault, kindOf, lockTimedOut, problemOf, tookTooLong } from "./trouble.ts";

/** As many calls may wait; then calls that can be repeated are refused. */
const maxWaiting = 5_000;

/** Milliseconds for which a call is tried again while the database is in trouble, and between two tries. */
const patience = 3_000;
const pause = 100;

/** Milliseconds that a write waits for a row at first, and then again and again: it keeps a connection from others. */
const [lockPatience, lockedPatience] = [1_000, 100];
/** Milliseconds until the next try of a read that took too long. */
const lockedPause = 500;

/** Milliseconds that closing may take: a database that hangs does not keep the process. */
const closingTime = 3_000;

/** How often a transaction that clashed with another one is tried again. */
const maxClashes = 20;

/** Begins a transaction whose statements take rows in the order of an index, one after the other. */
export const walking = [
  `${begin} read only`,
  ...["seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin", "material"].map(
    (each) => `set local enable_${each} = off`,
  ),
].join("; ");

interface Pooled extends Watched {
  /** When its last statement ended, by `performance.now()`. */
  usedAt: number;
}

export class Readers {
  readonly #pool: pg.Pool;
  readonly #settings: ConnectSettings;
  readonly #begin: string;
  /** Begins one whose row was locked at the last try. */
  readonly #beginAgain: string;
  readonly #watch: SilenceWatch | undefined;
  readonly #connections = new WeakMap<pg.ClientBase, Pooled>();
  /** A connection was found cut: others that were not used since may be, too. By `performance.now()`. */
  #cutAt = Number.NEGATIVE_INFINITY;
  #neverPrepare = false;
  #closed = false;
  /** The error of the last call; undefined when it succeeded. */
  #trouble: unknown;

  /** `watch` finds connections that were cut without a word; without one, the timeout of their statements does. */
  constructor(settings: ConnectSettings, count: number, timeouts: TransactionTimeouts, watch?: SilenceWatch) {
    this.#settings = settings;
    this.#watch = watch;
    this.#begin = withTimeouts({ ...timeouts, lock: Math.min(timeouts.lock, lockPatience) });
    this.#beginAgain = withTimeouts({ ...timeouts, lock: Math.min(timeouts.lock, lockedPatience) });
    this.#pool = new pg.Pool({
      // Also the time that a call waits for a free connection.
      connectionTimeoutMillis: settings.connectTimeout,
      // Reads the address for each connection: after a failover it is that of another server.
      Client: class extends pg.Client {
        constructor() {
          super(configOf(settings));
        }
      },
      max: count,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
    });
    // A connection that is lost while nothing runs on it is only taken out of the pool.
    this.#pool.on("error", () => {});
    // So is one that is lost between two statements of a transaction: the next of them fails.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  get trouble(): unknown {
    return this.#trouble;
  }

  /** The same read, refused at once while too many wait: for reads of callers. Reads of the engine are never refused. */
  forCallers<Arguments extends readonly unknown[], Value>(
    read: (...asked: Arguments) => Promise<Value>,
  ): (...asked: Arguments) => Promise<Value> {
    return async (...asked) => {
      if (this.#pool.waitingCount >= maxWaiting) throw new StoreBusyError({ limit: maxWaiting });
      return read(...asked);
    };
  }

  /** Runs one statement that only reads. No value in the database has a NUL, so a search for one finds no row. */
  async read(
    statement: string,
    values: readonly unknown[],
    how: "prepared" | "planned" = "prepared",
  ): Promise<readonly Row[]> {
    if (values.some(holdsNul)) return [];
    const { rows } = await this.#attempt("read", (query) => query(statement, values, how));
    return rows;
  }

  /** The same for a statement whose plan depends on its values. */
  search(statement: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.read(statement, values, "planned");
  }

  /** The same for a statement that has to walk its indexes in order, against other plans. */
  async walk(statement: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#attempt("read", (query) =>
      transaction(query, walking, () => query(statement, values, "planned")),
    );
    return rows;
  }

  /**
   * Runs a transaction, again when it clashed with another. `work` must be safe to repeat also when it was committed.
   * `patient`: it waits until the trouble ends, without a limit. `first`: a statement that it begins with, in the same message.
   * `isShared`: by several callers. Where it takes too long it is not repeated: one of them may meet a lock.
   */
  write<Value>(
    operation: string,
    work: (query: Query) => Promise<Value>,
    {
      patient = false,
      first,
      isShared = false,
    }: { readonly patient?: boolean; readonly first?: string; readonly isShared?: boolean } = {},
  ): Promise<Value> {
    const attempt = (query: Query, again: boolean) => {
      const begun = again ? this.#beginAgain : this.#begin;
      return transaction(query, first === undefined ? begun : `${begun}; ${first}`, () => work(query));
    };
    return this.#attempt(operation, attempt, patient, isShared);
  }

  /** Once, on a connection that is free within this time. */
  async once<Value>(work: (query: Query) => Promise<Value>): Promise<Value> {
    return this.#on(work);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await withTimeout(this.#pool.end(), closingTime);
  }

  async #attempt<Value>(
    operation: string,
    /** `again`: it took too long before. */
    work: (query: Query, again: boolean) => Promise<Value>,
    patient = false,
    isShared = false,
  ): Promise<Value> {
    const until = performance.now() + patience;
    let again = false;
    for (let clashes = 0; ; ) {
      if (this.#closed) throw new StoreUnavailableError({ cause: new Error("the store is closed") });
      try {
        const value = await this.#on((query) => work(query, again));
        this.#trouble = undefined;
        return value;
      } catch (error) {
        if (isPreparedFault(error) && !this.#neverPrepare) {
          this.#neverPrepare = true;
          continue;
        }
        const kind = kindOf(error);
        if (kind === "refused") throw new StoreRefusedError({ operation, cause: error });
        if (isShared && tookTooLong(error)) throw error;
        if (kind === "trouble") this.#settings.servers.doubt();
        if (kind === "clash" && !tookTooLong(error) && ++clashes <= maxClashes) continue;
        again ||= tookTooLong(error);
        // A row that another client keeps locked is not the database's trouble.
        if (codeOf(error) !== lockTimedOut) this.#trouble = error;
        if (performance.now() >= until && !patient)
          throw new StoreUnavailableError({ cause: new Error(problemOf(error), { cause: error }) });
        await new Promise((resolve) => setTimeout(resolve, tookTooLong(error) ? lockedPause : pause));
      }
    }
  }

  async #on<Value>(work: (query: Query) => Promise<Value>): Promise<Value> {
    const client = await this.#connect();
    let fault: Error | undefined;
    try {
      const pooled = await this.#pooled(client);
      const prepares = !this.#neverPrepare && (this.#settings.prepare ?? pooled.isDirect);
      return await work(async (statement, values, how = "prepared") => {
        pooled.waitsSince = performance.now();
        const prepared = prepares && values !== undefined && how === "prepared";
        try {
          return await run(client, prepared, statement, values);
        } finally {
          pooled.waitsSince = undefined;
          pooled.usedAt = performance.now();
        }
      });
    } catch (error) {
      // A connection whose state is not known is not given to the next.
      if (kindOf(error) === "trouble") fault = error instanceof Error ? error : new Error(String(error));
      if (isCut(client)) this.#cutAt = performance.now();
      throw error;
    } finally {
      client.release(fault);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      const { servers } = this.#settings;
      // Not awaited where it is known: the pool counts waiting calls at once.
      if (!servers.isKnown) await servers.find();
      const client = await this.#pool.connect();
      const usedAt = this.#connections.get(client)?.usedAt ?? Number.POSITIVE_INFINITY;
      if (usedAt > this.#cutAt) return client;
      cut(client);
      client.release(true);
    }
  }

  async #pooled(client: pg.ClientBase): Promise<Pooled> {
    let pooled = this.#connections.get(client);
    if (pooled === undefined) {
      await this.#settings.servers.check(client);
      const direct = await isDirect(client);
      pooled = { client, isDirect: direct, waitsSince: undefined, usedAt: performance.now() };
      this.#connections.set(client, pooled);
      // Through a pooler a slow read cannot be distinguished from a connection that was cut.
      if (direct) this.#watch?.add(pooled);
    }
    return pooled;
  }
}

async function transaction<Value>(query: Query, begin: string, work: () => Promise<Value>): Promise<Value> {
  try {
    // Its last statement may wait for a lock in vain, within the transaction.
    await query(begin);
    const value = await work();
    await query("commit");
    return value;
  } catch (error) {
    if (kindOf(error) !== "trouble") await query("rollback");
    throw error;
  }
}

function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\u0000");
  return Array.isArray(value) && value.some(holdsNul);
}
