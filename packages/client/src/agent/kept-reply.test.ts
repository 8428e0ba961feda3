// From any point at which a connection was lost: with the missing chunks, the AI SDK reads the kept message.
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import type { ChatChunk, ConversationMessage } from "../responses/wire.ts";
import { missingChunks } from "./kept-reply.ts";

const reply: UIMessageChunk[] = [
  { type: "start", messageId: "m" },
  { type: "start-step" },
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "Hm, " },
  { type: "reasoning-delta", id: "r", delta: "well." },
  { type: "reasoning-end", id: "r" },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "Let me " },
  { type: "text-delta", id: "0", delta: "see." },
  { type: "text-end", id: "0" },
  { type: "tool-input-available", toolCallId: "a", toolName: "add", input: { a: 1 } },
  { type: "tool-output-available", toolCallId: "a", output: 2, preliminary: true },
  { type: "tool-output-available", toolCallId: "a", output: 3 },
  { type: "tool-input-available", toolCallId: "b", toolName: "fail", input: {} },
  { type: "tool-output-error", toolCallId: "b", errorText: "no" },
  { type: "tool-input-available", toolCallId: "d", toolName: "any", input: {}, dynamic: true },
  { type: "tool-output-available", toolCallId: "d", output: "x", dynamic: true },
  { type: "finish-step" },
  { type: "start-step" },
  { type: "file", url: "data:text/plain,hi", mediaType: "text/plain" },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "It is 3." },
  { type: "text-end", id: "0" },
  { type: "tool-input-available", toolCallId: "c", toolName: "remove", input: { file: "f" } },
  { type: "tool-approval-request", toolCallId: "c", approvalId: "p" },
  { type: "finish-step" },
  { type: "finish" },
];

/** The message that the AI SDK builds from chunks. */
async function messageOf(chunks: readonly ChatChunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      // The chunks have the AI SDK's type.
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream })) message = state;
  return message;
}

function kept(message: UIMessage | undefined): ConversationMessage {
  return JSON.parse(JSON.stringify({ ...message, createdAt: "" }));
}

test("after every chunk of a reply with text, reasoning, tools, a file and an approval", async () => {
  const chunks: ChatChunk[] = reply.map((chunk) => ({ ...chunk }));
  const whole = kept(await messageOf(chunks));
  expect(whole.parts).toHaveLength(10);
  for (let length = 0; length <= chunks.length; length += 1) {
    const known = chunks.slice(0, length);
    const missing = missingChunks(whole, known, 0);
    expect(kept(await messageOf([...known, ...missing])).parts, `after ${length}`).toEqual(whole.parts);
    expect([...known, ...missing].at(-1)?.type).toBe("finish");
  }
});

test("a text that is another one is an error", async () => {
  const chunks: ChatChunk[] = reply.map((chunk) => ({ ...chunk }));
  const known = [...chunks.slice(0, 7), { type: "text-delta", id: "0", delta: "I will " }];
  const whole = kept(await messageOf(chunks));
  expect(() => missingChunks(whole, known, 0)).toThrow(expect.objectContaining({ code: "reply-changed" }));
});

test("a reply that was stopped has no end of its own", async () => {
  const chunks: ChatChunk[] = reply.slice(0, 8).map((chunk) => ({ ...chunk }));
  const partial = { ...kept(await messageOf(chunks)), partial: true } as const;
  expect(missingChunks(partial, chunks.slice(0, 7), 0).map(({ type }) => type)).toEqual([
    "text-delta",
    "text-end",
  ]);
});

test("of a message that is continued, only the outcomes of its calls and the new parts", () => {
  const call = { type: "tool-remove", toolCallId: "c", input: {}, approval: { id: "p", approved: false } };
  const message: ConversationMessage = {
    id: "m",
    role: "assistant",
    createdAt: "",
    parts: [
      { type: "step-start" },
      { ...call, state: "output-denied" },
      { type: "step-start" },
      { type: "text", text: "Fine." },
    ],
  };
  expect(missingChunks(message, [{ type: "start", messageId: "m" }], 2).map(({ type }) => type)).toEqual([
    ...["tool-output-denied", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"],
  ]);
});
