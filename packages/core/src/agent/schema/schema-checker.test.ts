// The schema thread from the caller's side: verdicts, and its behaviour when it is too busy, dies, or is closed.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { SchemaBusyError, ShuttingDownError } from "../../errors/index.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { SchemaChecker } from "./schema-checker.ts";

function checkerForTest() {
  const checker = new SchemaChecker(createLogger({ level: "silent" }));
  onTestFinished(() => checker.close());
  return checker;
}

/** The threads that are started from now on. */
function threadsFromNow(): readonly Worker[] {
  const threads: Worker[] = [];
  const notice = (message: unknown) => threads.push(Object(message).worker);
  subscribe("worker_threads", notice);
  onTestFinished(() => {
    unsubscribe("worker_threads", notice);
  });
  return threads;
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

test("those that wait for their second try may need five seconds together", async () => {
  const checker = checkerForTest();
  const letters = JSON.stringify(`${"a".repeat(40)}b`);
  let refused = 0;
  const checks = Array.from({ length: 8 }, () =>
    checker.check('{"pattern":"^(a+)+$"}', letters, 1000).catch((error: unknown) => {
      if (error instanceof SchemaBusyError) refused += 1;
    }),
  );
  // All first tries come before the first second one: five fit, whose time is five seconds, and three do not.
  await expect.poll(() => refused).toBe(3);
  await checker.close();
  await Promise.all(checks);
  expect(refused).toBe(3);
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
  // An ordinary one is served before them; on a busy machine it may need its second try, for which there is no room.
  const ordinary = () => checker.check(number, "1").catch((error: unknown) => error);
  await expect.poll(ordinary).toEqual({ ok: true });
  await checker.close();
  await Promise.allSettled(hostile);
});

test("a caller may allow more time, which counts for the second try", async () => {
  const checker = checkerForTest();
  const letters = JSON.stringify(`${"a".repeat(40)}b`);
  expect(await checker.check('{"pattern":"^(a+)+$"}', letters, 150)).toMatchObject({
    detail: "the schema could not be checked within 150 ms",
  });
});

test("a schema or value that could fill the memory of the thread is refused before it gets there", async () => {
  const checker = checkerForTest();
  const most = 4 * 1024 * 1024;
  const long = `"${"x".repeat(most - 2)}"`;
  expect(await checker.check(number, long)).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/type/),
  });
  const longer = { ok: false, detail: `the schema or the value has more than ${most} characters` };
  expect(await checker.check(number, `${long} `)).toMatchObject(longer);
  expect(await checker.check(`{"const":"${"x".repeat(most)}"}`)).toMatchObject(longer);
});

test("when the thread dies, the schema under way gets a verdict and the next schema gets another", async () => {
  const threads = threadsFromNow();
  const checker = checkerForTest();
  expect(await checker.check(number, "1")).toEqual({ ok: true });
  const under = checker.check('{"pattern":"^(a+)+$"}', JSON.stringify(`${"a".repeat(40)}b`));
  await threads[0]?.terminate();
  expect(await under).toMatchObject({ ok: false, detail: "the schema could not be evaluated" });
  expect(await checker.check(number, "1")).toEqual({ ok: true });
  expect(threads).toHaveLength(2);
});

test("a thread that does not reply in time is ended, and another one has a longer try", async () => {
  const threads = threadsFromNow();
  const checker = checkerForTest();
  expect(await checker.check(number)).toEqual({ ok: true });
  // Its time is over before its reply can be heard.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const verdict = checker.check(number, "1");
  // Three tries of 10, 20 and 40 milliseconds, and two seconds beyond them.
  vi.advanceTimersByTime(2069);
  expect(threads).toHaveLength(1);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  expect(await verdict).toEqual({ ok: true });
  expect(threads).toHaveLength(2);
});

test("closing refuses waiting and later checks", async () => {
  const checker = checkerForTest();
  const waiting = [checker.check(number), checker.check(number)].map((each) =>
    expect(each).rejects.toThrow(ShuttingDownError),
  );
  await checker.close();
  await Promise.all(waiting);
  await expect(checker.check(number)).rejects.toThrow(ShuttingDownError);
});
