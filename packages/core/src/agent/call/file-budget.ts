// Bounds of the files that agents load by address: bytes and time of one call, and bytes of all calls together.
import { FilesBusyError } from "../../errors/index.ts";

const mebibyte = 1024 * 1024;
/** Bytes of the files of one call. Providers accept requests of 20 to 50 MB. */
const maxBytes = 50 * mebibyte;
/** Milliseconds of loading and of waiting for room; the time between two files does not count. */
const maxTime = 30_000;
/** Bytes that all calls of a process hold at once. Sending a file takes several times its bytes. */
const poolBytes = 64 * mebibyte;
/** Bytes of the pool for users who hold no more than these: one user cannot take all of it. */
const reservedBytes = poolBytes - maxBytes;
/** Files of one user that wait. A file that waits has an open response, with some unread bytes in the buffers of its socket. */
const maxWaiting = 32;
/** Bytes by which the reservation of a file of unknown length grows. */
const growth = mebibyte;

/** Bounds of one file. */
export interface FileBounds {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /**
   * Reserves memory for the first `bytes` of the file, before they are read. Waits for room until `signal` is aborted. Rejects
   * when the files of the call have too many bytes, and with a `FilesBusyError` where it would wait in vain.
   */
  reserve(bytes: number, signal: AbortSignal): Promise<void>;
}

/** The call that a file belongs to. */
export interface FileOwner {
  /** Undefined: calls without a user count together. */
  readonly userId: string | undefined;
  /** The call has bytes of the pool already. */
  readonly holds: boolean;
}

interface Waiting extends FileOwner {
  readonly bytes: number;
  grant(): void;
}

/** A user with files in the pool or before it. */
interface User {
  held: number;
  waiting: number;
  /** The number of the user's last grant; 0 before the first. */
  granted: number;
}

/**
 * The bytes that the calls of one process share. Files that find no room wait: users in turn, and a file that fits passes one
 * that does not, without a bound: a file that waits must not hold up others in an almost empty pool.
 */
export class FilePool {
  #free: number;
  readonly #reserved: number;
  readonly #waiting = new Set<Waiting>();
  readonly #users = new Map<string | undefined, User>();
  #grants = 0;

  constructor(bytes = poolBytes, reserved = reservedBytes) {
    this.#free = bytes;
    this.#reserved = reserved;
  }

  /**
   * Resolves when the bytes are reserved; undefined when they are at once. Throws where a wait might be in vain: only one call
   * that holds bytes may wait for more, since two might wait for each other.
   */
  take(bytes: number, { userId, holds }: FileOwner, signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#remove(waiting);
      reject(signal.reason);
      this.#grant();
    };
    const grant = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const waiting: Waiting = { userId, holds, bytes, grant };
    const otherHolds = holds && [...this.#waiting].some((other) => other.holds);
    this.#add(waiting);
    this.#grant();
    if (!this.#waiting.has(waiting)) return undefined;
    if (otherHolds || this.#user(userId).waiting > maxWaiting) {
      this.#remove(waiting);
      throw new FilesBusyError();
    }
    signal.addEventListener("abort", leave, { once: true });
    return promise;
  }

  give(bytes: number, userId: string | undefined): void {
    this.#free += bytes;
    const user = this.#user(userId);
    user.held -= bytes;
    this.#forget(userId, user);
    this.#grant();
  }

  #grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const user = this.#user(next.userId);
      this.#free -= next.bytes;
      user.held += next.bytes;
      user.granted = ++this.#grants;
      this.#remove(next);
      next.grant();
    }
  }

  /** The file that gets its bytes now: of those that fit, one of the user who has waited longest since the last grant. */
  #next(): Waiting | undefined {
    const granted = ({ userId }: Waiting) => this.#user(userId).granted;
    return [...this.#waiting]
      .sort((one, other) => granted(one) - granted(other))
      .find((waiting) => this.#fits(waiting));
  }

  #fits({ userId, bytes }: Waiting): boolean {
    const isSmall = this.#user(userId).held + bytes <= this.#reserved;
    return this.#free - bytes >= (isSmall ? 0 : this.#reserved);
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    const { userId } = waiting;
    const user = this.#user(userId);
    user.waiting += 1;
    this.#users.set(userId, user);
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    const user = this.#user(waiting.userId);
    user.waiting -= 1;
    this.#forget(waiting.userId, user);
  }

  #user(userId: string | undefined): User {
    return this.#users.get(userId) ?? { held: 0, waiting: 0, granted: 0 };
  }

  #forget(userId: string | undefined, { held, waiting }: User): void {
    if (held === 0 && waiting === 0) this.#users.delete(userId);
  }
}

