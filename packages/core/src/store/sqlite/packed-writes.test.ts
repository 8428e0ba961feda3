// What crosses to the database thread arrives whole. `Required` makes the compiler ask for every field there is.
import { expect, test } from "vitest";
import type { Commit, NewExecution } from "../store.ts";
import type { WrittenEvent } from "../stored-event.ts";
import {
  isShort,
  isUsual,
  packCommit,
  packCreate,
  unpackCommit,
  unpackCreate,
  unpackShort,
  usualResult,
  usualResume,
} from "./packed-writes.ts";

const across = <Packed>(packed: Packed): Packed => JSON.parse(JSON.stringify(packed));

const event: WrittenEvent = {
  type: "step-complete",
  timestamp: 1,
  path: "a/b",
  stepIndex: 2,
  stepType: "andThen",
  value: { sameAs: -1 },
  detail: "{}",
};
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 4 };

const commit: Required<Omit<Commit, "others">> = {
  executionId: "e",
  token: "t",
  number: 3,
  after: 7,
  stepIndex: 1,
  progress: true,
  usage: null,
  events: [event, { ...event, value: "1" }],
  open: [],
  following: [{ ...event, path: null, value: null, detail: null }],
  closeEnded: [],
  closeBelow: [],
  timers: [],
  clear: [],
  end: { status: "completed", result: { sameAs: -1 }, error: null },
  idle: null,
};

const suspension = {
  suspensionId: "s",
  path: "a",
  stepIndex: 0,
  reason: "",
  data: null,
  suspendedAt: 1,
  deadline: null,
  onDeadline: null,
};

test.each<[string, Partial<Commit>]>([
  ["nothing else", {}],
  ["usage", { usage }],
  ["a suspension", { open: [suspension], end: null }],
  ["a container that closes", { closeBelow: ["a"] }],
  ["a step that ends while a call of its waits", { closeEnded: ["a"] }],
  ["a timer", { timers: [{ path: "a", dueAt: 5 }] }],
  ["a timer that goes", { clear: ["a"] }],
  ["an event of another writer", { others: { sequence: 6, at: 1 } }],
  ["a wish to go idle", { idle: { resumes: 2, event: null }, end: null, progress: false }],
])("a commit with %s", (_, fields) => {
  const made = { ...commit, ...fields };
  const packed = across(packCommit(made));
  expect(isShort(packed)).toBe(false);
  if (!isShort(packed)) expect(unpackCommit(packed)).toStrictEqual(made);
});

const short = { events: [{ ...event, value: "1" }], following: [{ ...event, value: null }] };

test.each<[string, Partial<Commit>]>([
  ["an end", {}],
  ["no end", { end: null }],
  ["outcomes alone", { following: [], end: null }],
  ["consequences alone", { events: [] }],
])("a short commit with %s", (_, fields) => {
  const made = { ...commit, ...short, ...fields };
  const packed = across(packCommit(made));
  expect(isShort(packed)).toBe(true);
  if (isShort(packed)) expect(unpackShort(packed)).toStrictEqual(made);
});

test.each<[string, Partial<Commit>]>([
  ["long", { events: [{ ...event, value: "1".repeat(5000) }] }],
  ["without events", { events: [], following: [] }],
])("a commit that is %s is not a short one", (_, fields) => {
  expect(isShort(packCommit({ ...commit, ...short, ...fields }))).toBe(false);
});

test("a commit whose owner does not say what it knows is not a short one", () => {
  const { after: _, ...made } = { ...commit, ...short };
  expect(isShort(packCommit(made))).toBe(false);
});

const execution: Required<NewExecution> = {
  executionId: "e",
  workflowId: "w",
  input: "{}",
  context: "{}",
  userId: "u",
  conversationId: "c",
  startAt: 1,
  timeoutAt: 2,
  claim: { owner: "o", token: "t" },
  events: [event],
  usage,
  tags: ["red"],
  definition: "d",
  trace: "",
  replay: { of: { executionId: "f", stepId: "s" }, stepIndex: 1, resumes: 2 },
};

test("a new execution with everything, and with nothing that is not needed", () => {
  expect(unpackCreate(across(packCreate(execution)))).toStrictEqual(execution);
  const { usage: _, tags: __, definition: ___, replay: ____, ...plain } = execution;
  expect(unpackCreate(across(packCreate(plain)))).toStrictEqual(plain);
});

test("the usual result of a commit is what follows the last event that its owner knows", () => {
  expect(usualResult(commit)).toStrictEqual({ kind: "ok", sequence: 10, idle: false });
  const idle = { resumes: 0, event: { ...event, value: null } };
  expect(usualResult({ ...commit, idle })).toStrictEqual({ kind: "ok", sequence: 11, idle: true });
  expect(usualResult({ ...commit, idle: { resumes: 0, event: null } })).toMatchObject({ sequence: 10 });
});

test("any other result is not the usual one", () => {
  const usual = usualResult(commit);
  expect(isUsual(commit, usual)).toBe(true);
  expect(isUsual(commit, { ...usual, kind: "paused" })).toBe(false);
  expect(isUsual(commit, { ...usual, sequence: 11 })).toBe(false);
  expect(isUsual(commit, { ...usual, idle: true })).toBe(false);
  const { after: _, ...unknown } = commit;
  expect(isUsual(unknown, usualResult(unknown))).toBe(false);
});

test("the usual result of a resume has its events after the last one, and not before it in time", () => {
  const { value: _, ...rest } = event;
  const events = [{ ...rest, value: "1" }];
  const resume = { executionId: "e", suspensionIds: ["s"], rewind: null, events, byDeadline: false };
  const claim = { owner: "o", token: "t" };
  const result = usualResume({ ...resume, claim, last: { sequence: 7, at: 5 } });
  expect(result).toStrictEqual({
    kind: "claimed",
    events: [{ ...rest, value: "1", sequence: 8, timestamp: 5 }],
  });
});
