// The check of an object: the library's own schema, or the thread for a JSON Schema of a caller.
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { InvalidSchemaError, ObjectMismatchError } from "../../errors/index.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { shapeOf } from "./object-shape.ts";
import { SchemaChecker } from "./schema-checker.ts";

/** A checker that gives these verdicts in order. */
function checkerWith(...verdicts: Awaited<ReturnType<SchemaChecker["check"]>>[]): SchemaChecker {
  const checker = new SchemaChecker(createLogger({ level: "silent" }));
  onTestFinished(() => checker.close());
  checker.check = async () => verdicts.shift() ?? { ok: true };
  return checker;
}

test("the detail of a value that does not fit is returned, so that the model can be asked again", async () => {
  const checker = checkerWith({ ok: true }, { ok: false, detail: "a: wrong", overran: false });
  const shape = await shapeOf({ type: "object" }, checker);
  expect(await shape.check({ a: 1 })).toEqual({ ok: false, detail: "a: wrong" });
  expect(await shape.check({ a: 2 })).toEqual({ ok: true, value: { a: 2 } });
});

test("a check that takes too long ends the reply: the model cannot help it", async () => {
  const checker = checkerWith({ ok: true }, { ok: false, detail: "slow", overran: true });
  const shape = await shapeOf({ type: "object" }, checker);
  await expect(shape.check({ a: 1 })).rejects.toBeInstanceOf(ObjectMismatchError);
});

test("a JSON Schema that cannot be used is refused before the model is asked", async () => {
  const checker = checkerWith({ ok: false, detail: "bad", overran: false });
  await expect(shapeOf({ type: "object" }, checker)).rejects.toBeInstanceOf(InvalidSchemaError);
});

test("the output of a library's schema is the object", async () => {
  const shape = await shapeOf(z.object({ a: z.string().default("b") }), checkerWith());
  expect(await shape.check({})).toEqual({ ok: true, value: { a: "b" } });
});
