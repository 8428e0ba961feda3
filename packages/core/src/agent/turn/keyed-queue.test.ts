// The queue: one at a time for each key, in the order of arrival.
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { KeyedQueue } from "./keyed-queue.ts";

const patient = new AbortController().signal;

test("those who come later wait, in order; other keys do not", async () => {
  const queue = new KeyedQueue<string>();
  const order: string[] = [];
  const first = await queue.enter("a", "first", patient);
  const enter = async (name: string) => {
    const place = await queue.enter("a", name, patient);
    order.push(name);
    place.leave();
  };
  const waiting = Promise.all([enter("second"), enter("third")]);
  (await inTime(queue.enter("b", "other", patient), "its turn")).leave();
  expect(order).toEqual([]);
  first.leave();
  await inTime(waiting, "its turn");
  expect(order).toEqual(["second", "third"]);
  (await inTime(queue.enter("a", "last", patient), "its turn")).leave();
});

test("members learn that they wait one after the other, also when one of them leaves then", async () => {
  const queue = new KeyedQueue<string>();
  const first = await queue.enter("a", "first", patient);
  const asked: string[] = [];
  const gate = Promise.withResolvers<void>();
  const ask = (name: string, work?: Promise<void>) => ({
    mayWait: async () => {
      asked.push(name);
      await work;
    },
  });
  const second = queue.enter("a", "second", patient, ask("second", gate.promise));
  const refused = queue.enter("a", "third", patient, {
    mayWait: async () => {
      asked.push("third");
      throw new Error("refused");
    },
  });
  const fourth = queue.enter("a", "fourth", patient, ask("fourth"));
  await setImmediate();
  expect(asked).toEqual(["second"]);
  gate.resolve();
  await expect(refused).rejects.toThrow("refused");
  await expect.poll(() => asked).toEqual(["second", "third", "fourth"]);
  first.leave();
  (await inTime(second, "its turn")).leave();
  (await inTime(fourth, "its turn")).leave();
});

test("one that is aborted while it waits admits the next one when it is its turn", async () => {
  const queue = new KeyedQueue<string>();
  const first = await queue.enter("a", "first", patient);
  const controller = new AbortController();
  const gone = queue.enter("a", "gone", controller.signal);
  const next = queue.enter("a", "next", patient);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  let entered = false;
  void next.then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered, "the first is still inside").toBe(false);
  first.leave();
  (await inTime(next, "its turn")).leave();
});

test("one that was aborted before it came does not enter", async () => {
  const queue = new KeyedQueue<string>();
  await expect(queue.enter("a", "late", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  (await inTime(queue.enter("a", "last", patient), "its turn")).leave();
});

test("one that is aborted as the last in the queue does not let later ones pass the first", async () => {
  const queue = new KeyedQueue<string>();
  const order: string[] = [];
  const first = await queue.enter("a", "first", patient);
  const controller = new AbortController();
  const gone = queue.enter("a", "gone", controller.signal);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  const next = queue.enter("a", "next", patient).then((place) => {
    order.push("next");
    place.leave();
  });
  await expect(queue.enter("a", "late", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  order.push("first");
  first.leave();
  await inTime(next, "its turn");
  expect(order).toEqual(["first", "next"]);
});

test("one that goes ahead passes those that wait, and not the one that is in", async () => {
  const queue = new KeyedQueue<string>();
  const first = await queue.enter("a", "first", patient);
  const second = queue.enter("a", "second", patient);
  const ahead = queue.enter("a", "ahead", patient, { ahead: true });
  expect(queue.holder("a")).toBe("first");
  expect(queue.members("a")).toEqual(["first", "ahead", "second"]);
  first.leave();
  const passed = await inTime(ahead, "its turn");
  expect(queue.holder("a")).toBe("ahead");
  passed.leave();
  await inTime(second, "its turn");
  expect(queue.holder("a")).toBe("second");
});

test.each([
  ["comes", "before"],
  ["has come", "after"],
])(
  "one that steps aside lets one past that %s to go ahead, and keeps its place before the others",
  async (_, when) => {
    const queue = new KeyedQueue<string>();
    const work = Promise.withResolvers<void>();
    const first = await queue.enter("a", "first", patient);
    const second = queue.enter("a", "second", patient);
    const early = when === "after" ? queue.enter("a", "ahead", patient, { ahead: true }) : undefined;
    const order: string[] = [];
    const back = first.yieldWhile(work.promise).then(() => order.push("first"));
    void second.then(() => order.push("second"));
    const passed = await inTime(early ?? queue.enter("a", "ahead", patient, { ahead: true }), "its turn");
    expect(queue.holder("a")).toBe("ahead");
    work.resolve();
    await setImmediate();
    expect(order, "the one that passed is in").toEqual([]);
    passed.leave();
    await inTime(back, "its turn");
    await setImmediate();
    expect(order).toEqual(["first"]);
    first.leave();
    await inTime(second, "its turn");
    expect(queue.holder("a")).toBe("second");
  },
);

test("one that is aborted while it waits to come back lets the next one in", async () => {
  const queue = new KeyedQueue<string>();
  const controller = new AbortController();
  const first = await queue.enter("a", "first", controller.signal);
  const second = queue.enter("a", "second", patient);
  const back = first.yieldWhile(Promise.resolve());
  const passed = await inTime(queue.enter("a", "ahead", patient, { ahead: true }), "its turn");
  controller.abort(new Error("enough"));
  await expect(back).rejects.toThrow("enough");
  first.leave();
  expect(queue.holder("a")).toBe("ahead");
  passed.leave();
  await inTime(second, "its turn");
  expect(queue.holder("a")).toBe("second");
});
