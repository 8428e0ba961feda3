// Work with a time limit: when it is done again, and when it is given up.
import { Script } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import { threadWorks } from "../../test/support/thread-works.ts";
import { isTimeout, requestTries, withinLimit } from "./within-limit.ts";

/** The first tries are interrupted. Not by the clock: on a busy machine a try may be over before its work begins. */
function interruptFirst(count: number) {
  const script = vi.spyOn(Script.prototype, "runInContext");
  onTestFinished(() => script.mockRestore());
  for (let n = 0; n < count; n++)
    script.mockImplementationOnce(() => {
      throw Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
    });
  return script;
}

function outcome(work: () => string, milliseconds: number): string {
  try {
    return withinLimit(work, milliseconds);
  } catch (error) {
    return isTimeout(error) ? "given up" : String(error);
  }
}

test("work that throws is not done again", () => {
  let runs = 0;
  const work = () => {
    runs++;
    throw new TypeError("no");
  };
  expect(() => withinLimit(work, 1000)).toThrow("no");
  expect(runs).toBe(1);
});

test("work that got little of the processor is done again, and not more often than the tries", () => {
  threadWorks(1);
  const script = interruptFirst(requestTries - 1);
  expect(outcome(() => "done", 1000)).toBe("done");
  expect(script).toHaveBeenCalledTimes(requestTries);
  const late = interruptFirst(requestTries);
  late.mockClear();
  expect(outcome(() => "done", 1000)).toBe("given up");
  expect(late).toHaveBeenCalledTimes(requestTries);
});

test("endless work that had the processor is interrupted, and not done again", () => {
  threadWorks(4);
  let runs = 0;
  const endless = () => {
    runs++;
    for (;;);
  };
  expect(outcome(endless, 5)).toBe("given up");
  // None, if the time of the try was over before the work began.
  expect(runs).toBeLessThanOrEqual(1);
});
