// The reply of a chat: its chunks as they come, its end once that is committed, and its readers.
import { expect, test } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { textParts, turnForTest } from "../../../test/turns/turn-for-test.ts";
import { ReplyStoppedError } from "../../errors/index.ts";
import { RunningReply } from "../reply/running-reply.ts";
import { fillReply, runChat } from "./run-chat.ts";

type Given = NonNullable<Parameters<typeof turnForTest>[0]>;

const all = <T>(chunks: AsyncIterable<T>) => allInTime(chunks, "the end of the chat");
const body = { start: { type: "start", messageId: "m" }, step: { type: "start-step" } };
const text = (...pieces: string[]) => [
  { type: "text-start", id: "1" },
  ...pieces.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
];
const ending = [{ type: "finish-step" }, { type: "finish", finishReason: "stop" }];
const kept = (calls: readonly unknown[][]) =>
  calls.flatMap(([name, message]) =>
    name === "finish" && message !== null
      ? [[JSON.parse(Object(message).body).parts, Object(message).partial]]
      : [],
  );

/** The chunks of the reply, read after its end. */
async function filled(given: Given) {
  const all = turnForTest(given);
  const reply = new RunningReply();
  await inTime(fillReply(all.turn, reply), "the end of the reply");
  return { ...all, chunks: await allInTime(reply.read(), "the chunks") };
}

test("without a conversation the chunks come as they are, and nothing is kept", async () => {
  const { turn, names } = turnForTest({ isKept: false, replies: [textParts("a", "b")] });
  const chunks = await runChat(turn, { resumable: undefined });
  expect(await all(chunks)).toEqual([body.start, body.step, ...text("a", "b"), ...ending]);
  expect(names()).toEqual(["parts", "end"]);
});

test("only a reply in a conversation can be resumed", async () => {
  const { turn, names } = turnForTest({ isKept: false });
  await expect(runChat(turn, { resumable: true })).rejects.toThrow(
    "Invalid option resumable: only a reply in a conversation can be resumed",
  );
  expect(names()).toEqual(["end"]);
});

test.each([
  [undefined, true, true],
  [true, true, true],
  [false, true, false],
  [undefined, false, false],
  [false, false, false],
])("resumable %s, kept %s: others may attach: %s", async (resumable, isKept, isAttachable) => {
  const held = Promise.withResolvers<void>();
  const { turn, names } = turnForTest({ isKept, replies: [[() => held.promise, ...textParts("a")]] });
  const chunks = await runChat(turn, { resumable });
  expect(names().includes("allowAttach")).toBe(isAttachable);
  await chunks.return?.();
  expect(names().includes("stop")).toBe(!isAttachable);
  held.resolve();
  await expect.poll(names).toContain("end");
});

test("a conversation has the message before the reader sees the end", async () => {
  const reply = new RunningReply();
  const seen: unknown[][] = [];
  const read = reply.read();
  const given = turnForTest({ replies: [[...textParts("a").slice(0, -1), textParts().at(-1) ?? {}]] });
  const { turn, calls } = given;
  const data = { type: "data-step", data: 1 } as const;
  given.operation.writeChunk(data);
  const filling = fillReply(turn, reply);
  for await (const chunk of read) seen.push([chunk.type, calls.some(([name]) => name === "finish")]);
  await inTime(filling, "the end of the reply");
  expect(seen).toEqual([
    ...["data-step", "start", "start-step", "text-start", "text-delta", "text-end", "finish-step"].map(
      (type) => [type, false],
    ),
    ["finish", true],
  ]);
  const parts = [data, { type: "step-start" }, { type: "text", text: "a", state: "done" }];
  expect(kept(calls)).toEqual([[parts, false]]);
  expect(given.names()).toEqual(["endsEarlyWith", "parts", "finish", "completed", "end"]);
  const soFar = calls[0]?.[1];
  expect(typeof soFar === "function" && (await soFar())).toMatchObject({ messageId: "m", partial: true });
});

test("the end of an uncommitted step is seen with the end of the reply, or once another step begins", async () => {
  const loop = { recorder: { deferral: { isDeferring: true } } };
  const steps = [...textParts("a").slice(0, -1), ...textParts("b").slice(1)];
  const { chunks, calls } = await filled({ loop, replies: [steps] });
  expect(chunks).toEqual([
    ...[body.start, body.step, ...text("a"), { type: "finish-step" }],
    ...[body.step, ...text("b"), ...ending],
  ]);
  expect(kept(calls)).toHaveLength(1);
  const given = turnForTest({ loop, replies: [textParts("a")] });
  const reply = new RunningReply();
  const seen: unknown[] = [];
  const filling = fillReply(given.turn, reply);
  for await (const { type } of reply.read())
    if (type.startsWith("finish")) seen.push([type, given.names().includes("finish")]);
  await inTime(filling, "the end of the reply");
  expect(seen).toEqual([
    ["finish-step", true],
    ["finish", true],
  ]);
});

test("a reply that cannot be kept ends in an error instead of its end", async () => {
  const { chunks, names } = await filled({ replies: [textParts("a")], failure: new ReplyStoppedError() });
  expect(chunks).toEqual([
    ...[body.start, body.step, ...text("a"), { type: "finish-step" }],
    { type: "error", errorText: "The reply was stopped" },
  ]);
  expect(names()).toEqual(["endsEarlyWith", "parts", "finish", "toolsEnded", "finish", "end"]);
});

test("a reply that breaks off is kept as far as it came", async () => {
  const broken = [...textParts("a").slice(0, 4), { type: "error", error: new Error("provider down") }];
  const { chunks, calls, names } = await filled({ replies: [broken] });
  expect(chunks.at(-1)).toEqual({ type: "error", errorText: "The model provider failed to answer" });
  const parts = [{ type: "step-start" }, { type: "text", text: "a", state: "streaming" }];
  expect(kept(calls)).toEqual([[parts, true]]);
  expect(names()).toEqual(["endsEarlyWith", "parts", "toolsEnded", "finish", "end"]);
});
