// Work with a time limit.
//
// It runs inside a script with a time limit, which interrupts regular expressions too: `^(a+)+$` on 40 letters was
// interrupted after 114 ms with a limit of 100. A call costs 0.15 ms.
import { createContext, Script } from "node:vm";
import { propertyOf } from "./fields.ts";

/** The part of its time on the processor after which work is given up for its own cost, and not tried again. */
const ownPart = 0.8;

/** Tries of work that a caller waits for: each has up to twice the wall time of the one before. */
export const requestTries = 3;

/** The wall time of all tries of `withinLimit` together, as a multiple of its limit. */
export const longestTries = 2 ** requestTries - 1;

/** Does the work, which is interrupted after this many milliseconds on the processor. */
export function withinLimit<T>(work: () => T, milliseconds: number): T {
  let wall = milliseconds;
  for (let left = requestTries; ; left--) {
    const tried = tryWithin(work, milliseconds, wall);
    if ("outcome" in tried) return tried.outcome;
    if (left === 1) throw tried.timeout;
    wall = tried.wall;
  }
}

/** One try: the outcome of the work, or the timeout and the wall time for another try. */
export type Tried<T> = { readonly outcome: T } | { readonly timeout: unknown; readonly wall: number };

/**
 * Does the work once, for up to `wall` milliseconds: only wall time interrupts. Throws the timeout where the work had its
 * `milliseconds` of the processor. Otherwise other processes had it, and the next try has as much wall time as the same
 * share of the processor requires; but at most twice as much, because the share may have grown by then.
 */
export function tryWithin<T>(work: () => T, milliseconds: number, wall: number): Tried<T> {
  const before = processorTime();
  try {
    return { outcome: onceWithinLimit(work, wall) };
  } catch (timeout) {
    const worked = processorTime() - before;
    if (!isTimeout(timeout) || worked >= ownPart * milliseconds) throw timeout;
    return { timeout, wall: Math.ceil(wall * Math.min(2, milliseconds / worked)) };
  }
}

/** Milliseconds that this thread has worked; in Node before 22.19 those of the whole process. */
function processorTime(): number {
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

function onceWithinLimit<T>(work: () => T, timeout: number): T {
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
