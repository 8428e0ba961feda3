// Closes what a test has opened: after the test, or after the last one of the block that it was opened for.
import { afterAll, onTestFinished, TestRunner } from "vitest";

/** Call it in a test, in `beforeEach`, or where tests are declared. What was opened last is closed first. */
export function afterwards(close: () => unknown): void {
  const register = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished;
  register(async () => {
    await close();
  });
}
