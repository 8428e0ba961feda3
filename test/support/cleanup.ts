// Closes the resources of a test: after the test, or after the last one of the block that opened them.
import { afterAll, onTestFinished, TestRunner } from "vitest";

/** Call it in a test, in `beforeEach`, or where tests are declared. The last opened is closed first. */
export function cleanup(close: () => unknown): void {
  const register = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished;
  register(async () => {
    await close();
  });
}
