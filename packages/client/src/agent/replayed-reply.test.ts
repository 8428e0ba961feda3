import { expect, test } from "vitest";
import type { ChatChunk } from "../responses/wire.ts";
import { KnownReply } from "./replayed-reply.ts";

const start: ChatChunk = { type: "start", messageId: "m" };
const text = (delta: string, id = "0"): ChatChunk => ({ type: "text-delta", id, delta });
const begin = (id = "0"): ChatChunk => ({ type: "text-start", id });
const end = (id = "0"): ChatChunk => ({ type: "text-end", id });

/** The part of a replay that a reader of these chunks gets. */
function rest(known: readonly ChatChunk[], replay: readonly ChatChunk[], steps = 0): ChatChunk[] {
  const reply = new KnownReply();
  for (const chunk of known) reply.add(chunk);
  return replay.map(reply.replay(steps)).filter((chunk) => chunk !== undefined);
}

test("known chunks are left out, wherever the text was cut and however it is cut now", () => {
  const whole = [start, begin(), text("one two three"), end()];
  expect(rest([], whole)).toEqual(whole);
  expect(rest([start, begin(), text("one "), text("tw")], whole)).toEqual([text("o three"), end()]);
  const pieces = [start, begin(), text("on"), text("e two thr"), text("ee"), end()];
  expect(rest([start, begin(), text("one two")], pieces)).toEqual([text(" thr"), text("ee"), end()]);
  expect(rest([start, begin(), text("one two three")], pieces)).toEqual([end()]);
  expect(rest(whole, pieces)).toEqual([]);
});

test("several texts and tools", () => {
  const tool: ChatChunk = { type: "tool-input-available", toolCallId: "t", input: {} };
  const whole = [start, begin(), text("one"), end(), tool, begin("1"), text("two", "1"), end("1")];
  for (let length = 0; length <= whole.length; length += 1)
    expect(rest(whole.slice(0, length), whole)).toEqual(whole.slice(length));
});

test("the steps of the message that a reply continues are left out", () => {
  const earlier = [{ type: "start-step" }, begin("kept-1"), text("May I?", "kept-1"), end("kept-1")];
  const more = [{ type: "start-step" }, begin(), text("It is done."), end()];
  const replay = [start, ...earlier, { type: "finish-step" }, ...more];
  expect(rest([start], replay, 1)).toEqual(more);
  expect(rest([start, { type: "start-step" }, begin(), text("It is ")], replay, 1)).toEqual([
    text("done."),
    end(),
  ]);
});

test("a reply that is another one is an error", () => {
  const known = [start, begin(), text("one two"), end()];
  const changed = expect.objectContaining({ code: "reply-changed" });
  const others = [
    [start, begin(), text("one three")],
    [start, begin(), text("one"), end()],
    [start, begin(), text("one two and more"), end()],
    [start, { type: "tool-input-available", toolCallId: "t" }],
    [start, text("one two")],
    [{ ...start, messageId: "of somebody else" }],
  ];
  for (const other of others) expect(() => rest(known, other)).toThrow(changed);
});

test("metadata that a process notes anew when it continues a reply does not count", () => {
  expect(
    rest([{ ...start, messageMetadata: { at: 1 } }], [{ ...start, messageMetadata: { at: 2 } }, begin()]),
  ).toEqual([begin()]);
});
