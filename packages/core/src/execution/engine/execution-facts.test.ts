// The usage of an execution: today's, or that at the moment when a suspension was resumed.
import { expect, test } from "vitest";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { NewEvent, StepUsage } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import { factsOf } from "./execution-facts.ts";

const usage = (calls: number): StepUsage => ({
  inputTokens: calls,
  outputTokens: 0,
  totalTokens: calls,
  calls,
});
const called = (used: StepUsage | undefined): NewEvent => ({
  type: "checkpoint-complete",
  ...{ timestamp: 5, path: "one#call[0]", stepIndex: 0, stepType: "andAgent", output: "1", startedAt: 4 },
  ...{ attempt: 1, call: undefined, usage: used },
});
const resumed = (suspensionId: string): NewEvent => ({
  ...{ timestamp: 5, path: "one", stepIndex: 0, suspensionId, resumeData: "1", userId: undefined },
  ...{ byDeadline: false, expired: false },
  type: "workflow-resumed",
});

function usedOn(events: readonly NewEvent[], total: StepUsage | null, exists = true) {
  const row = rowForTest({ sequence: events.length });
  const { engine } = engineForTest({
    state: async () => (exists ? { execution: row, suspensions: [], timers: [], usage: total } : undefined),
    events: async ({ after }) =>
      events.map((event, index) => ({ ...encodeEvent(event), sequence: index + 1 })).slice(after),
  });
  return factsOf(engine, row, { journal: new Journal(), lastAt: 1, timers: [], startAt: 0 });
}

const journal = [
  called(usage(1)),
  resumed("s1"),
  called(usage(2)),
  called(undefined),
  resumed("s2"),
  called(usage(4)),
];

test("today's usage is that of the row", async () => {
  expect(await usedOn(journal, usage(7)).used()).toEqual(usage(7));
  expect(await usedOn(journal, null).used()).toBeNull();
  expect(await usedOn(journal, usage(7), false).used()).toBeNull();
});

test("the usage at a resume is without the calls after it; the earliest resume comes first", async () => {
  const atResumes = async (facts: ReturnType<typeof usedOn>, ...ids: string[]) => [
    ...(await facts.usedAtResumes(new Set(ids))),
  ];
  expect(await atResumes(usedOn(journal, usage(7)), "s2", "s1", "s3")).toEqual([
    ["s1", usage(1)],
    ["s2", usage(3)],
  ]);
  // Usage that no event of the journal has was there before it.
  expect(await atResumes(usedOn(journal, usage(9)), "s2")).toEqual([["s2", usage(5)]]);
  expect(await atResumes(usedOn(journal.slice(0, 5), usage(3)), "s2")).toEqual([["s2", usage(3)]]);
  expect(await atResumes(usedOn([resumed("s1")], null), "s1")).toEqual([["s1", usage(0)]]);
  expect(await atResumes(usedOn(journal, usage(7), false), "s1")).toEqual([]);
});

test("an execution without a user has none, and its lines name the ids that it has", () => {
  const { engine, logger } = engineForTest();
  const facts = factsOf(engine, rowForTest({ userId: null, conversationId: "c1" }), {
    journal: new Journal(),
    lastAt: 1,
    timers: [],
    startAt: 0,
  });
  expect([facts.userId, facts.conversationId, facts.executionId, facts.workflowId, facts.context]).toEqual([
    ...[undefined, "c1", "e1", "nap", "{}"],
  ]);
  facts.logger.info({}, "a line");
  expect(logger.lines).toEqual([
    { level: "info", msg: "a line", workflowId: "nap", executionId: "e1", conversationId: "c1" },
  ]);
});
