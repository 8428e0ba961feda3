// Copies of stored data, one or a few at a time, in turns between users.
//
// A small request makes a large copy: sixty forks of 15 MB held up other writers for 11 seconds, and sixty replays at once
// held 2 GB. So copies wait here, where a waiting one holds nothing, and a copy in pages passes its turn after each: a
// user's short copy waits for a page of another user's, however long that copy is. Rows that several conversations share
// would also save the disk, but every edit, removal and erasure would have to find out who else reads the row.
import { StoreBusyError, TooManyCopiesError } from "../errors/index.ts";
import { TurnQueue } from "./turn-queue.ts";

export interface CopyBounds {
  /** Copies at once. */
  readonly atOnce: number;
  /** Copies of one user that run or wait. */
  readonly ofUser: number;
  /** Copies of all users that run or wait. */
  readonly inAll: number;
}

export class CopyQueue {
  readonly #bounds: CopyBounds;
  /** How many run or wait, by user. */
  readonly #counts = new Map<string | null, number>();
  readonly #waiting = new TurnQueue<string | null, () => void>();
  #count = 0;
  #running = 0;

  constructor(bounds: CopyBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work when it is the user's turn; `pass`, which it calls between two pages, waits for the next turn. Rejects at
   * once where too many wait; null means all callers without a user.
   */
  async run<T>(user: string | null, work: (pass: () => Promise<void>) => Promise<T>): Promise<T> {
    this.#admit(user);
    try {
      if (this.#running < this.#bounds.atOnce) this.#running += 1;
      else await this.#turn(user, "last");
      try {
        return await work(() => this.#pass(user));
      } finally {
        this.#next();
      }
    } finally {
      this.#leave(user);
    }
  }

  #admit(user: string | null): void {
    const { ofUser, inAll } = this.#bounds;
    const own = this.#counts.get(user) ?? 0;
    if (own >= ofUser) throw new TooManyCopiesError({ limit: ofUser });
    if (this.#count >= inAll) throw new StoreBusyError({ limit: inAll });
    this.#counts.set(user, own + 1);
    this.#count += 1;
  }

  #leave(user: string | null): void {
    const left = (this.#counts.get(user) ?? 0) - 1;
    if (left > 0) this.#counts.set(user, left);
    else this.#counts.delete(user);
    this.#count -= 1;
  }

  /** A copy that has begun comes before the user's others. */
  async #pass(user: string | null): Promise<void> {
    const turn = this.#turn(user, "first");
    this.#next();
    await turn;
  }

  #turn(user: string | null, place: "first" | "last"): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(user, resolve, place));
  }

  /** The place passes to the next user. */
  #next(): void {
    const begin = this.#waiting.next();
    if (begin === undefined) this.#running -= 1;
    else begin();
  }
}
