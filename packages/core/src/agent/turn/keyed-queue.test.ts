// The queue: one at a time for each key, in the order of arrival.
import { expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

const patient = new AbortController().signal;

test("those who come later wait, in order; other keys do not", async () => {
  const queue = new KeyedQueue();
  const order: string[] = [];
  const releaseFirst = await queue.enter("a", patient);
  const enter = async (name: string) => {
    const release = await queue.enter("a", patient);
    order.push(name);
    release();
  };
  const waiting = Promise.all([enter("second"), enter("third")]);
  (await queue.enter("b", patient))();
  expect(order).toEqual([]);
  releaseFirst();
  await waiting;
  expect(order).toEqual(["second", "third"]);
  (await queue.enter("a", patient))();
});

test("one that gives up while it waits lets the next one in when it is its turn", async () => {
  const queue = new KeyedQueue();
  const release = await queue.enter("a", patient);
  const controller = new AbortController();
  const gone = queue.enter("a", controller.signal);
  const next = queue.enter("a", patient);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  let entered = false;
  next.then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered, "the first is still inside").toBe(false);
  release();
  (await next)();
});

test("one that was aborted before it came does not enter", async () => {
  const queue = new KeyedQueue();
  await expect(queue.enter("a", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  (await queue.enter("a", patient))();
});

test("one that gives up as the last in the queue does not let those who come later past the first", async () => {
  const queue = new KeyedQueue();
  const order: string[] = [];
  const release = await queue.enter("a", patient);
  const controller = new AbortController();
  const gone = queue.enter("a", controller.signal);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  const next = queue.enter("a", patient).then((leave) => {
    order.push("next");
    leave();
  });
  await expect(queue.enter("a", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  order.push("first");
  release();
  await next;
  expect(order).toEqual(["first", "next"]);
});
