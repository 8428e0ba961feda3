// The main thread's side of a database thread: calls go out in groups, results come back in groups. A thread that dies is
// started again.
import {
  JournalDamagedError,
  StoreBusyError,
  StoreRefusedError,
  StoreUnavailableError,
} from "../../errors/index.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { forCallers, repeatable } from "./operation-kinds.ts";
import type { OperationName, Operations } from "./operations/index.ts";
import { Outbox, type OutgoingCall } from "./outbox.ts";
import { ThreadLife } from "./thread-life.ts";
import { type CallFailure, pack, type ResultsMessage, type ThreadStart } from "./thread-messages.ts";

interface Waiting extends OutgoingCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface ThreadClientOptions extends ThreadStart {
  /** Called when the thread has died and cannot be started again without losing or repeating something. */
  lost(reason: Error): void;
}

// Two groups under way keep the thread busy: it finds the next one as soon as it has flushed.
const groupsUnderWay = 2;

// The cost of a group is paid once, however many calls it holds: fifty executions of three steps at a time took 373 µs of
// processor each with groups of 17, and 329 with halves. So while a group is under way the next one is gathered until
// it holds half of the calls that lately waited at once: the thread has one half while we prepare the other. Waiting for
// the last of them left it idle for a quarter of the time. Below eight a group is not worth its message: with twenty at a
// time, halves of ten took 5 and 7 % less time than waiting for sixteen (one step, three), and quarters more.
const leastAhead = 8;
const fading = 0.98;

/** As many calls may wait; then repeatable ones are refused. */
const maxWaiting = 5000;

/** Milliseconds that closing may take; then the thread is terminated. Its pending writes may not be written. */
const closingTime = 5000;

/** How often a thread is started again before it is given up, and the milliseconds before each try. */
const restartPauses: readonly number[] = [0, 100, 500, 2000];