export interface FileBudgetOptions {
  /** Default: 50 MiB. */
  readonly bytes?: number;
  /** Default: 30 000. */
  readonly milliseconds?: number;
  /** Default: a pool of its own. */
  readonly pool?: FilePool;
  /** The user whose share of the pool the files count for. */
  readonly userId?: string | undefined;
}

/** One for each call, which its sub-agents share. */
export class FileBudget {
  readonly #most: { readonly bytes: number; readonly milliseconds: number };
  readonly #pool: FilePool;
  readonly #userId: string | undefined;
  #left: { bytes: number; milliseconds: number; waited?: true };
  /** Bytes of the pool that loaded files take. */
  #held = 0;
  #ended = false;
  #last: Promise<void> = Promise.resolve();

  constructor({
    bytes = maxBytes,
    milliseconds = maxTime,
    pool = new FilePool(),
    userId,
  }: FileBudgetOptions = {}) {
    this.#most = { bytes, milliseconds };
    this.#left = { bytes, milliseconds };
    this.#pool = pool;
    this.#userId = userId;
  }

  /** Loads a file after those before it: of several at once, each would have all bytes that are left. */
  load<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
  ): Promise<File> {
    const loading = this.#last.then(() => this.#loadInTime(load));
    const done = () => undefined;
    this.#last = loading.then(done, done);
    return loading;
  }

  /** The loaded files are not in memory any more. */
  restore(): void {
    this.#left = { ...this.#most };
    this.#pool.give(this.#held, this.#userId);
    this.#held = 0;
  }

  /** The call has ended: its files, also one that is being loaded, leave the pool. */
  end(): void {
    this.#ended = true;
    this.restore();
  }

  async #loadInTime<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
  ): Promise<File> {
    if (this.#ended) throw new Error("the call has ended");
    const left = this.#left;
    const begun = performance.now();
    const signal = AbortSignal.timeout(Math.max(Math.ceil(left.milliseconds), 0));
    try {
      if (left.milliseconds <= 0)
        throw new Error(`the files of this call took more than ${this.#most.milliseconds} ms to load`);
      const file = await this.#loadWithin(load, signal);
      left.bytes -= file.data.byteLength;
      return file;
    } catch (error) {
      // With room it might have been in time.
      throw left.waited && (signal.aborted || left.milliseconds <= 0) ? new FilesBusyError() : error;
    } finally {
      left.milliseconds -= performance.now() - begun;
    }
  }

  /** Reserves as many bytes as the file needs, and keeps as many as it has. */
  async #loadWithin<File extends { readonly data: Uint8Array }>(
    load: (bounds: FileBounds) => PromiseLike<File>,
    time: AbortSignal,
  ): Promise<File> {
    const left = this.#left;
    let reserved = 0;
    const reserve = async (bytes: number, signal: AbortSignal) => {
      if (bytes <= reserved) return;
      if (bytes > left.bytes)
        throw new Error(`the files of this call have more than ${this.#most.bytes} bytes`);
      const next = reserved === 0 ? bytes : Math.max(bytes, Math.min(reserved + growth, left.bytes));
      const owner = { userId: this.#userId, holds: this.#held + reserved > 0 };
      const waiting = this.#pool.take(next - reserved, owner, signal);
      if (waiting !== undefined) left.waited = true;
      await waiting;
      reserved = next;
    };
    let kept = 0;
    try {
      const file = await load({ signal: time, reserve });
      if (!this.#ended) kept = file.data.byteLength;
      return file;
    } finally {
      this.#held += kept;
      this.#pool.give(reserved - kept, this.#userId);
    }
  }
}
