// Keeps the order of times that passed while no process ran: sleeps end one after another, deadlines wait for earlier ones.
import type { Clock } from "../../values/clock.ts";
import { Alarm } from "./alarm.ts";
import type { ExecutionProgress } from "./execution-progress.ts";
import type { Fiber } from "./fibers.ts";

export interface LatenessOptions {
  readonly clock: Clock;
  readonly progress: Pick<ExecutionProgress, "nextWake" | "pacing"> & {
    readonly batch: Pick<ExecutionProgress["batch"], "starts">;
  };
  /** False while results wait to be consumed or committed; undefined while no time counts: it is paused or released. */
  isSettled(): boolean | undefined;
  /** Called when the time of the alarm has come. */
  wake(): void;
  /** Called when a deadline or timeout in the store is to be processed at this time. */
  limitIsDue(at: number): void;
}

export class Lateness {
  readonly #options: LatenessOptions;
  readonly #alarm: Alarm;
  /** Fibers that began while the execution was catching up; created for the first. */
  #late: Set<Fiber> | undefined;
  /** A deadline or timeout that has passed and waits for earlier times. */
  #heldLimit: number | undefined;

  constructor(options: LatenessOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => options.wake());
  }

  /** A body or a check of this fiber has begun. */
  began(fiber: Fiber): void {
    if (!this.#options.progress.pacing.isCatchingUp) return;
    this.#late ??= new Set();
    this.#late.add(fiber);
  }

  ended(fiber: Fiber): void {
    this.#late?.delete(fiber);
  }

  /** True while bodies run that began while the execution was catching up. */
  get hasLate(): boolean {
    return this.#late !== undefined && this.#late.size > 0;
  }

  /** Wakes the execution at this time; undefined for never. */
  setAlarm(at: number | undefined): void {
    this.#alarm.set(at);
  }

  /** True when a deadline or timeout of this time has to wait for earlier times; it is scheduled again then. */
  holds(limit: number): boolean {
    const at = this.#mayHappenAt(limit);
    if (at === undefined || at <= this.#now()) return false;
    this.#heldLimit = Math.min(this.#heldLimit ?? limit, limit);
    if (Number.isFinite(at)) this.#options.limitIsDue(at);
    return true;
  }

  /** Schedules the held limit once nothing earlier is left. */
  releaseLimit(): void {
    const held = this.#heldLimit;
    if (held === undefined || (this.#mayHappenAt(held) ?? 0) > this.#now()) return;
    this.#heldLimit = undefined;
    this.#options.limitIsDue(held);
  }

  stop(): void {
    this.releaseLimit();
    this.#alarm.cancel();
  }

  /** When a deadline or timeout may happen; infinite: after a sleep here that ends before it. */
  #mayHappenAt(limit: number): number | undefined {
    const { progress, isSettled } = this.#options;
    const settled = isSettled();
    if (settled === undefined) return undefined;
    const { nextWake, pacing, batch } = progress;
    if (nextWake !== undefined && nextWake <= limit) return Number.POSITIVE_INFINITY;
    if (settled && !this.hasLate && batch.starts.length === 0) return undefined;
    return pacing.earliest(limit);
  }

  #now(): number {
    return this.#options.clock.now();
  }
}
