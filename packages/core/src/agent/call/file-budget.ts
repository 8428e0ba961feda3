// Bounds of the files that one call of an agent loads by address: bytes and time, of all files together.

/** Models accept no more. */
const maxBytes = 100 * 1024 * 1024;
/** Milliseconds of loading; the time between two files does not count. */
const maxTime = 30_000;

/** Bounds of one file. */
export interface FileBounds {
  readonly maxBytes: number;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
}

/** One for each call, which its sub-agents share. */
export class FileBudget {
  readonly #most: { readonly bytes: number; readonly milliseconds: number };
  #left: { bytes: number; milliseconds: number };
  #last: Promise<void> = Promise.resolve();

  constructor({ bytes = maxBytes, milliseconds = maxTime } = {}) {
    this.#most = { bytes, milliseconds };
    this.#left = { bytes, milliseconds };
  }

  /** Loads a file after those before it: of several at once, each would have all bytes that are left. */
  load<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
  ): Promise<File> {
    const loading = this.#last.then(() => this.#loadWithin(load));
    const done = () => undefined;
    this.#last = loading.then(done, done);
    return loading;
  }

  /** Nothing that was loaded is in memory any more. */
  restore(): void {
    this.#left = { ...this.#most };
  }

  async #loadWithin<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
  ): Promise<File> {
    const left = this.#left;
    if (left.milliseconds <= 0)
      throw new Error(`the files of this call took more than ${this.#most.milliseconds} ms to load`);
    const begun = performance.now();
    try {
      const signal = AbortSignal.timeout(Math.ceil(left.milliseconds));
      const file = await load({ maxBytes: left.bytes, signal });
      left.bytes -= file.data.byteLength;
      return file;
    } finally {
      left.milliseconds -= performance.now() - begun;
    }
  }
}
