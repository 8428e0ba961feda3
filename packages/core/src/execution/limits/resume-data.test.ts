// The checks of resume data: its schema, its size, and values that are no JSON.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { sizeLimits } from "../limits/limits.ts";
import { checkResumeData } from "./resume-data.ts";

const schemas = new SchemaChecker(new RecordingLogger());
const check = vi.spyOn(schemas, "check").mockResolvedValue({ ok: true });
const checks = { executionId: "e1", limits: sizeLimits({ resumeData: 2000 }), schemas };
const accept = (data: unknown, schema?: Parameters<typeof checkResumeData>[2]) =>
  checkResumeData(checks, data, schema);
const refusal = (data: unknown, schema?: Parameters<typeof checkResumeData>[2]) =>
  accept(data, schema).then((text) => `accepted ${text}`, String);

test("the data is kept as JSON text, as its schema returned it; absent data is null", async () => {
  expect(await accept({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  expect(await accept(undefined)).toBe("null");
  expect(await accept("7", z.string().transform(Number))).toBe("7");
  expect(await accept(undefined, z.string().default("x"))).toBe('"x"');
  expect(await accept(undefined, z.undefined())).toBe("null");
});

test("data that does not fit, or is no JSON, is refused with the reason", async () => {
  expect(await refusal(5, z.string())).toMatch(/^ResumeValidationError: .*string/s);
  expect(await refusal(1n)).toMatch(/^ResumeValidationError: .*resumeData/s);
  const recursive = z.unknown().transform(() => {
    throw new RangeError("Maximum call stack size exceeded");
  });
  expect(await refusal(5, recursive)).toMatch(/^ResumeValidationError: .*it is nested too deeply/s);
  const broken = z.unknown().transform(() => {
    throw new TypeError("a mistake");
  });
  expect(await refusal(5, broken)).toBe("TypeError: a mistake");
  expect(await refusal("x".repeat(1998))).toContain("accepted");
  expect(await refusal("x".repeat(1999))).toMatch(/^TooLargeError: .*Resume data/s);
});

test("a JSON Schema has a time limit that grows with the data, up to a second", async () => {
  check.mockClear();
  expect(await accept("x", "{}")).toBe('"x"');
  expect(await accept("x".repeat(1500), "{}")).toHaveLength(1502);
  const large = { ...checks, limits: sizeLimits({}) };
  await checkResumeData(large, "x".repeat(2_000_000), "{}");
  expect(check.mock.calls.map(([schema, text, limit]) => [schema, text?.length, limit])).toEqual([
    ["{}", 3, 101],
    ["{}", 1502, 102],
    ["{}", 2_000_002, 1000],
  ]);
  check.mockResolvedValueOnce({ ok: false, detail: "no number", overran: false });
  expect(await refusal("x", "{}")).toMatch(/^ResumeValidationError: .*no number/s);
});
