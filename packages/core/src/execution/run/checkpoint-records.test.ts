// Checkpoints on their way to the journal: each is recorded once, and its body continues once it is committed.
import { expect, test } from "vitest";
import { runCommand } from "../../../test/support/run-command.ts";
import { Journal } from "../../journal/journal.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { CheckpointRecords } from "./checkpoint-records.ts";
import { CommitBatch } from "./commit-batch.ts";

const command = runCommand("a");
const done = (path: string) => ({ path, output: "1", startedAt: 900, attempt: 1 });

function recordsOf() {
  const journal = new Journal();
  journal.started("a", 0, "1", 900);
  const records = new CheckpointRecords(journal, new TestClock({ start: 1000, skipSleeps: false }));
  const batch = new CommitBatch();
  const settled: string[] = [];
  const add = (path: string) =>
    records.done(batch, command, done(path)).then(
      () => settled.push(`${path} done`),
      (error: Error) => settled.push(`${path}: ${error.message}`),
    );
  /** The events of the batch are committed. */
  const commit = (...paths: readonly string[]) =>
    records.committed(
      batch.events.flatMap((event, index) =>
        "path" in event && paths.includes(event.path ?? "") ? [{ ...event, sequence: index + 2 }] : [],
      ),
    );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { journal, records, batch, settled, add, commit, turn };
}

test("one is recorded once, and both its callers continue with the commit", async () => {
  const { batch, settled, add, commit, turn, journal } = recordsOf();
  void add("a#x");
  void add("a#y");
  void add("a#x");
  expect(batch.events).toMatchObject([
    { type: "checkpoint-complete", path: "a#x", timestamp: 1000, startedAt: 900 },
    { type: "checkpoint-complete", path: "a#y" },
  ]);
  expect(journal.checkpoints?.get("a#x")?.recorded).toBe(true);
  await turn();
  expect(settled).toEqual([]);
  commit("a#x");
  await turn();
  expect(settled).toEqual(["a#x done", "a#x done"]);
  // Later ones find it in the journal.
  await add("a#x");
  expect([settled.length, batch.events.length]).toEqual([3, 2]);
});

test("only checkpoints that are complete let a body continue", async () => {
  const { records, batch, settled, add, turn, journal } = recordsOf();
  records.failed(batch, command, {
    path: "a#x",
    error: { name: "E", message: "no" },
    attempt: 1,
    retryAt: 2000,
  });
  expect(batch.events).toMatchObject([
    { type: "checkpoint-retry", path: "a#x", timestamp: 1000, retryAt: 2000 },
  ]);
  expect(journal.checkpoints?.get("a#x")?.recorded).not.toBe(true);
  void add("a#x");
  const [retry] = batch.events;
  if (retry === undefined) throw new Error("nothing was recorded");
  records.committed([{ ...retry, sequence: 2 }]);
  await turn();
  expect(settled).toEqual([]);
});

test("one of a body whose step has ended without it is not recorded", async () => {
  const { batch, settled, add, journal } = recordsOf();
  journal.ended("a", 0, { kind: "output", value: "1" }, 2);
  await add("a#x");
  expect([settled, batch.events]).toEqual([["a#x done"], []]);
});

test("when the execution leaves, those that wait are rejected", async () => {
  const { records, settled, add, commit, turn } = recordsOf();
  void add("a#x");
  void add("a#y");
  commit("a#x");
  records.abandon();
  records.abandon();
  await turn();
  expect(settled).toEqual(["a#x done", "a#y: The execution is no longer run here"]);
});
