// A running reply: one copy for all readers, whole until it is too long.
import type { UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { RunningReply } from "./running-reply.ts";

const delta = (text: string, id = "1"): UIMessageChunk => ({ type: "text-delta", id, delta: text });

const all = (chunks: AsyncIterable<UIMessageChunk>) => allInTime(chunks, "the end of the reply");
const said = (chunks: readonly UIMessageChunk[]) =>
  chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");

test("a fast reader gets every piece, one that comes later the same text in fewer", async () => {
  const reply = new RunningReply();
  const fast = reply.read();
  reply.append({ type: "start" });
  expect(await fast.next()).toEqual({ done: false, value: { type: "start" } });
  const waiting = fast.next();
  reply.append(delta("a"));
  expect(await inTime(waiting, "the next piece")).toEqual({ done: false, value: delta("a") });
  reply.append(delta("b"));
  reply.append(delta("c"));
  expect(await fast.next()).toEqual({ done: false, value: delta("bc") });
  const late = reply.read();
  reply.append(delta("x", "2"));
  reply.append({ type: "finish" });
  reply.close();
  expect(await all(fast)).toEqual([delta("x", "2"), { type: "finish" }]);
  expect(await all(late)).toEqual([{ type: "start" }, delta("abc"), delta("x", "2"), { type: "finish" }]);
  expect(reply.readers).toBe(0);
});

test("reasoning and tool input are merged too, but not pieces that differ in kind, id or metadata", async () => {
  const reply = new RunningReply();
  const input = (text: string, toolCallId = "t"): UIMessageChunk => ({
    type: "tool-input-delta",
    toolCallId,
    inputTextDelta: text,
  });
  const marked: UIMessageChunk = {
    type: "text-delta",
    id: "1",
    delta: "m",
    providerMetadata: { p: { a: 1 } },
  };
  for (const chunk of [input("{"), input("}"), input("[", "u"), delta("a"), marked, delta("b"), delta("")])
    reply.append(chunk);
  reply.close();
  expect(await all(reply.read())).toEqual([input("{}"), input("[", "u"), delta("a"), marked, delta("b")]);
});

test("a long text is several pieces, so that a reader that keeps up does not copy all of it for every delta", async () => {
  const reply = new RunningReply();
  for (let index = 0; index < 5000; index++) reply.append(delta("x"));
  reply.close();
  const chunks = await all(reply.read());
  expect(chunks.map((chunk) => said([chunk]).length)).toEqual([1024, 1024, 1024, 1024, 904]);
});

test("readers are counted, and one that leaves is reported once", async () => {
  const reply = new RunningReply();
  let left = 0;
  const reader = reply.read(() => left++);
  const other = reply.read();
  expect(reply.readers).toBe(2);
  const waiting = reader.next();
  await reader.return?.();
  expect([left, reply.readers]).toEqual([1, 1]);
  await reader.return?.();
  expect([left, reply.readers]).toEqual([1, 1]);
  expect(await inTime(waiting, "the end for who waited")).toEqual({ done: true, value: undefined });
  reply.close();
  await other.return?.();
  expect([left, reply.readers]).toEqual([1, 0]);
});

test("an action waits until no reader is left, and runs once", async () => {
  const reply = new RunningReply();
  const done: string[] = [];
  reply.whenUnread(() => done.push("at once"));
  const readers = [reply.read(), reply.read()];
  reply.whenUnread(() => done.push("later"));
  await readers[0]?.return?.();
  expect(done).toEqual(["at once"]);
  await readers[1]?.return?.();
  await reply.read().return?.();
  expect(done).toEqual(["at once", "later"]);
});

test("beyond the limit the beginning is dropped: a fast reader continues, a slow one gets an error, and no reader can attach", async () => {
  const reply = new RunningReply(100);
  const fast = reply.read();
  const slow = reply.read();
  const read: UIMessageChunk[] = [];
  for (let n = 0; n < 50; n++) {
    reply.append(delta("0123456789", String(n)));
    const next = await fast.next();
    if (next.done !== true) read.push(next.value);
  }
  expect(reply.isWhole).toBe(false);
  reply.close();
  expect(said([...read, ...(await all(fast))])).toHaveLength(500);
  expect(await all(slow)).toEqual([{ type: "error", errorText: "The reply was not read fast enough" }]);
});

test("one long text is bounded like any other", async () => {
  const reply = new RunningReply(256 * 1024);
  for (let n = 0; n < 1000; n++) reply.append(delta("x".repeat(1024)));
  expect(reply.isWhole).toBe(false);
  const late = reply.read();
  reply.close();
  expect(said(await all(late)).length).toBeLessThanOrEqual(256 * 1024);
});

test("one piece that is longer than the limit is kept whole", async () => {
  const reply = new RunningReply(10);
  reply.append(delta("x".repeat(50)));
  expect(reply.isWhole).toBe(true);
  reply.close();
  expect(said(await all(reply.read()))).toBe("x".repeat(50));
});

test("any mix of appending and reading gives every reader the same text", async () => {
  let state = 7;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let round = 0; round < 50; round++) {
    const reply = new RunningReply();
    const readers = [reply.read(), reply.read()];
    const read: UIMessageChunk[][] = [[], []];
    const waiting: (Promise<void> | undefined)[] = [];
    /** Asks for the next piece, which may come at once or much later. */
    const ask = async (which: number) => {
      const next = await readers[which]?.next();
      if (next?.done === false) read[which]?.push(next.value);
      waiting[which] = undefined;
    };
    let text = "";
    for (let n = 0; n < 60; n++) {
      const piece = String(n).repeat(random(3));
      text += piece;
      reply.append(delta(piece, String(random(2))));
      const which = random(3);
      if (which < 2) waiting[which] ??= ask(which);
      await undefined;
    }
    reply.close();
    await Promise.all(waiting);
    for (const [which, reader] of readers.entries()) {
      expect(said([...(read[which] ?? []), ...(await all(reader))])).toBe(text);
    }
  }
});
