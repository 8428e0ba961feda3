// The slots in which executions run here: how many are free, and for whom.
//
// Any user may take a free slot. But after a user who holds few was refused, users who hold their share get none of the
// slots that become free in the next seconds: the refused caller retries after a second and finds one of them.
import { CapacityError, UserShareError } from "../../errors/index.ts";
import type { Clock } from "../../values/clock.ts";

/** Executions without a user count together, as those of one. */
export type SlotUser = string | null;

export interface SlotsOptions {
  /** Executions that run here at once. */
  readonly limit: number;
  /** The part of the slots that one user may hold while others wait. */
  readonly userShare: number;
  readonly clock: Clock;
  /** How many run here, or are being created or loaded. */
  taken(): number;
  /** The users of those that run. */
  users(): readonly SlotUser[];
  /** The users of those that wait here for a slot. */
  waiting(): readonly SlotUser[];
  /** Called when no user below its share was refused for a while: users over their share may run again. */
  released(): void;
}

/** Milliseconds for which a refused caller counts as waiting. The response asks it to retry after one second. */
const patience = 5000;

export class Slots {
  readonly #options: SlotsOptions;
  #reserved = 0;
  /** Until then a user who holds few slots counts as waiting. */
  #contendedUntil = 0;
  #cancel: (() => void) | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** How many executions may run at once. */
  get limit(): number {
    return this.#options.limit;
  }

  /** How many are free. Negative while deadlines occupy more than the limit. */
  get room(): number {
    return this.#options.limit - this.#options.taken() - this.#reserved;
  }

  /**
   * The same for work before a deadline or a timeout, or because of one. On a full node it has slots of its own, a tenth
   * of the limit, so that bodies that do not end cannot delay it.
   */
  get roomForLimits(): number {
    return this.room + Math.ceil(this.#options.limit / 10);
  }

  /** Keeps slots for work that is being claimed; the returned function gives them back. */
  reserve(count: number): () => void {
    let left = Math.max(0, count);
    this.#reserved += left;
    return () => {
      this.#reserved -= left;
      left = 0;
    };
  }

  /** Refuses a start that may not run. */
  checkStart(user: SlotUser): void {
    const { limit, userShare } = this.#options;
    if (this.room <= 0) {
      this.waits(user);
      throw new CapacityError({ limit });
    }
    if (this.usersOverShare().has(user)) throw new UserShareError({ limit, userShare });
  }

  /** A user was refused or has to wait. A user with its full share does not limit others. */
  waits(user: SlotUser): void {
    if (this.#holding().has(user)) return;
    this.#contendedUntil = this.#options.clock.now() + patience;
    this.#cancel ??= this.#watch();
  }

  /** The users who have to leave free slots to others now. */
  usersOverShare(): ReadonlySet<SlotUser> {
    if (this.#contendedUntil > this.#options.clock.now()) return this.#holding();
    let holding = noUsers;
    for (const user of this.#options.waiting()) {
      if (holding === noUsers) holding = this.#holding();
      if (!holding.has(user)) return holding;
    }
    return noUsers;
  }

  stop(): void {
    this.#cancel?.();
  }

  /** The users who hold their share or more. */
  #holding(): ReadonlySet<SlotUser> {
    const { limit, userShare } = this.#options;
    const share = Math.max(1, Math.floor(limit * userShare));
    const held = new Map<SlotUser, number>();
    for (const user of this.#options.users()) held.set(user, (held.get(user) ?? 0) + 1);
    return new Set([...held].filter(([, count]) => count >= share).map(([user]) => user));
  }

  #watch(): () => void {
    return this.#options.clock.at(this.#contendedUntil, "limit", () => {
      const stillContended = this.#contendedUntil > this.#options.clock.now();
      this.#cancel = stillContended ? this.#watch() : undefined;
      if (!stillContended) this.#options.released();
    });
  }
}

const noUsers: ReadonlySet<SlotUser> = new Set();
