// Group commit on one connection: writes that arrive while a transaction is under way go into the next one; a refused item
// fails alone; trouble is waited out.
//
// An execution has at most one write in a group: a second one waits for the next, so that writes to one execution never
// overtake each other and every decision is made on the current row of the database.
import { StoreRefusedError, StoreUnavailableError } from "@andante/core/errors";
import type { Connection } from "../connection/connection.ts";
import { isPreparedFault, kindOf, problemOf, tookTooLong } from "../connection/trouble.ts";
import type { GroupItem } from "./item.ts";
import { KnownSequences } from "./known-sequences.ts";
import { LockedRows } from "./locked-rows.ts";
import { checkWritable, type GroupSettings, performGroup, UnknownOutcome } from "./transaction.ts";
import { canComeAgain, isLate, refuse, refuseLater, type Waiting } from "./waiting.ts";

/** Milliseconds between two tries while the database is in trouble. */
const [minPause, maxPause] = [20, 1_000];

/** Milliseconds that a group waits for a row, at most, before the one that is locked is looked for. */
const groupPatience = 1_000;

/** Milliseconds that a row is waited for which may be locked; as long, others come first after that. */
const lockedPatience = 100;

/** The most writes in one transaction, and about as many characters: the size of one message is bounded. */
const maxItems = 500;
const maxLength = 4_000_000;

export interface LaneOptions extends Omit<GroupSettings, "known"> {
  readonly connection: Pick<Connection, "query" | "drop" | "neverPrepare" | "close">;
  /** Called with the executions that a group has written to, after its commit. */
  written(executionIds: readonly string[]): void;
  /** Called when the trouble ends: other lanes try again at once. */
  healed(): void;
  /** Called with a claim that was taken after its caller was refused. */
  giveBack(claim: { readonly executionId: string; readonly token: string }): void;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #known = new KnownSequences();
  #waiting: Waiting[] = [];
  /** Those whose rows are locked, until they are tried again. Writes to one execution are either there or in `#waiting`. */
  readonly #locked = new LockedRows<Waiting>();
  #lockedTimer: NodeJS.Timeout | undefined;
  /** Until then rows that are locked are tried only when nothing else waits. */
  #othersFirstUntil = 0;
  #scheduled = false;
  #running = false;
  #pause = 0;
  #trouble: unknown;
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  #closed = false;
  readonly #idle: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Why the last group failed; undefined when it did not. */
  get trouble(): unknown {
    return this.#trouble;
  }

