// Which outcome of several branches decides, and why the others are stopped.
import { expect, test } from "vitest";
import { toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { abortReason, decides, earlier } from "./join.ts";

const output: Outcome = { kind: "output", value: "1" };
const bailed: Outcome = { kind: "bailed", value: "1" };
const thrown = new Error("too late");
const error: Outcome = { kind: "error", error: toFailure(thrown) };

test("all: a failure or a bail; race: anything but a failure; first: anything", () => {
  const deciding = (kind: Parameters<typeof decides>[0]) =>
    [output, bailed, error].filter((outcome) => decides(kind, outcome)).map(({ kind }) => kind);
  expect(deciding("all")).toEqual(["bailed", "error"]);
  expect(deciding("race")).toEqual(["output", "bailed"]);
  expect(deciding("first")).toEqual(["output", "bailed", "error"]);
});

test("the error of a timeout is the reason for stopping the others, also when only its message is left", () => {
  expect(abortReason("first", error)).toBe(thrown);
  const read: Outcome = { kind: "error", error: { name: "Error", message: "too late" } };
  expect(abortReason("first", read)).toEqual(new Error("too late"));
  const decided = new Error("Another branch has decided");
  expect([abortReason("race", error), abortReason("first", output)]).toEqual([decided, decided]);
});

test("the lower number was earlier; of two equal ones the known", () => {
  const ended = (sequence: number) => ({ outcome: output, sequence });
  const [one, same, later] = [ended(1), ended(1), ended(2)];
  expect(earlier(undefined, later)).toBe(later);
  expect(earlier(one, later)).toBe(one);
  expect(earlier(later, one)).toBe(one);
  expect(earlier(one, same)).toBe(one);
});
