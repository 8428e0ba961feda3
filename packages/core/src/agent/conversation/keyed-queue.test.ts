// The turnstile: one at a time for each key, in the order of arrival.
import { expect, test } from "vitest";
import { Turnstile } from "./keyed-queue.ts";

const patient = new AbortController().signal;

test("those who come later wait, in order; other keys do not", async () => {
  const turnstile = new Turnstile();
  const order: string[] = [];
  const leaveFirst = await turnstile.enter("a", patient);
  const enter = async (name: string) => {
    const leave = await turnstile.enter("a", patient);
    order.push(name);
    leave();
  };
  const waiting = Promise.all([enter("second"), enter("third")]);
  (await turnstile.enter("b", patient))();
  expect(order).toEqual([]);
  leaveFirst();
  await waiting;
  expect(order).toEqual(["second", "third"]);
  (await turnstile.enter("a", patient))();
});

test("one that gives up while it waits lets the next one pass in its turn", async () => {
  const turnstile = new Turnstile();
  const leave = await turnstile.enter("a", patient);
  const controller = new AbortController();
  const gone = turnstile.enter("a", controller.signal);
  const next = turnstile.enter("a", patient);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  let passed = false;
  next.then(() => {
    passed = true;
  });
  await Promise.resolve();
  expect(passed, "the first is still inside").toBe(false);
  leave();
  (await next)();
});

test("one that was aborted before it came does not enter", async () => {
  const turnstile = new Turnstile();
  await expect(turnstile.enter("a", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  (await turnstile.enter("a", patient))();
});
