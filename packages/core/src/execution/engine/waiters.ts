// Who waits for which execution: notified once, when it next suspends, ends, or leaves this process.
import { TurnoverMap } from "../../values/turnover-map.ts";
import type { Settlement } from "../run/settlement.ts";

/** Someone waits for an execution. */
export interface Wait {
  readonly settled: Promise<Settlement>;
  /** Stops waiting. */
  cancel(): void;
}

export class Waiters {
  /** Lists, not sets: nearly always one waits. */
  readonly #waiting = new TurnoverMap<string, ((settlement: Settlement) => void)[]>();

  wait(executionId: string): Wait {
    const { promise, resolve } = Promise.withResolvers<Settlement>();
    const waiting = this.#waiting.get(executionId);
    if (waiting === undefined) this.#waiting.set(executionId, [resolve]);
    else waiting.push(resolve);
    return { settled: promise, cancel: () => this.#cancel(executionId, resolve) };
  }

  has(executionId: string): boolean {
    return this.#waiting.has(executionId);
  }

  /** The executions that callers wait for. */
  keys(): readonly string[] {
    return this.#waiting.keys();
  }

  #cancel(executionId: string, resolve: (settlement: Settlement) => void): void {
    const waiting = this.#waiting.get(executionId);
    const place = waiting?.indexOf(resolve) ?? -1;
    if (waiting === undefined || place === -1) return;
    waiting.splice(place, 1);
    if (waiting.length === 0) this.#waiting.delete(executionId);
  }

  settle(executionId: string, settlement: Settlement): void {
    const waiting = this.#waiting.get(executionId);
    if (waiting === undefined) return;
    this.#waiting.delete(executionId);
    for (const resolve of waiting) resolve(settlement);
  }

  settleAll(settlement: Settlement): void {
    for (const executionId of this.#waiting.keys()) this.settle(executionId, settlement);
  }
}
