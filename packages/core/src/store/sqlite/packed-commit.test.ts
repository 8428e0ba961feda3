// Commits cross to the database thread as lists where they have only events and an end, and as they are otherwise.
import { expect, test } from "vitest";
import { commitOf, event } from "../../store-cases/store-cases.ts";
import type { Commit } from "../store.ts";
import { packCommit, unpackCommit } from "./packed-commit.ts";

const usual: Commit = commitOf("one", {
  after: 4,
  events: [event("step-complete", { path: "first", stepIndex: 0, stepType: "andThen", value: '"\\u0000é"' })],
  following: [event("workflow-complete", { timestamp: 9, detail: "{}" })],
  end: { status: "completed", result: "1", error: null },
});

test("a commit with events and an end is a list, and returns from it as it was", () => {
  const packed = packCommit(usual);
  expect(packed).toBeInstanceOf(Array);
  expect(unpackCommit(JSON.parse(JSON.stringify(packed)))).toEqual(usual);
});

const suspension = { suspensionId: "s", path: "a", stepIndex: 0, reason: "why", data: null, suspendedAt: 1 };
const unusual: Partial<Commit>[] = [
  { others: { sequence: 3, at: 1 } },
  { usage: { calls: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
  { idle: { resumes: 0, event: null } },
  { open: [{ ...suspension, deadline: null, onDeadline: null }] },
  { closeEnded: ["a"] },
  { closeBelow: ["a"] },
  { timers: [{ path: "a", dueAt: 1 }] },
  { clear: ["a"] },
  { following: [] },
  { events: [{ ...event("step-complete"), value: { sameAs: -1 } }] },
  { events: [event("step-complete", { value: JSON.stringify("x".repeat(5000)) })] },
];

test("a commit that does not name the last event, or has a field of a later version, crosses as it is", () => {
  const { after: _, ...unplaced } = usual;
  expect(packCommit(unplaced)).toBe(unplaced);
  const later = { ...usual, later: 1 };
  expect(packCommit(later)).toBe(later);
});

test.each(unusual)("a commit with %o crosses as it is", (fields) => {
  const commit = { ...usual, ...fields };
  expect(packCommit(commit)).toBe(commit);
  expect(unpackCommit(commit)).toBe(commit);
});
