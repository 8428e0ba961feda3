// The fibers of one execution that wait for a time.
import type { Fiber } from "./fibers.ts";

interface Sleeper {
  readonly fiber: Fiber;
  readonly at: number;
}

export class Sleepers {
  /** Made for the first one: most executions never sleep. */
  #sleeping: Map<string, Sleeper> | undefined;
  /** The earliest of their times; searched for again only after one has gone. */
  #next: number | undefined;

  add(path: string, fiber: Fiber, at: number): void {
    this.#sleeping ??= new Map();
    this.#sleeping.set(path, { fiber, at });
    if (this.#next !== undefined) this.#next = Math.min(this.#next, at);
  }

  delete(path: string): void {
    this.#next = undefined;
    this.#sleeping?.delete(path);
  }

  has(path: string, fiber?: Fiber): boolean {
    const sleeper = this.#sleeping?.get(path);
    return sleeper !== undefined && (fiber === undefined || sleeper.fiber === fiber);
  }

  /** The earliest time that one of them waits for. */
  get next(): number | undefined {
    if (this.#next !== undefined || !this.#sleeping?.size) return this.#next;
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#sleeping.values()) next = Math.min(next, at);
    this.#next = next;
    return next;
  }

  /** Those whose time has come, in the order of their times. */
  due(now: number): readonly (Sleeper & { readonly path: string })[] {
    const due = [];
    for (const [path, sleeper] of this.#sleeping ?? []) if (sleeper.at <= now) due.push({ path, ...sleeper });
    return due.sort((a, b) => a.at - b.at);
  }
}
