// The waits of one execution: open suspensions, sleeping fibers, and their timers in the store.
import type { Suspension, Timer } from "../../store/store.ts";
import type { Fiber } from "./fibers.ts";
import type { LoadedExecution } from "./loaded-execution.ts";
import { PathsBelow } from "./paths-below.ts";
import { Sleepers } from "./sleepers.ts";

export class OpenWaits {
  readonly sleepers = new Sleepers();
  readonly #open = new Map<string, Suspension>();
  /** The paths of both. */
  readonly #paths = new PathsBelow();
  /** The timers that the store holds, or will with the next commits, by path. Their times count, not those of a new count. */
  readonly #timers: Map<string, number>;

  constructor({ suspensions, timers }: Pick<LoadedExecution, "suspensions" | "timers">) {
    for (const suspension of suspensions)
      if (suspension.path !== null) this.open(suspension.path, suspension);
    this.#timers = new Map(timers.map(({ path, dueAt }) => [path, dueAt]));
    // Those of calls: a body that runs again may not wait for them any more.
    for (const { path } of timers) if (path.includes("#")) this.#paths.add(path);
  }

  /** The suspension that has been open longest is the first. */
  get suspensions(): Iterable<Suspension> {
    return this.#open.values();
  }

  get timers(): readonly Timer[] {
    return Array.from(this.#timers, ([path, dueAt]) => ({ path, dueAt }));
  }

  /** The earliest deadline of the open suspensions; infinite without one. */
  get firstDeadline(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { deadline } of this.#open.values()) if (deadline !== null) first = Math.min(first, deadline);
    return first;
  }

  /** Every wait below this step, at any depth. */
  below(path: string): readonly string[] {
    return this.#paths.of(path);
  }

  suspension(path: string): Suspension | undefined {
    return this.#open.get(path);
  }

  open(path: string, suspension: Suspension): void {
    this.#open.set(path, suspension);
    this.#paths.add(path);
  }

  /** No suspension is open at this path any more; false when none was. */
  close(path: string): boolean {
    this.#paths.delete(path);
    return this.#open.delete(path);
  }

  /** The fiber sleeps until this time, or until that of the timer that the store holds. True: it needs a new timer. */
  sleep(path: string, fiber: Fiber, at: number, now: number): boolean {
    const stored = this.#timers.get(path);
    this.sleepers.add(path, fiber, stored ?? at);
    this.#paths.add(path);
    if (stored !== undefined || at <= now) return false;
    this.#timers.set(path, at);
    return true;
  }

  /** Nothing sleeps at this path any more. True: its timer is not needed. */
  wake(path: string): boolean {
    this.#paths.delete(path);
    this.sleepers.delete(path);
    return this.#timers.delete(path);
  }
}
