// Ends a test run with a line for each failure and one plain line that counts. Errors outside a test count too. A test that
// failed and passed when it was run again is listed as flaky.
import type { Reporter, SerializedError, TestModule } from "vitest/node";

const firstLine = (error: SerializedError | undefined) => String(error?.message).split("\n", 1)[0];

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    const flaky: string[] = [];
    const failures: string[] = unhandled.map(
      (error) =>
        `unhandled error: ${firstLine(error)} ${error.stack?.split("\n").slice(1, 4).join(" ") ?? ""}`,
    );
    for (const module of modules) {
      const file = module.relativeModuleId;
      failures.push(...module.errors().map((error) => `${file}: ${firstLine(error)}`));
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        const failure = `${file}: ${test.fullName}: ${state}: ${firstLine(errors?.[0])}`;
        if (state === "passed") passed++;
        else failures.push(failure);
        if (test.diagnostic()?.flaky === true) flaky.push(failure);
      }
    }
    const lines = [
      ...flaky.map((failure) => `FLAKY: ${failure}\n`),
      ...failures.map((failure) => `FAILED: ${failure}\n`),
    ].join("");
    process.stdout.write(`\n${lines}${passed} passed, ${failures.length} failed\n`);
  }
}
