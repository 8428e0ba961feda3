// Limits: their defaults, the values that are refused, and sizes just below and just above them.
import { expect, test } from "vitest";
import { event } from "../../store-cases/store-cases.ts";
import {
  type AndanteLimits,
  checkOutput,
  checkSize,
  JournalGauge,
  limitOf,
  repliesLimit,
  runningLimit,
  StateGauge,
  sizeLimits,
  userShareOf,
  withinContainer,
  withinResult,
} from "./limits.ts";

const mebibyte = 1024 * 1024;

test("the defaults are those of the documentation", () => {
  expect(sizeLimits({})).toEqual({
    ...{ input: 4 * mebibyte, context: mebibyte, resumeData: 4 * mebibyte, reason: 64 * 1024 },
    ...{ output: 4 * mebibyte, containerOutput: 16 * mebibyte, state: 4 * mebibyte, result: 16 * mebibyte },
    journal: { events: 100_000, bytes: 256 * mebibyte },
  });
  expect([runningLimit({}), repliesLimit({}), userShareOf({})]).toEqual([1000, 1000, 0.5]);
});

test("given limits replace them", () => {
  const given = {
    input: 1,
    context: 2,
    resumeData: 3,
    reason: 4,
    output: 5,
    containerOutput: 6,
    state: 7,
    result: 8,
  };
  const journal = { events: 9, bytes: 10 };
  expect(sizeLimits({ ...given, journal })).toEqual({ ...given, journal });
  expect([runningLimit({ running: 2.7 }), repliesLimit({ agentReplies: 3.7 })]).toEqual([2, 3]);
  expect([userShareOf({ userShare: 1 }), userShareOf({ userShare: 0.01 })]).toEqual([1, 0.01]);
  expect(limitOf("x", 0, 5, 0)).toBe(0);
});

const sizes = [
  "input",
  "context",
  "resumeData",
  "reason",
  "output",
  "containerOutput",
  "state",
  "result",
] as const;

test.each<[string, () => unknown]>([
  ...sizes.map((name): [string, () => unknown] => [name, () => sizeLimits({ [name]: 0 })]),
  ["journal.events", () => sizeLimits({ journal: { events: 0 } })],
  ["journal.bytes", () => sizeLimits({ journal: { bytes: Number.NaN } })],
  ["running", () => runningLimit({ running: 0.9 })],
  ["agentReplies", () => repliesLimit({ agentReplies: -1 })],
])("limits.%s below 1 is refused", (name, read) => {
  expect(read).toThrow(`Option limits.${name}: expected a number of 1 or more`);
});

test.each([0, -0.1, 1.1, Number.NaN, "0.5"])("a share of %s is refused", (userShare) => {
  const untyped: object = { userShare };
  const limits: AndanteLimits = untyped;
  expect(() => userShareOf(limits)).toThrow("Option limits.userShare: expected a number above 0 and up to 1");
});

test("a limit that is no number is refused", () => {
  expect(() => limitOf("input", "10", 5)).toThrow("Option limits.input: expected a number of 1 or more");
});

test("sizes are bytes: up to the limit a text is passed on, above it the error names the option", () => {
  const limits = sizeLimits({ input: 6, output: 6, reason: 5 });
  for (const text of ["abcdef", "éàü", "ab", undefined]) {
    expect(checkSize(limits, "input", text, "Input")).toBe(text);
    expect(checkOutput(limits, text, "Output of step a")).toBe(text);
  }
  for (const text of ["abcdefg", "éàüa"]) {
    expect(() => checkSize(limits, "input", text, "Input")).toThrow(/^Input .*7.*6.*limits\.input/s);
    expect(() => checkOutput(limits, text, "Output of step a")).toThrow(
      /^Output of step a .*7.*6.*limits\.output/s,
    );
  }
  expect(() => checkOutput(limits, "abcdef", "Reason", "reason")).toThrow(/limits\.reason/);
});

