// Group commit on one connection: what arrives while a transaction is under way goes into the next one; a refused item
// fails alone; trouble is waited out.
//
// An execution has at most one write in a group: a second one waits for the next, so that writes to one execution never
// overtake each other and every decision is made on the row as it stands in the database.
import { StoreRefusedError, StoreUnavailableError } from "@andante/core/errors";
import type { Connection } from "../connection/connection.ts";
import { isPreparedFault, kindOf, problemOf, tookTooLong } from "../connection/trouble.ts";
import type { GroupItem } from "./item.ts";
import { KnownSequences } from "./known-sequences.ts";
import { checkWritable, type GroupSettings, performGroup, UnknownOutcome } from "./transaction.ts";

/** Milliseconds between two tries while the database is in trouble. */
const minPause = 20;
const maxPause = 1_000;

/** Milliseconds that callers who can come again wait for a write of which it is not known whether it was made. */
const patience = 5_000;

/** Milliseconds that a row is waited for which is known to be locked, and between two tries. */
const lockedPatience = 100;
const lockedPause = 500;

/** The most writes in one transaction, and about as many characters: what crosses a connection in one piece is bounded. */
const maxItems = 500;
const maxLength = 4_000_000;

export interface LaneOptions extends Omit<GroupSettings, "known"> {
  readonly connection: Connection;
  /** Called with the executions that a group has written to, after its commit. */
  written(executionIds: readonly string[]): void;
  /** Called when trouble is over: others need not wait for their next try. */
  healed(): void;
  /** Called with a claim that was taken after its caller had been told that it was not. */
  giveBack(claim: { readonly executionId: string; readonly token: string }): void;
}

interface Waiting extends GroupItem {
  /** Its caller has been told that the store is not available. */
  told: boolean;
  timer?: NodeJS.Timeout;
  /** Another client keeps its row locked, seen first at this time: it is tried alone. */
  lockedSince?: number;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #known = new KnownSequences();
  #waiting: Waiting[] = [];
  /** Those whose rows are locked, until they are tried again. */
  readonly #aside = new Map<Waiting, NodeJS.Timeout>();
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
    const waiting: Waiting = { ...item, told: false };
    for (const { executionId } of this.#aside.keys())
      if (executionId === item.executionId) waiting.lockedSince = performance.now();
    this.#waiting.push(waiting);
    this.#schedule();
  }

