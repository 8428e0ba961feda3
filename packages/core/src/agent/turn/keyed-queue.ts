// One at a time for each key, in the order of arrival.

export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits for earlier arrivals. Call the returned function when done. Leaves the queue when aborted. `mayWait` is called
   * only where it has to wait, with its place taken already, and throws to leave.
   */
  async enter(
    key: string,
    signal: AbortSignal,
    mayWait: () => Promise<void> = () => Promise.resolve(),
  ): Promise<() => void> {
    const before = this.#last.get(key);
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const mine = (before ?? Promise.resolve()).then(() => promise);
    this.#last.set(key, mine);
    // Not as soon as this one is done: it may have left the queue while others before it are not.
    mine.then(() => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    });
    try {
      // An abort that has been is not heard of again.
      signal.throwIfAborted();
      if (before !== undefined) {
        await unlessAborted(mayWait(), signal);
        signal.throwIfAborted();
        await unlessAborted(before, signal);
      }
      signal.throwIfAborted();
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