export class ThreadClient {
  readonly #options: ThreadClientOptions;
  readonly #waiting = new TurnoverMap<number, Waiting>();
  readonly #outbox = new Outbox<Waiting>();
  #life: ThreadLife | undefined;
  /** The thread is started by the first call. */
  #awaitsCall = false;
  #underWay = 0;
  /** How many calls were waiting at once lately. */
  #mostLately = 0;
  #scheduled = false;
  #lastId = 0;
  #closing = false;
  #lost: Error | undefined;
  #restarts = 0;
  #lastEnd: Error | undefined;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(options: ThreadClientOptions) {
    this.#options = options;
  }

  /** Starts a thread and waits until it has opened the database; rejects with the reason when it cannot. */
  static async open(options: ThreadClientOptions): Promise<ThreadClient> {
    const client = new ThreadClient(options);
    await client.#start();
    return client;
  }

  /** A thread that is started when it is first called. While it cannot be, calls are rejected and the next one tries again. */
  static onDemand(options: ThreadClientOptions): ThreadClient {
    const client = new ThreadClient(options);
    client.#awaitsCall = true;
    return client;
  }

  /** Whether the thread was ever asked for anything. */
  get isStarted(): boolean {
    return !this.#awaitsCall;
  }

  /** How often the thread was started again, and why the last time. */
  get restarts(): { readonly count: number; readonly reason: string } {
    return { count: this.#restarts, reason: this.#lastEnd?.message ?? "" };
  }

  call<Name extends OperationName>(
    operation: Name,
    argument: Parameters<Operations[Name]>[0],
  ): Promise<ReturnType<Operations[Name]>>;
  call(operation: OperationName, argument: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) return reject(new StoreUnavailableError({ cause: this.#lost }));
      if (this.#closing)
        return reject(new StoreUnavailableError({ cause: new Error("the store is closed") }));
      if (this.#waiting.size >= maxWaiting && forCallers.has(operation)) {
        return reject(new StoreBusyError({ limit: maxWaiting }));
      }
      const id = ++this.#lastId;
      if (this.#waiting.size === 0) this.#life?.keepAlive(true);
      const waiting: Waiting = { id, operation, argument, sent: 0, resolve, reject };
      this.#waiting.set(id, waiting);
      this.#outbox.add(waiting);
      if (this.#awaitsCall) this.#startLate();
      if (this.#outbox.length >= Math.max(leastAhead, this.#mostLately / 2)) this.#send();
      else this.#schedule();
    });
  }

  /** Waits for the calls under way, then closes the database. Resolves also when the thread hangs or is dead. */
  async close(): Promise<void> {
    if (this.#closing || this.#lost !== undefined) return this.#ended.promise;
    this.#closing = true;
    if (this.#awaitsCall) return this.#finish(new Error("the store is closed"));
    this.#life?.keepAlive(true);
    this.#send();
    const { timedOut } = await withTimeout(this.#ended.promise, closingTime);
    if (!timedOut) return;
    await this.#life?.terminate();
    this.#finish(new Error("the database thread did not close in time"));
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay > 0) return;
    this.#scheduled = true;
    // Not a microtask: that would send the calls of one request, where this gathers those of one turn of the loop.
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const life = this.#life;
    if (life === undefined) return;
    this.#mostLately = Math.max(this.#waiting.size, this.#mostLately * fading);
    while (this.#outbox.length > 0 && this.#underWay < groupsUnderWay) {
      const group = this.#outbox.take((call, cause) => this.#refuse(call, cause));
      if (group === undefined) continue;
      this.#underWay++;
      life.post(group);
    }
    if (this.#closing && this.#outbox.length === 0) life.post(pack("close"));
  }

  #refuse({ id, operation, reject }: Waiting, cause: unknown): void {
    this.#waiting.delete(id);
    reject(new StoreRefusedError({ operation, cause }));
  }

  #receive({ groupsReceived, results }: ResultsMessage): void {
    this.#underWay -= groupsReceived;
    for (const result of results) {
      const id = typeof result === "number" ? result : result.id;
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) continue;
      this.#waiting.delete(id);
      if (typeof result === "number") waiting.resolve(undefined);
      else if ("failure" in result) waiting.reject(callError(waiting.operation, result.failure));
      else waiting.resolve(result.value);
    }
    // The closing store waits for the thread itself.
    if (this.#waiting.size === 0 && !this.#closing) this.#life?.keepAlive(false);
    if (this.#outbox.length > 0) {
      if (this.#closing) this.#send();
      else this.#schedule();
    }
  }

  async #start(): Promise<void> {
    const { lost: _, ...options } = this.#options;
    const start = { ...options, ...(this.#lastEnd && { isRestart: true }) };
    let ended: Error | undefined;
    const life = await ThreadLife.start(
      start,
      (message) => this.#receive(message),
      (reason) => {
        ended = reason;
        this.#died(reason);
      },
    );
    // It may have ended between its first message and now.
    if (ended !== undefined) throw ended;
    this.#life = life;
    // From here on the thread keeps the process alive only while a caller waits for it.
    life.keepAlive(this.#waiting.size > 0);
    this.#send();
  }

  #startLate(): void {
    this.#awaitsCall = false;
    this.#start().catch((cause: Error) => {
      if (this.#closing) return this.#finish(cause);
      this.#awaitsCall = true;
      this.#rejectAll(cause);
    });
  }

  /** The thread has ended: on request, because it could not open the database, or by accident. */
  #died(reason: Error): void {
    const opened = this.#life !== undefined;
    this.#life = undefined;
    this.#underWay = 0;
    if (this.#closing) return this.#finish(reason);
    // The caller that starts it tries again.
    if (!opened) return;
    this.#lastEnd = reason;
    if (!this.#askAgain(reason)) return this.#fail(reason);
    this.#restart().catch((error: Error) => this.#fail(error));
  }

  /**
   * The thread's pending calls are repeated where that changes nothing; a read that was there twice when a thread
   * died may be the cause. False when a write was under way: whether it was committed is not known.
   */
  #askAgain(reason: Error): boolean {
    // A database in memory is gone with its thread.
    if (this.#options.role === "both") return false;
    const unsent = new Set(this.#outbox.calls);
    const sent = this.#waiting.values().filter((call) => !unsent.has(call));
    if (sent.some(({ operation }) => !repeatable.has(operation))) return false;
    for (const call of sent.filter((each) => each.sent >= 2)) {
      this.#waiting.delete(call.id);
      call.reject(new StoreUnavailableError({ cause: reason }));
    }
    this.#outbox.putFirst(sent.filter((each) => each.sent < 2));
    return true;
  }

  async #restart(): Promise<void> {
    let failure: unknown;
    for (const pause of restartPauses) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.#closing) return this.#finish(this.#lastEnd ?? new Error("the store is closed"));
      try {
        await this.#start();
        this.#restarts++;
        return;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  #fail(reason: Error): void {
    this.#finish(reason);
    this.#options.lost(reason);
  }

  #finish(reason: Error): void {
    this.#lost ??= reason;
    this.#rejectAll(this.#lost);
    this.#ended.resolve();
  }

  #rejectAll(cause: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new StoreUnavailableError({ cause }));
    this.#waiting.clear();
    this.#outbox.clear();
  }
}

/** The error of a call that the thread could not serve. */
function callError(operation: string, failure: CallFailure): Error {
  if (failure.kind === "damaged") return new JournalDamagedError(failure);
  const cause = new Error(failure.message);
  return failure.kind === "refused"
    ? new StoreRefusedError({ operation, cause })
    : new StoreUnavailableError({ cause });
}
