// Writes to the store in the background, soon after entries were added, and removes old entries now and then. Nothing
// waits for it.

export abstract class BackgroundWriter {
  readonly #trimTimer: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #trimming: Promise<void> | undefined;
  #closed = false;

  constructor(trimPeriod: number) {
    const start = () => {
      this.#trimming ??= this.trim()
        .catch((err) => this.trimFailed(err))
        .finally(() => (this.#trimming = undefined));
    };
    this.#trimTimer = setInterval(start, trimPeriod).unref();
  }

  /** Writes the entries that wait. Returns the milliseconds until the next write; undefined when none is needed. */
  protected abstract write(): Promise<number | undefined>;

  /** Decides which entries are too old. The returned function removes some of them, and returns how many. */
  protected abstract trimmer(): Promise<() => Promise<number>>;

  protected abstract trimFailed(err: unknown): void;

  protected get closed(): boolean {
    return this.#closed;
  }

  protected schedule(delay: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, delay).unref();
  }

  /** Resolves when earlier entries are written, or cannot be now. */
  async flush(): Promise<void> {
    // The running write may have begun before the last of them came.
    await this.#writing;
    await this.#write();
  }

  /** Removes entries beyond the bounds. */
  async trim(): Promise<void> {
    const removeSome = await this.trimmer();
    while (!this.#closed && (await removeSome()) > 0);
  }

  async close(): Promise<void> {
    clearInterval(this.#trimTimer);
    await this.flush();
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#trimming;
  }

  #write(): Promise<void> {
    this.#writing ??= this.write().then((delay) => {
      this.#writing = undefined;
      if (delay !== undefined) this.schedule(delay);
    });
    return this.#writing;
  }
}
