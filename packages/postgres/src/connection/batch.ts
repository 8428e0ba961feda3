// Calls that come while others are performed are performed together, in one transaction: they share its round trips and its
// commit. Two calls with a key in common are never in one batch.
//
// Where the database refuses a batch, or a lock keeps it waiting, its calls are performed alone: one of them does not harm the
// others. While one waits for a lock, later calls with its keys are performed alone too.
import { StoreBusyError, StoreRefusedError } from "@andante/core/errors";
import { tookTooLong } from "./trouble.ts";

/** The most calls in one transaction, and about as many characters. */
const maxCalls = 100;
const maxLength = 4_000_000;
/** Calls that wait for a transaction, and as many that wait for locks; more are refused. */
const maxWaiting = 5_000;
/** Transactions at once: half of the usual connections. */
const maxRunning = 2;

export interface BatchOptions<Given, Result> {
  /** Performs calls in one transaction; the results are in their order. */
  perform(given: readonly Given[]): Promise<readonly Result[]>;
  keysOf(given: Given): readonly string[];
  /** About how many characters it is. */
  lengthOf(given: Given): number;
}

interface Waiting<Given, Result> {
  readonly given: Given;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export class Batch<Given, Result> {
  readonly #options: BatchOptions<Given, Result>;
  #waiting: Waiting<Given, Result>[] = [];
  /** The keys of calls of a batch that a lock has kept waiting, and how many calls have each. */
  readonly #locked = new Map<string, number>();
  #performedAlone = 0;
  #running = 0;
  /** Whether a call that is longer than a batch is performed: one at a time, for it takes memory and locks of the database. */
  #isLong = false;
  #scheduled = false;

  constructor(options: BatchOptions<Given, Result>) {
    this.#options = options;
  }

  call(given: Given): Promise<Result> {
    return new Promise((resolve, reject) => {
      const isLocked = this.#options.keysOf(given).some((key) => this.#locked.has(key));
      const pending = isLocked ? this.#performedAlone : this.#waiting.length;
      if (pending >= maxWaiting) return reject(new StoreBusyError({ limit: maxWaiting }));
      const waiting = { given, resolve, reject };
      if (isLocked) return void this.#alone(waiting);
      this.#waiting.push(waiting);
      this.#schedule();
    });
  }

  /** In the next turn of the event loop: it gathers the calls of this one. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= maxRunning || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const batch = this.#take();
    if (batch.length === 0) return;
    const [first] = batch;
    const isLong = first !== undefined && this.#isLongCall(first);
    this.#isLong ||= isLong;
    this.#running++;
    this.#schedule();
    await this.#perform(batch);
    this.#running--;
    if (isLong) this.#isLong = false;
    this.#schedule();
  }

  #take(): Waiting<Given, Result>[] {
    const { keysOf, lengthOf } = this.#options;
    const batch: Waiting<Given, Result>[] = [];
    const left: Waiting<Given, Result>[] = [];
    const taken = new Set<string>();
    let length = 0;
    for (const [index, waiting] of this.#waiting.entries()) {
      if (batch.length === maxCalls || length > maxLength) {
        left.push(...this.#waiting.slice(index));
        break;
      }
      // Shorter calls pass it.
      if (this.#isLong && this.#isLongCall(waiting)) {
        left.push(waiting);
        continue;
      }
      length += lengthOf(waiting.given);
      const keys = keysOf(waiting.given);
      const fits = length <= maxLength || batch.length === 0;
      if (fits && keys.every((key) => !taken.has(key))) batch.push(waiting);
      else left.push(waiting);
      for (const key of keys) taken.add(key);
    }
    this.#waiting = left;
    return batch;
  }

  #isLongCall({ given }: Waiting<Given, Result>): boolean {
    return this.#options.lengthOf(given) > maxLength;
  }

  async #perform(batch: readonly Waiting<Given, Result>[]): Promise<void> {
    try {
      const results = await this.#options.perform(batch.map(({ given }) => given));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) reject(new TypeError("a call of a batch has no result"));
        else resolve(result);
      }
    } catch (error) {
      if (batch.length === 1) for (const { reject } of batch) reject(error);
      // The database refuses a value of one of them.
      else if (error instanceof StoreRefusedError) for (const one of batch) await this.#perform([one]);
      // Not awaited: the next batch does not wait for the lock.
      else if (tookTooLong(error)) for (const one of batch) void this.#alone(one);
      else for (const { reject } of batch) reject(error);
    }
  }

  async #alone(waiting: Waiting<Given, Result>): Promise<void> {
    const keys = this.#options.keysOf(waiting.given);
    for (const key of keys) this.#locked.set(key, (this.#locked.get(key) ?? 0) + 1);
    this.#performedAlone++;
    await this.#perform([waiting]);
    this.#performedAlone--;
    for (const key of keys) {
      const left = (this.#locked.get(key) ?? 0) - 1;
      if (left > 0) this.#locked.set(key, left);
      else this.#locked.delete(key);
    }
  }
}