test("a result or an output of a container that is too large is an error; other outcomes stay as they are", () => {
  const limits = sizeLimits({ result: 6, containerOutput: 7 });
  const output = (value: string) => ({ kind: "output", value }) as const;
  expect(withinResult(limits, output("abcdef"))).toEqual(output("abcdef"));
  expect(withinContainer(limits, output("abcdefg"), "all")).toEqual(output("abcdefg"));
  const bailed = { kind: "bailed", value: "abcdefghi" } as const;
  expect(withinResult(limits, bailed)).toBe(bailed);
  expect(withinResult(limits, output("abcdefg"))).toEqual({
    kind: "error",
    error: expect.objectContaining({
      ...{ name: "OutputLimitError", step: undefined },
      message: expect.stringMatching(/^Result of the workflow .*7.*6.*limits\.result/s),
    }),
  });
  expect(withinContainer(limits, output("abcdefgh"), "all")).toEqual({
    kind: "error",
    error: expect.objectContaining({
      step: "all",
      message: expect.stringMatching(/^Output of step all .*8.*7.*limits\.containerOutput/s),
    }),
  });
});

test("a state is measured with its patch, and again whenever its bound may exceed the limit", () => {
  const gauge = new StateGauge(sizeLimits({ state: 30 }));
  const state = new Map<string, unknown>();
  const set = (key: string, value: unknown) => {
    gauge.check(state, JSON.stringify({ [key]: value }), "one");
    state.set(key, value);
  };
  set("a", 1);
  set("b", 2);
  set("c", 3);
  set("a", "1234567890");
  expect(JSON.stringify(Object.fromEntries(state))).toHaveLength(30);
  expect(() => set("d", 1)).toThrow(/^State of the execution after step one .*36.*30.*limits\.state/s);
  // A key that is set again replaces its value.
  set("a", "0123456789");
});

const message = (outcome: unknown) =>
  String(Object(outcome).error?.message).replace("The journal of the execution holds ", "");

test("a journal is full above its number of events", () => {
  const gauge = new JournalGauge({ events: 3, bytes: 1000 }, 0);
  gauge.add([event("step-start")], 3);
  const one = { events: [event("step-start")], following: [] };
  expect(gauge.outcome).toBeUndefined();
  expect(gauge.outcomeWith({ events: [], following: [] })).toBeUndefined();
  expect(message(gauge.outcomeWith(one))).toMatch(/^4 events; the limit is 3 \(limits\.journal\.events\)/);
  expect(message(gauge.outcomeWith({ events: one.events, following: one.events }))).toMatch(/^5 events/);
  gauge.add([], 4);
  expect(gauge.outcome).toMatchObject({ kind: "error" });
  expect(message(gauge.outcome)).toMatch(/^4 events/);
});

test("a journal is full above its number of bytes, which resumes of others add to", () => {
  const value = { ...event("step-start"), value: "éà" };
  const empty = new JournalGauge({ events: 100, bytes: 1000 }, 0);
  empty.add([value], 1);
  const size = empty.bytes;
  expect(size).toBeGreaterThanOrEqual(4);
  const gauge = new JournalGauge({ events: 100, bytes: 2 * size + 2 }, 2);
  gauge.add([value], 1);
  expect(gauge.bytes).toBe(size + 2);
  expect(gauge.outcomeWith({ events: [value], following: [] })).toBeUndefined();
  expect(gauge.outcomeWith({ events: [], following: [value] })).toBeUndefined();
  expect(message(gauge.outcomeWith({ events: [value], following: [value] }))).toMatch(
    new RegExp(`^${3 * size + 2} bytes; the limit is ${2 * size + 2} \\(limits\\.journal\\.bytes\\)`),
  );
  gauge.addText("x".repeat(size));
  expect(gauge.outcome).toBeUndefined();
  gauge.addText("é");
  expect(message(gauge.outcome)).toMatch(new RegExp(`^${2 * size + 4} bytes`));
});