  /** Writes what is waiting, within this time; the rest is refused. */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    for (const [item, timer] of this.#aside) this.#takeBack(item, timer);
    this.retry();
    if (this.#running || this.#waiting.length > 0) {
      const drained = new Promise<void>((resolve) => this.#idle.push(resolve));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds);
      });
      await Promise.race([drained, late]);
      clearTimeout(timer);
    }
    clearTimeout(this.#timer);
    this.#closed = true;
    for (const item of this.#waiting.splice(0)) this.#refuse(item);
    await this.#options.connection.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#running || this.#pause > 0) return;
    this.#scheduled = true;
    // Not a microtask: that would send what one request brings, where this gathers what one turn of the loop does.
    setImmediate(() => {
      this.#scheduled = false;
      this.#run();
    });
  }

  /** Tries again at once, if it is waiting for that. */
  retry(): void {
    if (this.#pause === 0 || this.#running) return;
    clearTimeout(this.#timer);
    this.#run();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    // With nothing to try again, the trouble ends when the database can be written to.
    if (this.#pause > 0 && this.#waiting.length === 0) await this.#probe();
    while (this.#waiting.length > 0) {
      const left = await this.#attempt(this.#take());
      if (left === undefined) continue;
      this.#stall(left);
      break;
    }
    this.#running = false;
    if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #probe(): Promise<void> {
    try {
      const query = await this.#options.connection.query();
      await checkWritable(query);
      this.#heal();
    } catch (error) {
      this.#options.connection.drop();
      this.#trouble = error;
      if (!this.#closing) this.#stall([]);
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
    // One whose row was locked must not hold up others.
    const alone = this.#waiting[0]?.lockedSince !== undefined;
    for (const item of this.#waiting) {
      const isAmong = alone ? group.length === 0 : item.lockedSince === undefined;
      const fits = isAmong && group.length < maxItems && (length === 0 || length + item.length <= maxLength);
      if (fits && !taken.has(item.executionId)) {
        group.push(item);
        length += item.length;
      } else left.push(item);
      taken.add(item.executionId);
    }
    this.#waiting = left;
    return group;
  }

  /** Performs a group. When the database is in trouble it returns what of it has to wait. */
  async #attempt(group: readonly Waiting[]): Promise<readonly Waiting[] | undefined> {
    const { timeouts } = this.#options;
    const lock = group[0]?.lockedSince === undefined ? timeouts.lock : lockedPatience;
    const settings = { ...this.#options, timeouts: { ...timeouts, lock }, known: this.#known };
    try {
      const query = await this.#options.connection.query();
      const results = await performGroup(query, settings, group);
      this.#heal();
      for (const [index, item] of group.entries()) {
        const outcome = results[index] ?? "again";
        if (outcome === "again") this.#waiting.unshift(item);
        else this.#tell(item, outcome);
      }
      this.#options.written(group.map(({ executionId }) => executionId));
      return undefined;
    } catch (error) {
      return this.#failed(group, error);
    }
  }

  async #failed(group: readonly Waiting[], error: unknown): Promise<readonly Waiting[] | undefined> {
    const unknown = error instanceof UnknownOutcome;
    const cause = unknown ? error.cause : error;
    const kind = unknown ? "trouble" : kindOf(error);
    const mayHelp = isPreparedFault(cause) && this.#options.connection.neverPrepare();
    if (mayHelp && !unknown) {
      this.#options.connection.drop();
      return this.#attempt(group);
    }
    if (kind === "refused") return this.#apart(group, error);
    if (kind === "clash") return tookTooLong(cause) ? this.#tookTooLong(group) : this.#attempt(group);
    this.#options.connection.drop();
    this.#trouble = cause;
    if (unknown) {
      for (const item of group) this.#tellLater(item);
      return group;
    }
    // Nothing of it was written: whoever can come again need not wait.
    for (const item of group) if (item.isIntake) this.#refuse(item);
    return group.filter((item) => !item.isIntake);
  }

  /** Halves the group until whatever is refused stands alone. */
  async #apart(group: readonly Waiting[], error: unknown): Promise<readonly Waiting[] | undefined> {
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      clearTimeout(first.timer);
      if (!first.told) first.reject(new StoreRefusedError({ operation: first.operation, cause: error }));
      return undefined;
    }
    return this.#halved(group);
  }

  /** Another client keeps a row locked: halves the group until that write stands alone, which is tried again later. */
  async #tookTooLong(group: readonly Waiting[]): Promise<readonly Waiting[] | undefined> {
    const since = performance.now();
    for (const item of group) item.lockedSince ??= since;
    const [first] = group;
    if (group.length > 1 || first === undefined) return this.#halved(group);
    // One that may have been written is not given up: its caller has been told, or is by its timer.
    const mayBeWritten = first.timer !== undefined || first.told;
    const isLate = since - (first.lockedSince ?? since) > patience;
    if (first.isIntake && !mayBeWritten && isLate) this.#refuse(first);
    else if (this.#closing) this.#waiting.push(first);
    else {
      const timer = setTimeout(() => this.#takeBack(first), lockedPause);
      this.#aside.set(first, timer);
    }
    return undefined;
  }

  #takeBack(item: Waiting, timer?: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#aside.delete(item);
    this.#waiting.push(item);
    this.#schedule();
  }

  async #halved(group: readonly Waiting[]): Promise<readonly Waiting[] | undefined> {
    const middle = Math.ceil(group.length / 2);
    const left = await this.#attempt(group.slice(0, middle));
    const rest = group.slice(middle);
    return left === undefined ? this.#attempt(rest) : [...left, ...rest];
  }

  #stall(left: readonly Waiting[]): void {
    if (this.#closed) {
      for (const item of [...left, ...this.#waiting.splice(0)]) this.#refuse(item);
      return;
    }
    this.#pause = Math.min(maxPause, this.#pause === 0 ? minPause : this.#pause * 2);
    const later = this.#waiting.filter((item) => !item.isIntake || item.timer !== undefined || item.told);
    for (const item of this.#waiting) if (!later.includes(item)) this.#refuse(item);
    this.#waiting = [...left, ...later];
    this.#timer = setTimeout(() => this.#run(), this.#pause);
  }

  #tell(item: Waiting, result: () => void): void {
    clearTimeout(item.timer);
    if (!item.told) return result();
    const { executionId, claims } = item;
    if (claims !== undefined) this.#options.giveBack({ executionId, token: claims });
  }

  /** It may have been written: it is repeated until that is known, but its caller does not wait for ever. */
  #tellLater(item: Waiting): void {
    if (!item.isIntake || item.timer !== undefined) return;
    item.timer = setTimeout(() => {
      item.told = true;
      item.reject(this.#unavailable());
    }, patience);
  }

  #refuse(item: Waiting): void {
    clearTimeout(item.timer);
    if (!item.told) item.reject(this.#unavailable());
  }

  #unavailable(): StoreUnavailableError {
    const cause = this.#trouble;
    const closed = this.#closing && cause === undefined;
    const problem = closed ? "the store is closed" : problemOf(cause);
    return new StoreUnavailableError({ cause: new Error(problem, { cause }) });
  }
}
