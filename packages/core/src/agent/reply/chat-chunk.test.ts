// The chunks of a part of a reply, and the place of the host's metadata among them.
import type { UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import type { MessageMetadata } from "../call/message-options.ts";
import { chatChunks } from "./chat-chunk.ts";

function chunksOf(part: object, messageMetadata?: MessageMetadata): UIMessageChunk[] {
  const chunks: UIMessageChunk[] = [];
  chatChunks(Object(part), { messageId: "m", tools: {}, messageMetadata }, (chunk) => chunks.push(chunk));
  return chunks;
}

const metadata: UIMessageChunk = { type: "message-metadata", messageMetadata: { n: 1 } };
const url = "https://one.example";

test.each<[object, object[]]>([
  [{ type: "start" }, [{ type: "start", messageId: "m" }]],
  [{ type: "reasoning-delta", id: "r", text: "hm" }, [{ type: "reasoning-delta", id: "r", delta: "hm" }]],
  [{ type: "source", sourceType: "url", id: "s", url }, [{ type: "source-url", sourceId: "s", url }]],
  [{ type: "error", error: new Error("secret") }, [{ type: "error", errorText: "The reply failed" }]],
  [{ type: "raw", rawValue: 1 }, []],
])("of %j", (part, expected) => {
  expect(chunksOf(part)).toEqual(expected);
});

test("metadata is in the first and the last chunk, before the end of a step and after other chunks", () => {
  const parts: object[] = [];
  const make: MessageMetadata = ({ part }) => {
    parts.push(part);
    return { n: 1 };
  };
  const delta = { type: "text-delta", id: "t", text: "a" };
  expect(chunksOf({ type: "start" }, make)).toEqual([
    { type: "start", messageId: "m", messageMetadata: { n: 1 } },
  ]);
  expect(chunksOf({ type: "finish", finishReason: "stop" }, make)).toEqual([
    { type: "finish", finishReason: "stop", messageMetadata: { n: 1 } },
  ]);
  expect(chunksOf(delta, make)).toEqual([{ type: "text-delta", id: "t", delta: "a" }, metadata]);
  expect(chunksOf({ type: "finish-step" }, make)).toEqual([metadata, { type: "finish-step" }]);
  expect(chunksOf({ type: "raw", rawValue: 1 }, make)).toEqual([metadata]);
  expect(parts[2]).toEqual(delta);
  for (const none of [() => undefined, () => null])
    expect(chunksOf(delta, none)).toEqual([{ type: "text-delta", id: "t", delta: "a" }]);
});

test("a function of the host that fails is named", () => {
  const fail = () => {
    throw new Error("boom");
  };
  expect(() => chunksOf({ type: "start" }, fail)).toThrow("The agent's messageMetadata failed");
});