  add(item: GroupItem): void {
    if (this.#pause > 0 && item.isIntake) return item.reject(this.#unavailable());
    const waiting: Waiting = { ...item, refused: false };
    if (this.#locked.keep(waiting)) waiting.lockedSince = performance.now();
    else this.#waiting.push(waiting);
    this.#schedule();
  }

  /** Performs the waiting writes within this time; the rest is refused. */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    this.retry();
    this.#schedule();
    if (this.#running || this.#hasWork) {
      const drained = new Promise<void>((resolve) => this.#idle.push(resolve));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds);
      });
      await Promise.race([drained, late]);
      clearTimeout(timer);
    }
    clearTimeout(this.#timer);
    clearTimeout(this.#lockedTimer);
    this.#closed = true;
    this.#refuseAll();
    await this.#options.connection.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#running || this.#pause > 0) return;
    this.#scheduled = true;
    // Not a microtask: that would send the writes of one request, where this gathers those of one turn of the event loop.
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  /** Tries again at once, if it is waiting for that. */
  retry(): void {
    if (this.#pause === 0 || this.#running) return;
    clearTimeout(this.#timer);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    clearTimeout(this.#lockedTimer);
    // With nothing to try again, the trouble ends when the database can be written to.
    if (this.#pause > 0 && this.#waiting.length === 0) await this.#probe();
    while (this.#pause === 0 || this.#waiting.length > 0) {
      const locked = this.#takeLocked();
      if (locked === undefined && this.#waiting.length === 0) break;
      const left = await (locked === undefined ? this.#attempt(this.#take()) : this.#tryLocked(locked));
      if (left === undefined) continue;
      this.#stall(left);
      break;
    }
    this.#running = false;
    if (!this.#hasWork) for (const resolve of this.#idle.splice(0)) resolve();
    const nextTry = this.#locked.nextTry;
    if (nextTry !== undefined)
      this.#lockedTimer = setTimeout(() => this.#schedule(), Math.max(0, nextTry - performance.now()));
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || !this.#locked.isEmpty;
  }

  #takeLocked(): Waiting | undefined {
    const now = performance.now();
    const othersFirst = this.#closing || now < this.#othersFirstUntil;
    if (this.#pause > 0 || (othersFirst && this.#waiting.length > 0)) return undefined;
    return this.#locked.take(now, this.#closing);
  }

  async #tryLocked(item: Waiting): Promise<readonly Waiting[] | undefined> {
    const left = await this.#attempt([item], lockedPatience);
    for (const each of left ?? []) this.#locked.putBack(each);
    if (left !== undefined) return [];
    this.#waiting.push(...this.#locked.freed(item));
    return undefined;
  }

  async #probe(): Promise<void> {
    try {
      const query = await this.#options.connection.query();
      await checkWritable(query);
      this.#heal();
    } catch (error) {
      this.#options.connection.drop();
      this.#trouble = error;
      if (!this.#closing || this.#hasWork) this.#stall([]);
    }
  }

  #heal(): void {
    const wasIll = this.#pause > 0;
    this.#pause = 0;
    this.#trouble = undefined;
    if (wasIll) this.#options.healed();
  }

  #take(): Waiting[] {
    const group: Waiting[] = [];
    const left: Waiting[] = [];
    const taken = new Set<string>();
    let length = 0;
    for (const item of this.#waiting) {
      const fits = group.length < maxItems && (length === 0 || length + item.length <= maxLength);
      if (fits && !taken.has(item.executionId)) {
        group.push(item);
        length += item.length;
      } else left.push(item);
      taken.add(item.executionId);
    }
    this.#waiting = left;
    return group;
  }

  /** Performs a group. When the database fails it returns the writes that have to wait. */
  async #attempt(
    group: readonly Waiting[],
    lockPatience = groupPatience,
  ): Promise<readonly Waiting[] | undefined> {
    const { timeouts } = this.#options;
    const lock = Math.min(timeouts.lock, lockPatience);
    const settings = { ...this.#options, timeouts: { ...timeouts, lock }, known: this.#known };
    try {
      const query = await this.#options.connection.query();
      const results = await performGroup(query, settings, group);
      this.#heal();
      for (const [index, item] of group.entries()) {
        const outcome = results[index] ?? "again";
        if (outcome === "again") this.#waiting.unshift(item);
        else this.#settle(item, outcome);
      }
      this.#options.written(group.map(({ executionId }) => executionId));
      return undefined;
    } catch (error) {
      return this.#failed(group, error, lockPatience);
    }
  }

  async #failed(
    group: readonly Waiting[],
    error: unknown,
    lockPatience: number,
  ): Promise<readonly Waiting[] | undefined> {
    const unknown = error instanceof UnknownOutcome;
    const cause = unknown ? error.cause : error;
    const kind = unknown ? "trouble" : kindOf(error);
    const mayHelp = isPreparedFault(cause) && this.#options.connection.neverPrepare();
    if (mayHelp && !unknown) {
      this.#options.connection.drop();
      return this.#attempt(group, lockPatience);
    }
    if (kind === "refused") return this.#apart(group, error, lockPatience);
    if (kind === "clash")
      return tookTooLong(cause) ? this.#tookTooLong(group) : this.#attempt(group, lockPatience);
    this.#options.connection.drop();
    this.#trouble = cause;
    if (unknown) {
      for (const item of group) refuseLater(item, () => this.#unavailable());
      return group;
    }
    // Nothing of it was written now: calls that can be repeated need not wait, unless an earlier try may have written them.
    for (const item of group.filter(canComeAgain)) this.#refuse(item);
    return group.filter((item) => !canComeAgain(item));
  }

  /** Halves the group until the refused write is alone. */
  async #apart(
    group: readonly Waiting[],
    error: unknown,
    lockPatience: number,
  ): Promise<readonly Waiting[] | undefined> {
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      refuse(first, new StoreRefusedError({ operation: first.operation, cause: error }));
      return undefined;
    }
    return this.#halved(group, lockPatience);
  }

  /** Another client keeps a row locked: halves the group until that write is alone, and tries it again later. */
  async #tookTooLong(group: readonly Waiting[]): Promise<readonly Waiting[] | undefined> {
    const [first] = group;
    if (group.length > 1 || first === undefined) return this.#halved(group, lockedPatience);
    // A database that reports a lock is not in trouble.
    this.#heal();
    const now = performance.now();
    const behind = this.#waiting.filter(({ executionId }) => executionId === first.executionId);
    this.#waiting = this.#waiting.filter((item) => !behind.includes(item));
    for (const item of [first, ...behind]) item.lockedSince ??= now;
    this.#locked.found(first, behind, now);
    this.#othersFirstUntil = now + lockedPatience;
    for (const item of this.#locked.remove((each) => isLate(each, now))) this.#refuse(item);
    if (this.#closed) this.#refuseAll();
    return undefined;
  }

  async #halved(group: readonly Waiting[], lockPatience: number): Promise<readonly Waiting[] | undefined> {
    const middle = Math.ceil(group.length / 2);
    const left = await this.#attempt(group.slice(0, middle), lockPatience);
    const rest = group.slice(middle);
    return left === undefined ? this.#attempt(rest, lockPatience) : [...left, ...rest];
  }

  #stall(left: readonly Waiting[]): void {
    if (this.#closed) {
      for (const item of left) this.#refuse(item);
      return this.#refuseAll();
    }
    this.#pause = Math.min(maxPause, this.#pause === 0 ? minPause : this.#pause * 2);
    const refused = [...this.#waiting.filter(canComeAgain), ...this.#locked.remove(canComeAgain)];
    for (const item of refused) this.#refuse(item);
    this.#waiting = [...left, ...this.#waiting.filter((item) => !canComeAgain(item))];
    this.#timer = setTimeout(() => this.#run(), this.#pause);
  }

  #settle(item: Waiting, result: () => void): void {
    clearTimeout(item.timer);
    if (!item.refused) return result();
    const { executionId, claims } = item;
    if (claims !== undefined) this.#options.giveBack({ executionId, token: claims });
  }

  #refuseAll(): void {
    for (const item of [...this.#waiting.splice(0), ...this.#locked.remove(() => true)]) this.#refuse(item);
  }

  #refuse(item: Waiting): void {
    refuse(item, this.#unavailable());
  }

  #unavailable(): StoreUnavailableError {
    const cause = this.#trouble;
    const closed = this.#closing && cause === undefined;
    const problem = closed ? "the store is closed" : problemOf(cause);
    return new StoreUnavailableError({ cause: new Error(problem, { cause }) });
  }
}
