// The delays between attempts, and the time limit for them.
import { AndanteApiError } from "../api-error.ts";

/** The first and the longest delay, in milliseconds. */
const shortest = 25;
const longest = 5000;

/** The attempts of one request, or of one stream. */
export class Backoff {
  readonly #retryFor: number;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  /** The time of the last success. */
  #worked = Date.now();
  /** The start of the attempt. */
  #began = Date.now();

  constructor(retryFor: number, signal: AbortSignal | undefined) {
    this.#retryFor = retryFor;
    this.#signal = signal;
  }

  /** Resets the number of failures after received data. */
  succeeded(): void {
    this.#failures = 0;
    this.#worked = Date.now();
  }

  /**
   * Waits before the next attempt. Throws the error when a retry would not help, or after the time limit. `hasWorked`
   * returns whether this attempt reached the server although it received nothing; its argument is whether it took long.
   */
  async failed(error: unknown, hasWorked?: (isLong: boolean) => boolean | Promise<boolean>): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!(error instanceof AndanteApiError) || !error.isPassing || this.#retryFor <= 0) throw error;
    const isLong = Date.now() - this.#began > longest;
    if (await hasWorked?.(isLong)) {
      this.#worked = Date.now();
      // A long-lived connection did not fail on connecting: the next attempt needs no delay.
      if (isLong) this.#failures = 0;
    }
    const limit = Math.min(longest, shortest * 2 ** this.#failures);
    // Jitter, so that the clients of a restarted server do not reconnect at the same time.
    const jittered = limit * (0.5 + Math.random() / 2);
    const wait = Math.max(jittered, (error.retryAfter ?? 0) * 1000);
    if (Date.now() + wait - this.#worked > this.#retryFor) throw error;
    this.#failures += 1;
    await sleep(wait, this.#signal);
    this.#began = Date.now();
  }
}

/** Rejects with the signal's reason when it aborts first. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
