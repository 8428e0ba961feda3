// An object as the reply: complete or as it grows, with one more try, and the message that a conversation keeps of it.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { textParts, turnForTest } from "../../../test/turns/turn-for-test.ts";
import { ModelFailedError, ObjectMismatchError, ReplyStoppedError } from "../../errors/index.ts";
import type { ObjectShape } from "../schema/object-shape.ts";
import { objectReply, streamObject } from "./object-reply.ts";

type Given = NonNullable<Parameters<typeof turnForTest>[0]>;

/** Objects whose `n` is a number. */
const shape: ObjectShape = {
  schema: { type: "object" },
  check: (value) =>
    typeof Object(value).n === "number" ? { ok: true, value } : { ok: false, detail: "n: no number" },
};
const asked = { role: "user", content: "hello" };
const problem = (detail: string) => ({
  role: "user",
  content: `That does not fit: ${detail}. Reply again, with nothing but JSON that matches the schema.`,
});
const mismatch = "The model's reply does not fit the schema: n: no number";

/** A turn whose agent says these texts, one after the other. */
function saying(...texts: string[]) {
  const left = [...texts];
  const messages: unknown[] = [];
  const generate = async (request: { messages: unknown; output: unknown }) => {
    messages.push(request.messages);
    expect(request.output).toMatchObject({ name: "object" });
    return { text: left.shift() };
  };
  return { ...turnForTest({ isKept: false, agent: { generate } }), messages };
}

const reading = (given: Given) => {
  const all = turnForTest(given);
  return { ...all, parts: allInTime(streamObject(all.turn, shape), "the end of the object") };
};

/** The prompts of the agent, call by call. */
const prompts = (calls: readonly unknown[][]) =>
  calls.flatMap(([name, request]) => (name === "parts" ? [Object(request).messages] : []));

const message = (text: string, state = "done", before: readonly object[] = []) => ({
  ...{ id: "m", role: "assistant" },
  parts: [...before, { type: "step-start" }, { type: "text", text, state }],
});
const keptMessage = (calls: readonly unknown[][]) =>
  calls.flatMap(([name, kept]) => {
    if (name !== "finish" || kept === null) return [];
    const { messageId, body, partial } = Object(kept);
    const parsed: UIMessage = JSON.parse(body);
    expect(parsed.id).toBe(messageId);
    return [[parsed, partial]];
  });

test("an object that fits is the reply, without a conversation", async () => {
  const { turn, names, messages } = saying('{"n":1}');
  expect(await objectReply(turn, shape)).toEqual({ n: 1 });
  expect(messages).toEqual([[asked]]);
  expect(names()).toEqual(["end"]);
});

test("a reply that does not fit is shown to the model once; the second one is the last", async () => {
  const better = saying("five", '{"n":5}');
  expect(await objectReply(better.turn, shape)).toEqual({ n: 5 });
  const again = [asked, { role: "assistant", content: "five" }, problem("it is not JSON")];
  expect(better.messages).toEqual([[asked], again]);
  const worse = saying("{}", '{"n":"five"}', '{"n":5}');
  await expect(objectReply(worse.turn, shape)).rejects.toEqual(
    new ObjectMismatchError({ detail: "n: no number" }),
  );
  expect(worse.messages).toHaveLength(2);
  expect(worse.names()).toEqual(["end"]);
});

test("a conversation keeps the message of the last try, with the data that was written meanwhile", async () => {
  const data = { type: "data-step", data: 1 } as const;
  const { turn, calls, names, operation } = turnForTest({
    replies: [textParts("{", "}"), [() => operation.writeChunk(data), ...textParts('{"n":', "7}")]],
  });
  operation.writeChunk({ type: "data-step", data: 0 });
  expect(await objectReply(turn, shape)).toEqual({ n: 7 });
  expect(prompts(calls)).toEqual([
    [asked],
    [asked, { role: "assistant", content: "{}" }, problem("n: no number")],
  ]);
  expect(keptMessage(calls)).toEqual([[message('{"n":7}', "done", [data]), false]]);
  expect(names()).toEqual(["endsEarlyWith", "parts", "parts", "finish", "completed", "end"]);
});

