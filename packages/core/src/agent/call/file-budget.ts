// Bounds of the files that agents load by address: bytes and time of one call, and bytes of all calls together.

const mebibyte = 1024 * 1024;
/** Bytes of the files of one call. Providers accept requests of 20 to 50 MB. */
const maxBytes = 50 * mebibyte;
/** Milliseconds of loading; the time between two files does not count. */
const maxTime = 30_000;
/** Bytes that all calls of a process hold at once. Sending a file takes several times its bytes. */
const poolBytes = 64 * mebibyte;
/** Bytes that a file is expected to have at most: it reserves more only when it turns out to be larger. */
const usualBytes = 8 * mebibyte;

/** Bounds of one file. */
export interface FileBounds {
  readonly maxBytes: number;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly bytes: number;
  grant(): void;
}

/** The bytes that the calls of one process share. Calls that find none left wait in order. */
export class FilePool {
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(bytes = poolBytes) {
    this.#free = bytes;
  }

  /** Resolves when the bytes are reserved; rejects, without them, when the signal is aborted before. */
  take(bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(waiting);
      reject(new Error("the files of other calls take all the memory that files may take"));
      this.#grant();
    };
    const waiting: Waiting = {
      bytes,
      grant: () => {
        signal.removeEventListener("abort", leave);
        resolve();
      },
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.add(waiting);
    this.#grant();
    return promise;
  }

  give(bytes: number): void {
    this.#free += bytes;
    this.#grant();
  }

  #grant(): void {
    for (const waiting of this.#waiting) {
      if (waiting.bytes > this.#free) return;
      this.#waiting.delete(waiting);
      this.#free -= waiting.bytes;
      waiting.grant();
    }
  }
}

export interface FileBudgetOptions {
  /** Default: 50 MiB. */
  readonly bytes?: number;
  /** Default: 30 000. */
  readonly milliseconds?: number;
  /** Default: a pool of its own. */
  readonly pool?: FilePool;
}

/** One for each call, which its sub-agents share. */
export class FileBudget {
  readonly #most: { readonly bytes: number; readonly milliseconds: number };
  readonly #pool: FilePool;
  #left: { bytes: number; milliseconds: number };
  /** Bytes of the pool that loaded files take. */
  #held = 0;
  #ended = false;
  #last: Promise<void> = Promise.resolve();

  constructor({ bytes = maxBytes, milliseconds = maxTime, pool = new FilePool() }: FileBudgetOptions = {}) {
    this.#most = { bytes, milliseconds };
    this.#left = { bytes, milliseconds };
    this.#pool = pool;
  }

  /**
   * Loads a file after those before it: of several at once, each would have all bytes that are left. `isTooLong` recognises
   * the error of a file with more than `maxBytes`.
   */
  load<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
    isTooLong: (error: unknown) => boolean = () => false,
  ): Promise<File> {
    const loading = this.#last.then(() => this.#loadInTime(load, isTooLong));
    const done = () => undefined;
    this.#last = loading.then(done, done);
    return loading;
  }

  /** The loaded files are not in memory any more. */
  restore(): void {
    this.#left = { ...this.#most };
    this.#pool.give(this.#held);
    this.#held = 0;
  }

  /** The call has ended: its files, also one that is being loaded, leave the pool. */
  end(): void {
    this.#ended = true;
    this.restore();
  }

  async #loadInTime<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
    isTooLong: (error: unknown) => boolean,
  ): Promise<File> {
    const left = this.#left;
    if (left.milliseconds <= 0)
      throw new Error(`the files of this call took more than ${this.#most.milliseconds} ms to load`);
    const begun = performance.now();
    const signal = AbortSignal.timeout(Math.ceil(left.milliseconds));
    try {
      const usual = Math.min(left.bytes, usualBytes);
      const file = await this.#loadWithin(load, { maxBytes: usual, signal }).catch((error: unknown) => {
        if (usual === left.bytes || !isTooLong(error)) throw error;
        return this.#loadWithin(load, { maxBytes: left.bytes, signal });
      });
      left.bytes -= file.data.byteLength;
      return file;
    } finally {
      left.milliseconds -= performance.now() - begun;
    }
  }

  /** Reserves as many bytes as the file may have, and keeps as many as it has. */
  async #loadWithin<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
    bounds: FileBounds,
  ): Promise<File> {
    await this.#pool.take(bounds.maxBytes, bounds.signal);
    let kept = 0;
    try {
      const file = await load(bounds);
      if (!this.#ended) kept = file.data.byteLength;
      return file;
    } finally {
      this.#held += kept;
      this.#pool.give(bounds.maxBytes - kept);
    }
  }
}
