// The work of the schema thread, without the thread.
import { expect, test } from "vitest";
import { reasonOf } from "./bounded-validator.ts";
import { performWork, type SchemaWork } from "./schema-thread.ts";

// As long as a busy machine may need; only work that never ends takes it.
const work = (schema: object, value?: unknown): SchemaWork => ({
  schema: JSON.stringify(schema),
  value: value === undefined ? undefined : JSON.stringify(value),
  limit: 2000,
});
const point = { type: "object", properties: { x: { properties: { y: { type: "number" } } } } };

test("a schema alone is judged, and a value against it", () => {
  expect(performWork(work(point))).toStrictEqual({ ok: true });
  expect(performWork(work(point, { x: { y: 1 } }))).toStrictEqual({ ok: true });
  expect(performWork(work({ type: "date" }))).toStrictEqual({
    ok: false,
    detail: expect.stringContaining("type"),
    overran: false,
  });
  expect(performWork(work(point, { x: { y: "1" } }))).toStrictEqual({
    ok: false,
    detail: expect.stringMatching(/^x\.y: \S/),
    overran: false,
  });
  expect(performWork(work(point, 5))).toMatchObject({ detail: expect.stringMatching(/^[^:#/]/) });
});

test("the keywords are those of the draft of 2020", () => {
  const pair = { prefixItems: [{ type: "number" }] };
  expect(performWork(work(pair, ["x"]))).toMatchObject({ ok: false });
  expect(performWork(work(pair, [1]))).toEqual({ ok: true });
  // Earlier drafts ignore keywords beside a reference.
  const least = { $defs: { n: { type: "number" } }, $ref: "#/$defs/n", minimum: 5 };
  expect(performWork(work(least, 4))).toMatchObject({ ok: false });
  expect(performWork(work(least, 5))).toEqual({ ok: true });
});

test("the reason is not longer than a line", () => {
  const long = { enum: ["x".repeat(2000)] };
  const verdict = performWork(work(long, "y"));
  expect(verdict).toMatchObject({ ok: false });
  if (!verdict.ok) expect(verdict.detail).toHaveLength(500);
});

test("work that takes too long, never ends or is no JSON has a reason, and only the first may be tried again", () => {
  const hostile = { ...work({ pattern: "^(a+)+$" }, `${"a".repeat(40)}b`), limit: 10 };
  const late = "the schema could not be checked within 10 ms";
  expect(performWork(hostile)).toStrictEqual({ ok: false, detail: late, overran: true });
  const circle = { $ref: "#" };
  const endless = "the schema refers to itself without end";
  expect(performWork(work(circle, 1))).toStrictEqual({ ok: false, detail: endless, overran: false });
  const broken = { ...work({}), schema: "{" };
  const other = { ok: false, detail: "the schema could not be evaluated", overran: false };
  expect(performWork(broken)).toStrictEqual(other);
  expect(reasonOf(Object.assign(new Error("late"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" }), 100)).toBe(
    "the schema could not be checked within 100 ms",
  );
});
