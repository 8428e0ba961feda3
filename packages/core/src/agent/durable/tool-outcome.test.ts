// Outcomes of tools, recorded and read again.
import { expect, test } from "vitest";
import { PublicError } from "../../errors/index.ts";
import type { JsonText } from "../../values/json.ts";
import { readOutcome, readWritten, writeError, writeOutput } from "./tool-outcome.ts";

test("an output is read as it was; one that is undefined is undefined", () => {
  expect(readOutcome(writeOutput({ a: [1, null] }, "ask#call[0].tool[0]"))).toEqual({ a: [1, null] });
  expect(readOutcome(writeOutput(undefined, "ask#call[0].tool[0]"))).toBeUndefined();
  expect(() => writeOutput(1n, "ask#call[0].tool[0]")).toThrow("Output of tool ask#call[0].tool[0]");
});

test("data parts are kept with either, and do not become the output", () => {
  const wrote = [{ type: "data-x", data: 1 }] as const;
  for (const text of [
    writeOutput(5, "t", wrote),
    writeOutput(undefined, "t", wrote),
    writeError("no", wrote),
  ])
    expect(readWritten(text)).toEqual(wrote);
  expect(readOutcome(writeOutput(5, "t", wrote))).toBe(5);
  expect(readOutcome(writeOutput(undefined, "t", wrote))).toBeUndefined();
  expect(readWritten(writeOutput(5, "t"))).toEqual([]);
});

test("an error is thrown again with its name and its words, and stays one for callers", () => {
  const thrown = (text: JsonText) => {
    try {
      return readOutcome(text);
    } catch (error) {
      return error;
    }
  };
  const range = thrown(writeError(new RangeError("too far")));
  expect(range).toMatchObject({ name: "RangeError", message: "too far" });
  expect(range).not.toBeInstanceOf(PublicError);
  expect(thrown(writeError(new PublicError("no paper")))).toBeInstanceOf(PublicError);
  expect(thrown(writeError({ code: 7 }))).toEqual({ code: 7 });
  expect(thrown(writeError(undefined))).toBe("undefined");
});

test("an error that JSON cannot hold is thrown again as text", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(() => readOutcome(writeError(circle))).toThrow("[object Object]");
  expect(() => readOutcome(writeError(12n))).toThrow("12");
});