test("data that is written before the first part belongs to the message", async () => {
  const data = { type: "data-step", data: 1 } as const;
  const given = turnForTest({ replies: [[() => given.operation.writeChunk(data), ...textParts('{"n":1}')]] });
  expect(await objectReply(given.turn, shape)).toEqual({ n: 1 });
  expect(keptMessage(given.calls)).toEqual([[message('{"n":1}', "done", [data]), false]]);
});

test("only the text of the last step is the object", async () => {
  const steps = [...textParts("let me see").slice(0, -1), ...textParts('{"n":2}').slice(1)];
  const { turn, calls } = turnForTest({ replies: [steps] });
  expect(await objectReply(turn, shape)).toEqual({ n: 2 });
  expect(prompts(calls)).toHaveLength(1);
  const { parts } = reading({ isKept: false, replies: [steps] });
  expect(await parts).toEqual([
    { type: "object-delta", object: { n: 2 } },
    { type: "object", object: { n: 2 } },
  ]);
});

test("a reply without steps is its text", async () => {
  const unstepped = textParts('{"n":', "2}").slice(2);
  const { turn, calls } = turnForTest({ replies: [unstepped] });
  expect(await objectReply(turn, shape)).toEqual({ n: 2 });
  expect(prompts(calls)).toHaveLength(1);
  const { parts } = reading({ isKept: false, replies: [unstepped] });
  expect((await parts).at(-1)).toEqual({ type: "object", object: { n: 2 } });
});

test.each(["object", "streamObject"])("%s: a reply that fails is kept as far as it came", async (way) => {
  const cause = new Error("provider down");
  const failing = [...textParts('{"n":').slice(0, 4), { type: "error", error: cause }];
  const given = turnForTest({ replies: [failing] });
  if (way === "object")
    await expect(objectReply(given.turn, shape)).rejects.toEqual(new ModelFailedError({ cause }));
  else {
    const parts = await allInTime(streamObject(given.turn, shape), "the end of the object");
    expect(parts).toEqual([
      { type: "object-delta", object: {} },
      { type: "error", error: "The model provider failed to answer" },
    ]);
  }
  expect(keptMessage(given.calls)).toEqual([[message('{"n":', "streaming"), true]]);
  expect(given.names()).toEqual(["endsEarlyWith", "parts", "toolsEnded", "finish", "end"]);
  expect(given.logger.messages).toEqual(["a reply of the agent failed"]);
  const soFar = given.calls[0]?.[1];
  expect(typeof soFar === "function" && (await soFar())).toMatchObject({ messageId: "m", partial: true });
});

test.each(["object", "streamObject"])("%s: a reply that was stopped is marked as stopped", async (way) => {
  const stopped = (stop: () => unknown) => [...textParts('{"n":1}').slice(0, 4), stop, { type: "abort" }];
  const byCaller = turnForTest({
    replies: [stopped(() => byCaller.controller.abort(new ReplyStoppedError()))],
  });
  const reason = new ReplyStoppedError();
  const byLoop = turnForTest({ replies: [stopped(() => undefined)], loop: { left: { reason } } });
  for (const { turn, calls } of [byCaller, byLoop]) {
    if (way === "object") await expect(objectReply(turn, shape)).rejects.toEqual(reason);
    else {
      const parts = await allInTime(streamObject(turn, shape), "the end of the object");
      expect(parts.at(-1)).toEqual({ type: "error", error: "The reply was stopped" });
    }
    expect(prompts(calls)).toHaveLength(1);
    expect(keptMessage(calls)).toEqual([[message('{"n":1}', "streaming"), true]]);
  }
});

