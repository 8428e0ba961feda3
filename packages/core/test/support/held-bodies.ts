// Bodies that end on request of a test, and how many of them ran at once.
import { inTime } from "./in-time.ts";

export interface HeldBodies {
  /** How many ran at once, at most. */
  readonly most: number;
  /** The input of each, in the order in which they began. */
  readonly order: readonly unknown[];
  /** The body: ends on request. */
  run(what: unknown): Promise<void>;
  /** Resolves when so many run. */
  reach(count: number): Promise<void>;
  /** Ends the first; false when none runs. */
  finishOne(): boolean;
  /** Ends each as soon as it begins, until so many have begun. */
  finishAll(total: number): Promise<void>;
  /** Those that run now belong to a process that is gone. */
  forget(): void;
}

export function heldBodies(): HeldBodies {
  const held: (() => void)[] = [];
  const order: unknown[] = [];
  let most = 0;
  let begun = Promise.withResolvers<void>();
  const bodies: HeldBodies = {
    get most() {
      return most;
    },
    order,
    run: (what) =>
      new Promise<void>((resolve) => {
        order.push(what);
        held.push(resolve);
        most = Math.max(most, held.length);
        begun.resolve();
        begun = Promise.withResolvers();
      }),
    async reach(count) {
      while (held.length < count) await inTime(begun.promise, "the start of a body");
    },
    finishOne() {
      const finish = held.shift();
      finish?.();
      return finish !== undefined;
    },
    async finishAll(total) {
      while (order.length < total || held.length > 0) {
        if (held.length === 0) await inTime(begun.promise, "the start of a body");
        while (bodies.finishOne());
      }
    },
    forget() {
      held.length = 0;
      order.length = 0;
      most = 0;
    },
  };
  return bodies;
}
