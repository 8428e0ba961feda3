// Work with a time limit.
//
// It runs inside a script with a time limit, which interrupts regular expressions too: `^(a+)+$` on 40 letters was
// interrupted after 114 ms with a limit of 100. A call costs 0.15 ms.
import { createContext, Script } from "node:vm";
import { propertyOf } from "./fields.ts";

/** The limit is wall time: on a busy machine, work that got little of the processor is repeated. */
export const maxTries = 5;

/** Does the work, which is interrupted after this many milliseconds. */
export function withinLimit<T>(work: () => T, milliseconds: number): T {
  for (let tries = 1; ; tries++) {
    const before = processorTime();
    try {
      return onceWithinLimit(work, milliseconds);
    } catch (error) {
      const worked = processorTime() - before > milliseconds / 2;
      if (!isTimeout(error) || worked || tries >= maxTries) throw error;
    }
  }
}

/** Milliseconds that this thread has worked; in Node before 22.19 those of the whole process. */
export function processorTime(): number {
  const perThread: typeof process.threadCpuUsage | undefined = process.threadCpuUsage;
  const { user, system } = perThread === undefined ? process.cpuUsage() : perThread();
  return (user + system) / 1000;
}

/**
 * One context for all work, which runs one at a time: creating one costs ten times as much as using it. Not an
 * AsyncLocalStorage: with one, 2.6 MB of texts that do not fit took 720 MiB to validate, and less than 512 without.
 */
const sandbox: { run(): void } = { run: () => undefined };
const context = createContext(sandbox);
const script = new Script("run()");

/** Does the work once: the limit is wall time. */
export function onceWithinLimit<T>(work: () => T, timeout: number): T {
  const outcomes: T[] = [];
  sandbox.run = () => {
    outcomes.push(work());
  };
  try {
    script.runInContext(context, { timeout });
  } finally {
    // It would keep the value in memory until the next work.
    sandbox.run = () => undefined;
  }
  const [outcome] = outcomes;
  if (outcome === undefined) throw new TypeError("the work returned nothing");
  return outcome;
}

/** Thrown inside the script's own realm, so it is not an instance of our Error. */
export function isTimeout(error: unknown): boolean {
  return propertyOf(error, "code") === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
