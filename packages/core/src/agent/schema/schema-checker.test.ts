// The schema thread from the caller's side: verdicts, what happens when it is too busy, when it dies, and when it is closed.
import { expect, onTestFinished, test } from "vitest";
import { SchemaBusyError, ShuttingDownError } from "../../errors/index.ts";
import { createLogger } from "../../observe/log/logger.ts";
import { SchemaChecker } from "./schema-checker.ts";

function checkerForTest() {
  const checker = new SchemaChecker(createLogger({ level: "silent" }));
  onTestFinished(() => checker.close());
  return checker;
}

const number = '{"type":"number"}';

test("a schema is judged, and a value is checked against it", async () => {
  const checker = checkerForTest();
  expect(await checker.check(number)).toEqual({ ok: true });
  expect(await checker.check('{"type":"date"}')).toMatchObject({ ok: false, overran: false });
  expect(await checker.check(number, "1")).toEqual({ ok: true });
  expect(await checker.check(number, '"1"')).toMatchObject({ ok: false, overran: false });
});

test("more than can wait are refused at once, and those that wait are served", async () => {
  const checker = checkerForTest();
  // One is under way, five hundred wait.
  const served = Array.from({ length: 501 }, () => checker.check(number));
  await expect(checker.check(number)).rejects.toThrow(SchemaBusyError);
  expect(new Set((await Promise.all(served)).map(({ ok }) => ok))).toEqual(new Set([true]));
});

test("of those that need their whole time no more wait than are done within seconds", async () => {
  const checker = checkerForTest();
  const letters = JSON.stringify(`${"a".repeat(40)}b`);
  const hostile = Array.from({ length: 60 }, () => checker.check('{"pattern":"^(a+)+$"}', letters));
  const refused = Promise.any(
    hostile.map((each) =>
      each.then(
        () => Promise.reject(),
        (error) => error,
      ),
    ),
  );
  expect(await refused).toBeInstanceOf(SchemaBusyError);
  // An ordinary one is served before them.
  expect(await checker.check(number, "1")).toEqual({ ok: true });
  await checker.close();
  await Promise.allSettled(hostile);
});

test("a value that fills the memory ends the thread alone, and the next one starts another", async () => {
  const checker = checkerForTest();
  const huge = `[${"[],".repeat(8_000_000)}[]]`;
  expect(await checker.check("{}", huge)).toMatchObject({ ok: false });
  expect(await checker.check(number, "1")).toEqual({ ok: true });
});

test("closing refuses those that wait and what comes later", async () => {
  const checker = checkerForTest();
  const waiting = [checker.check(number), checker.check(number)].map((each) =>
    expect(each).rejects.toThrow(ShuttingDownError),
  );
  await checker.close();
  await Promise.all(waiting);
  await expect(checker.check(number)).rejects.toThrow(ShuttingDownError);
});
