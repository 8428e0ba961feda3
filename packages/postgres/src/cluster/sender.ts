// Notifies the other processes of the writes of this one: after the commit, on its own connection, a few times a second.
//
// A notification inside the writing transaction makes every commit of the database wait for every other: it cost a factor
// of ten. Coalesced and beside the writes it costs one small transaction for each round.
import { withTimeout } from "@andante/core/internal";
import type { Connection } from "../connection/connection.ts";
import { writeHint, writeIds } from "./hint.ts";

/** Milliseconds between two rounds. */
const period = 20;

/** Milliseconds that the last notification may take. */
const closingTime = 1_000;

/** Milliseconds for which another process counts as present after its last notification. */
const othersStay = 60_000;

export interface SenderOptions {
  readonly connection: Connection;
  readonly channel: string;
  /** Names this process, so that it ignores its own notifications. */
  readonly sender: string;
}

export class HintSender {
  readonly #options: SenderOptions;
  readonly #written = new Set<string>();
  #offers = false;
  #othersUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The round that is under way. */
  #current: Promise<void> | undefined;
  #roundAt = 0;
  #closed = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Called when another process was noticed: from now on hints are sent. */
  sawOthers(): void {
    this.#othersUntil = performance.now() + othersStay;
  }

  wrote(executionIds: readonly string[]): void {
    if (this.#closed || performance.now() > this.#othersUntil) return;
    for (const executionId of executionIds) this.#written.add(executionId);
    this.#schedule();
  }

  /** Notifies of work that this process leaves. */
  offered(): void {
    if (this.#closed || performance.now() > this.#othersUntil) return;
    this.#offers = true;
    this.#schedule();
  }

  askToStop(executionId: string): void {
    void this.#send([writeHint(this.#options.sender, { kind: "stop", executionId })]);
  }

  joined(): void {
    void this.#send([writeHint(this.#options.sender, { kind: "joined" })]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (performance.now() <= this.#othersUntil) await withTimeout(this.#lastRound(), closingTime);
    await this.#options.connection.close();
  }

  #schedule(): void {
    const nothing = this.#written.size === 0 && !this.#offers;
    if (this.#timer !== undefined || this.#current !== undefined || nothing || this.#closed) return;
    const wait = Math.max(0, this.#roundAt + period - performance.now());
    this.#timer = setTimeout(() => this.#round(), wait).unref();
  }

  async #round(): Promise<void> {
    this.#timer = undefined;
    this.#roundAt = performance.now();
    this.#current = this.#send(this.#takeHints());
    await this.#current;
    this.#current = undefined;
    this.#schedule();
  }

  /** The last writes, and that this process leaves: the others take over its timers. */
  async #lastRound(): Promise<void> {
    await this.#current;
    this.#offers = true;
    await this.#send(this.#takeHints());
  }

  #takeHints(): string[] {
    const { sender } = this.#options;
    const hints = writeIds(sender, this.#written);
    if (this.#offers) hints.push(writeHint(sender, { kind: "offered" }));
    this.#written.clear();
    this.#offers = false;
    return hints;
  }

  /** A hint that cannot be sent is lost: hints only save time, and every node also polls. */
  async #send(hints: readonly string[]): Promise<void> {
    const { connection, channel } = this.#options;
    try {
      const query = await connection.query();
      await query("select pg_notify($1, hint) from unnest($2::text[]) as hint", [channel, hints]);
    } catch {
      connection.drop();
    }
  }
}
