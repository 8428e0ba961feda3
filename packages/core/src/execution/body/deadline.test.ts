// The deadline that a body may ask for, and the part of it that is kept.
import { expect, test } from "vitest";
import { z } from "zod";
import { afterDeadline } from "../../store/suspension.ts";
import { readDeadline } from "./deadline.ts";

const now = 1_000_000;
const read = (options: object, schema?: z.ZodType) =>
  Reflect.apply(readDeadline, undefined, [options, schema, "ask", now]);

test("without one nothing is kept; one without an outcome fails the step", () => {
  expect(read({})).toEqual({ deadline: null, onDeadline: null });
  expect(read({ deadline: 500 })).toEqual({ deadline: now + 500, onDeadline: '"fail"' });
  expect(read({ deadline: "2s", onDeadline: "cancel" })).toEqual({
    deadline: now + 2000,
    onDeadline: '"cancel"',
  });
  expect(read({ deadline: new Date(5) })).toEqual({ deadline: 5, onDeadline: '"fail"' });
});

test("resume data is checked by the schema and kept as that returns it", () => {
  const schema = z.object({ approved: z.boolean().default(false) });
  const kept = read({ deadline: 1, onDeadline: { resume: {} } }, schema);
  expect(afterDeadline(kept.onDeadline)).toEqual({ resume: { approved: false } });
  expect(() => read({ deadline: 1, onDeadline: { resume: 5 } }, schema)).toThrow(
    /onDeadline.*ask|ask.*onDeadline/,
  );
  expect(read({ deadline: 1, onDeadline: { resume: undefined } })).toMatchObject({
    onDeadline: '{"resume":null}',
  });
  const later = z.unknown().refine(async () => true);
  expect(() => read({ deadline: 1, onDeadline: { resume: 1 } }, later)).toThrow("must not be asynchronous");
});

test.each(["stop", null, 5, {}, { resumed: 1 }])("%o is not a valid action", (onDeadline) => {
  expect(() => read({ deadline: 1, onDeadline })).toThrow(
    'Step ask: onDeadline validation failed: expected { resume: … }, "fail" or "cancel"',
  );
});

test("a date that is none is refused", () => {
  expect(() => read({ deadline: new Date(Number.NaN) })).toThrow("is not a valid date");
});

test("a deadline stored without an action fails the step", () => {
  expect(afterDeadline(null)).toBe("fail");
  expect(afterDeadline('"cancel"')).toBe("cancel");
});
