// Copies of stored data, one or a few at a time, in turns between users.
//
// A small request makes a large copy: sixty forks of 15 MB held up other writers for 11 seconds, and sixty replays at once
// held 2 GB. So copies wait here, where a waiting one holds nothing, and between two of them the store serves everyone
// else. Rows that several conversations share would also save the disk, but every edit, removal and erasure would have to
// find out who else reads the row.
import { StoreBusyError, TooManyCopiesError } from "../errors/index.ts";

export interface CopyBounds {
  /** Copies at once. */
  readonly atOnce: number;
  /** Copies of one user that wait. */
  readonly waitingOfUser: number;
  /** Copies of all users that wait. */
  readonly waiting: number;
}

export class CopyQueue {
  readonly #bounds: CopyBounds;
  /** Those that wait, by user; the users in the order of their turns. */
  readonly #waiting = new Map<string | null, (() => void)[]>();
  #running = 0;
  #count = 0;

  constructor(bounds: CopyBounds) {
    this.#bounds = bounds;
  }

  /** Does the work when it is the user's turn. Rejects at once where too many wait; null means all callers without a user. */
  async run<T>(user: string | null, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#bounds.atOnce) this.#running += 1;
    else await this.#turn(user);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(user: string | null): Promise<void> {
    const { waiting, waitingOfUser } = this.#bounds;
    const own = this.#waiting.get(user) ?? [];
    if (own.length >= waitingOfUser) throw new TooManyCopiesError({ limit: waitingOfUser });
    if (this.#count >= waiting) throw new StoreBusyError({ limit: waiting });
    this.#count += 1;
    this.#waiting.set(user, own);
    return new Promise((resolve) => void own.push(resolve));
  }

  /** The place passes to the user who has waited longest for a turn. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [user, own] = first;
    const begin = own.shift();
    this.#waiting.delete(user);
    if (own.length > 0) this.#waiting.set(user, own);
    this.#count -= 1;
    begin?.();
  }
}
