// One connection that is made when it is first used, and made again after it was lost. Statements on it are pipelined.
import { withTimeout } from "@andante/core/internal";
import pg from "pg";
import { type ConnectSettings, configOf, isDirect, keepAlive, type Query, run } from "./client.ts";
import { cut, type SilenceWatch, type Watched } from "./silence-watch.ts";

/** Milliseconds that closing may take: a database that hangs does not keep the process. */
const closingTime = 3_000;

interface Opened extends Watched {
  readonly client: pg.Client;
  readonly prepared: boolean;
  /** How many statements run on it. */
  underWay: number;
}

export class Connection {
  readonly #settings: ConnectSettings;
  readonly #watch: SilenceWatch | undefined;
  #opened: Promise<Opened> | undefined;
  #closed = false;
  #neverPrepare = false;

  /** `watch` finds out when it was cut without a word; without one, the timeout of its statements does. */
  constructor(settings: ConnectSettings, watch?: SilenceWatch) {
    this.#settings = settings;
    this.#watch = watch;
  }

  /** A function that runs statements on this connection, without waiting for the ones before. */
  async query(): Promise<Query> {
    const opened = await this.#open();
    const { client, prepared } = opened;
    const prepares = prepared && !this.#neverPrepare;
    return async (statement, values, how = "prepared") => {
      // It keeps the process alive only while a caller waits for it.
      if (opened.underWay++ === 0) {
        keepAlive(client, true);
        opened.waitsSince = performance.now();
      }
      try {
        return await run(client, prepares && values !== undefined && how === "prepared", statement, values);
      } finally {
        const isLast = --opened.underWay === 0;
        opened.waitsSince = isLast ? undefined : performance.now();
        if (isLast) keepAlive(client, false);
      }
    };
  }

  /** Statements are not prepared any more: a pooler has shown itself. Returns whether that is new. */
  neverPrepare(): boolean {
    const isNew = !this.#neverPrepare;
    this.#neverPrepare = true;
    return isNew;
  }

  /** Drops the connection: its state is not certain any more. */
  drop(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.then(
      ({ client }) => client.end().catch(() => {}),
      () => {},
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const opened = this.#opened;
    this.#opened = undefined;
    try {
      const client = (await opened)?.client;
      if (client !== undefined) await withTimeout(client.end(), closingTime);
    } catch {
      // It was lost already.
    }
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(new Error("the store is closed"));
    if (this.#opened !== undefined) return this.#opened;
    const opening = this.#connect();
    this.#opened = opening;
    const forget = () => {
      if (this.#opened === opening) this.#opened = undefined;
    };
    opening.then(({ client }) => client.once("end", forget), forget);
    return opening;
  }

  async #connect(): Promise<Opened> {
    const { servers, connectTimeout } = this.#settings;
    await servers.find();
    const client = new pg.Client({ ...configOf(this.#settings), pipeline: true });
    // The caller of a statement gets the error; one that comes while nothing runs only ends the connection.
    client.on("error", () => {});
    try {
      await client.connect();
      const checked = servers.check(client).then(() => isDirect(client));
      const { value: direct, timedOut } = await withTimeout(checked, connectTimeout);
      if (timedOut) throw new Error("timeout expired");
      keepAlive(client, false);
      const prepared = this.#settings.prepare ?? direct;
      const opened: Opened = { client, prepared, isDirect: direct, underWay: 0, waitsSince: undefined };
      this.#watch?.add(opened);
      return opened;
    } catch (error) {
      servers.doubt();
      cut(client);
      throw error;
    }
  }
}
