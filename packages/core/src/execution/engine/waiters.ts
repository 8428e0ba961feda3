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
  readonly #waiting = new TurnoverMap<string, Set<(settlement: Settlement) => void>>();

  wait(executionId: string): Wait {
    const waiting = this.#waiting.get(executionId) ?? new Set();
    this.#waiting.set(executionId, waiting);
    const { promise, resolve } = Promise.withResolvers<Settlement>();
    waiting.add(resolve);
    const cancel = () => {
      waiting.delete(resolve);
      if (waiting.size === 0 && this.#waiting.get(executionId) === waiting) this.#waiting.delete(executionId);
    };
    return { settled: promise, cancel };
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
