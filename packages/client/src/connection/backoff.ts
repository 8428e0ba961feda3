// How long to wait before something is tried again, and when to give up.
import { AndanteApiError } from "../api-error.ts";

/** Milliseconds: the first wait, and the longest. */
const shortest = 25;
const longest = 5000;

/** The attempts of one request, or of one stream. */
export class Backoff {
  readonly #retryFor: number;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  /** When it was last known to work. */
  #worked = Date.now();
  /** When the attempt began. */
  #began = Date.now();

  constructor(retryFor: number, signal: AbortSignal | undefined) {
    this.#retryFor = retryFor;
    this.#signal = signal;
  }

  /** Something has come through: the next failure is the first again. */
  succeeded(): void {
    this.#failures = 0;
    this.#worked = Date.now();
  }

  /**
   * Waits before the next attempt. Throws the error where another one would not help, or it has been failing for too long.
   * `hasWorked` tells whether this attempt reached the server, also when nothing came; it is told whether that took long.
   */
  async failed(error: unknown, hasWorked?: (isLong: boolean) => boolean | Promise<boolean>): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!(error instanceof AndanteApiError) || !error.isPassing || this.#retryFor <= 0) throw error;
    const isLong = Date.now() - this.#began > longest;
    if (await hasWorked?.(isLong)) {
      this.#worked = Date.now();
      // One that lived for a while was not cut because it was made: the next may be made at once.
      if (isLong) this.#failures = 0;
    }
    const limit = Math.min(longest, shortest * 2 ** this.#failures);
    // Not all clients of a server that was restarted come back in the same moment.
    const jittered = limit * (0.5 + Math.random() / 2);
    const wait = Math.max(jittered, (error.retryAfter ?? 0) * 1000);
    if (Date.now() + wait - this.#worked > this.#retryFor) throw error;
    this.#failures += 1;
    await sleep(wait, this.#signal);
    this.#began = Date.now();
  }
}

/** Rejects with the signal's reason when that comes first. */
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
