// The check of results finds a result of another execution, and one that no run in the journal gave. Late runs are counted.
import { expect, test } from "vitest";
import { checkResults, lateRuns } from "./checks.ts";
import type { Remains } from "./remains.ts";

const execution = {
  execution_id: "chain-3",
  status: "completed",
  sequence: 1,
  owner: null,
  token: null,
  parked: null,
  suspensions: 0,
  timers: 0,
};
const value = JSON.stringify({ n: 3, run: "first" });
const remains = new Map<string, Remains>([
  [
    "chain-3",
    {
      execution,
      writes: [
        {
          key: null,
          events: [{ sequence: 1, fields: ["step-complete", 1, "s1", null, null, value, null] }],
        },
      ],
    },
  ],
]);

test.each([
  [{ n: 3, run: "first" }, 0],
  [{ n: 4, run: "first" }, 1],
  [{ n: 3, run: "second" }, 1],
  [null, 1],
])("%j", (result, problems) => {
  const told = { status: "completed", result };
  const started = [{ executionId: "chain-3", workflowId: "chain", told }];
  expect(checkResults(started, remains)).toHaveLength(problems);
});

test.each([
  ["first", 5, 0],
  ["second", 0, 0],
  ["second", 5, 1],
])("run %s that begins at %i", (run, at, late) => {
  const line = { executionId: "chain-3", path: "s1", attempt: 1, run, got: null, pid: 1, at };
  expect(lateRuns(remains, [line])).toBe(late);
});
