// Listens to the writes of other processes. While it cannot listen, it reports from time to time that some may be missed.
import type { ClusterListener } from "@andante/core/store";
import pg from "pg";
import { type ConnectSettings, configOf, isDirect, keepAlive } from "../connection/client.ts";
import { cut } from "../connection/silence-watch.ts";
import { readHint } from "./hint.ts";

/** Milliseconds between two tries to listen. */
const minPause = 100;
const maxPause = 5_000;

/** Milliseconds between reads of the store while no notification can arrive. */
const lookPeriod = 1_000;

export interface ListenerOptions {
  /** Undefined: never listen. */
  readonly connect: ConnectSettings | undefined;
  readonly channel: string;
  /** The name of this process. */
  readonly sender: string;
  /** Receives the notifications. */
  readonly listener: ClusterListener;
  /** Called when it has begun to listen. */
  ready(): void;
  /** Called when a notification of another process arrives. */
  sawOthers(): void;
}

export class HintListener {
  readonly #options: ListenerOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = minPause;
  #isListening = false;
  #closed = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#looking = setInterval(() => {
      if (!this.#isListening) this.#options.listener.wrote(undefined);
    }, lookPeriod).unref();
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#looking);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const { connect, channel } = this.#options;
    if (connect === undefined || this.#closed) return;
    const { servers } = connect;
    // Without one that accepts writes the connection below fails, and is tried again.
    await servers.find().catch(() => undefined);
    if (this.#closed) return;
    const client = new pg.Client(configOf(connect));
    this.#client = client;
    client.on("error", () => {});
    client.once("end", () => this.#lost(client));
    client.on("notification", ({ payload }) => this.#receive(payload ?? ""));
    try {
      await client.connect();
      // A pooler that shares connections accepts the statement and delivers nothing: then only reading is left.
      if (!(await isDirect(client))) return void client.end().catch(() => {});
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      keepAlive(client, false);
      await servers.check(client);
    } catch {
      servers.doubt();
      return void client.end().catch(() => {});
    }
    this.#pause = minPause;
    this.#isListening = true;
    this.#check(client, connect.statementTimeout);
    this.#options.ready();
    this.#options.listener.wrote(undefined);
  }

  /** Finds a connection that was lost without an error, within two periods. */
  #check(client: pg.Client, period: number): void {
    this.#timer = setTimeout(async () => {
      try {
        await client.query("select");
        if (this.#client === client) this.#check(client, period);
      } catch {
        cut(client);
      }
    }, period).unref();
  }

  #lost(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#isListening = false;
    this.#client = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), this.#pause).unref();
    this.#pause = Math.min(maxPause, this.#pause * 2);
  }

  #receive(payload: string): void {
    const received = readHint(payload);
    if (received === undefined || received.sender === this.#options.sender) return;
    this.#options.sawOthers();
    const { hint } = received;
    const { listener } = this.#options;
    if (hint.kind === "wrote") listener.wrote(hint.executionIds && new Set(hint.executionIds));
    else if (hint.kind === "offered") listener.offered();
    else if (hint.kind === "stop") listener.stop(hint.executionId);
  }
}
