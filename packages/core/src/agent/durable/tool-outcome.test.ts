// Outcomes of tools, recorded and read again.
import { expect, test } from "vitest";
import { PublicError } from "../../errors/index.ts";
import type { JsonText } from "../../values/json.ts";
import { asRecorded, readOutcome, readWritten, writeError, writeOutput } from "./tool-outcome.ts";

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

test("the record is JSON with the output or the error, and the data where there is some", () => {
  const wrote = [{ type: "data-x", id: "i", data: 1 }] as const;
  expect(writeOutput({ a: 1 }, "t")).toBe('{"output":{"a":1}}');
  expect(writeOutput(undefined, "t")).toBe("{}");
  expect(writeOutput(5, "t", wrote)).toBe('{"output":5,"wrote":[{"type":"data-x","id":"i","data":1}]}');
  expect(writeOutput(undefined, "t", wrote)).toBe('{"wrote":[{"type":"data-x","id":"i","data":1}]}');
  expect(JSON.parse(writeError(new RangeError("far"), wrote) ?? "")).toEqual({
    error: { name: "RangeError", message: "far" },
    wrote,
  });
  expect(JSON.parse(writeError(new PublicError("no")) ?? "").error).toMatchObject({ public: true });
  expect(writeError({ code: 7 })).toBe('{"thrown":{"code":7}}');
});

test("the model reads the words that are recorded: without secrets", () => {
  const error = new Error("too far");
  expect(asRecorded(error, writeError(error))).toBe(error);
  expect(asRecorded({ code: 7 }, writeError({ code: 7 }))).toEqual({ code: 7 });
  const secret = new RangeError("key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD refused");
  const read = asRecorded(secret, writeError(secret));
  expect(read).toMatchObject({ name: "RangeError", message: expect.stringContaining("[redacted]") });
  expect(read).not.toBe(secret);
  expect(asRecorded(error, "{}")).toBe(error);
});

test("data that is none, and records that are damaged", () => {
  const wrote = [{ type: "data-x" }, { type: "x" }, 5, null, { type: 5 }];
  expect(readWritten(JSON.stringify({ wrote }))).toEqual([{ type: "data-x" }]);
  expect(readWritten('{"wrote":5}')).toEqual([]);
  expect(readWritten('{"output":"wrote"}')).toEqual([]);
  expect(readWritten(undefined)).toEqual([]);
  expect(readOutcome(undefined)).toBeUndefined();
  expect(() => readOutcome("[]")).toThrow("The recorded outcome of a tool: it is not a JSON object");
});