test("an object is shown each time it has grown, and then complete", async () => {
  const { parts, names } = reading({
    isKept: false,
    replies: [textParts('{"n"', ":", "1", ', "x"', ':"a', "b", '"', "}")],
  });
  expect(await parts).toEqual([
    { type: "object-delta", object: {} },
    { type: "object-delta", object: { n: 1 } },
    { type: "object-delta", object: { n: 1, x: "a" } },
    { type: "object-delta", object: { n: 1, x: "ab" } },
    { type: "object", object: { n: 1, x: "ab" } },
  ]);
  expect(names()).toEqual(["parts", "end"]);
});

test("text that is no object yet is not shown", async () => {
  const { parts } = reading({ isKept: false, replies: [textParts("```", "json\n", '{"n":1}', "\n```")] });
  expect(await parts).toEqual([{ type: "object", object: { n: 1 } }]);
});

test("a long object is looked at once for each 64th that it has grown by", async () => {
  const pieces = Array.from({ length: 40 }, () => "y");
  const { parts } = reading({
    isKept: false,
    replies: [textParts(`{"n":1,"x":"${"y".repeat(628)}`, ...pieces, '"}')],
  });
  const lengths = (await parts).map((part) => Object("object" in part ? part.object : {}).x?.length);
  // The text has 640 characters at first, then 650, 661 (650 and its 64th, rounded up) and 672, and 682 at its end.
  expect(lengths).toEqual([628, 638, 649, 660, 668]);
});

test("an object that grows is asked for once more when it does not fit", async () => {
  const { parts, calls, names } = reading({ replies: [textParts("{", "}"), textParts('{"n":3}')] });
  expect(await parts).toEqual([
    { type: "object-delta", object: {} },
    { type: "object", object: { n: 3 } },
  ]);
  expect(prompts(calls)[1]).toEqual([asked, { role: "assistant", content: "{}" }, problem("n: no number")]);
  expect(keptMessage(calls)).toEqual([[message('{"n":3}'), false]]);
  expect(names()).toEqual(["endsEarlyWith", "parts", "parts", "finish", "completed", "end"]);
  const worse = reading({
    isKept: false,
    agent: { generate: async () => ({ text: "[]" }) },
    replies: [textParts("{}")],
  });
  expect((await worse.parts).at(-1)).toEqual({ type: "error", error: mismatch });
});

test("an object that cannot be kept is an error, and its message is kept at the end", async () => {
  const given: Given = { replies: [textParts('{"n":3}')], failure: new ReplyStoppedError() };
  const { parts, names } = reading(given);
  expect(await parts).toEqual([
    { type: "object-delta", object: { n: 3 } },
    { type: "error", error: "The reply was stopped" },
  ]);
  expect(names()).toEqual(["endsEarlyWith", "parts", "finish", "toolsEnded", "finish", "end"]);
});

test("a reader that leaves stops the reply, which is then run to its end", async () => {
  const { turn, names } = turnForTest({ isKept: false, replies: [textParts('{"n"', ':1, "m":2', "}")] });
  const parts = streamObject(turn, shape);
  expect(await parts.next()).toEqual({ done: false, value: { type: "object-delta", object: {} } });
  const end = { done: true, value: undefined };
  expect(await inTime(parts.return?.() ?? Promise.reject(), "the end of the reader")).toEqual(end);
  expect(names()).toEqual(["parts", "stop", "end"]);
  expect(await inTime(parts.return?.() ?? Promise.reject(), "the end of the reader")).toEqual(end);
  expect(names()).toEqual(["parts", "stop", "end"]);
});

test("a reader that leaves before the first part ends the turn; after the last it stops nothing", async () => {
  const before = turnForTest({ isKept: false, replies: [textParts('{"n":1}')] });
  const unread = streamObject(before.turn, shape);
  expect(unread[Symbol.asyncIterator]()).toBe(unread);
  await unread.return?.();
  expect(before.names()).toEqual(["stop", "parts", "end"]);
  const after = turnForTest({ isKept: false, replies: [textParts('{"n":1}')] });
  const read = streamObject(after.turn, shape);
  expect(await allInTime(read, "the end of the object")).toHaveLength(2);
  await read.return?.();
  expect(after.names()).toEqual(["parts", "end"]);
});
