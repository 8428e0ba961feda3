// The slots in which executions run here: how many are free, and for whom.
//
// Any user may take a free slot. But when a user who holds few was turned away, the
// slots that become free in the next seconds are for others than those who hold their share already: a caller that is
// refused tries again after a second, and finds what would otherwise have gone to the one that takes everything.
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
  /** Called when nobody who holds little was turned away for a while: those that had to stand back may run. */
  released(): void;
}

/** Milliseconds for which a caller that was turned away counts as waiting. It is told to try again after one second. */
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

  /** How many are free. Negative while deadlines have brought more than the limit. */
  get room(): number {
    return this.#options.limit - this.#options.taken() - this.#reserved;
  }

  /**
   * The same for what has to happen before a deadline or a timeout, or because of one. On a full node they run in slots
   * of their own, a tenth of the limit, so that bodies that do not end cannot keep them waiting.
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

  /** Turns a start away, unless it may run. */
  checkStart(user: SlotUser): void {
    const { limit, userShare } = this.#options;
    if (this.room <= 0) {
      this.waits(user);
      throw new CapacityError({ limit });
    }
    if (this.standsBack().has(user)) throw new UserShareError({ limit, userShare });
  }

  /** A user was refused or has to wait. A user with its full share does not limit others. */
  waits(user: SlotUser): void {
    if (this.#holding().has(user)) return;
    this.#contendedUntil = this.#options.clock.now() + patience;
    this.#cancel ??= this.#watch();
  }

  /** Those who have to leave free slots to others now. */
  standsBack(): ReadonlySet<SlotUser> {
    if (this.#contendedUntil > this.#options.clock.now()) return this.#holding();
    let holding = nobody;
    for (const user of this.#options.waiting()) {
      if (holding === nobody) holding = this.#holding();
      if (!holding.has(user)) return holding;
    }
    return nobody;
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Those who hold their share or more. */
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

const nobody: ReadonlySet<SlotUser> = new Set();
