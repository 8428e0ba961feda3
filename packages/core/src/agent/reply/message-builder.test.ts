// A reply that is text alone becomes the message that the AI SDK builds of the same chunks; of others nothing is said.
import { createUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainMessage } from "./message-builder.ts";

async function builtBySdk(chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> {
  let message: UIMessage | undefined;
  const stream = createUIMessageStream<UIMessage>({
    originalMessages: [],
    generateId: () => "reply",
    execute: ({ writer }) => {
      for (const chunk of chunks) writer.write(chunk);
    },
    onEnd: ({ responseMessage }) => {
      message = responseMessage;
    },
  });
  await stream.pipeTo(new WritableStream());
  return message;
}

const id = fc.constantFrom("1", "2");
const plainChunk: fc.Arbitrary<UIMessageChunk> = fc.oneof(
  fc.constant<UIMessageChunk>({ type: "start" }),
  fc.constant<UIMessageChunk>({ type: "start", messageId: "named" }),
  fc.constant<UIMessageChunk>({ type: "start-step" }),
  fc.constant<UIMessageChunk>({ type: "finish-step" }),
  fc.constant<UIMessageChunk>({ type: "finish", finishReason: "stop" }),
  fc.record({ type: fc.constant("text-start" as const), id }),
  fc.record({ type: fc.constant("text-delta" as const), id, delta: fc.string() }),
  fc.record({ type: fc.constant("text-end" as const), id }),
);

test("the message is the one that the AI SDK builds, complete or broken off", async () => {
  const builds = fc.asyncProperty(fc.array(plainChunk, { maxLength: 12 }), async (chunks) => {
    const message = plainMessage("reply", chunks);
    // A delta of a text that is not open is the AI SDK's to refuse.
    if (message === undefined) await expect(builtBySdk(chunks)).rejects.toThrow("missing text part");
    else expect(JSON.stringify(message)).toBe(JSON.stringify(await builtBySdk(chunks)));
  });
  await fc.assert(builds, { numRuns: 200 });
});

const text: readonly UIMessageChunk[] = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Allegro" },
];
const metadata = { provider: { cached: true } };

test.each<[string, UIMessageChunk]>([
  ["a provider's metadata", { type: "text-end", id: "1", providerMetadata: metadata }],
  ["the host's metadata", { type: "finish", messageMetadata: { mood: "bright" } }],
  ["reasoning", { type: "reasoning-start", id: "2" }],
  ["a tool", { type: "tool-input-available", toolCallId: "a", toolName: "tune", input: {} }],
  ["data", { type: "data-tempo", data: 120 }],
  ["a source", { type: "source-url", sourceId: "s", url: "https://one.example" }],
])("with %s it is left to the AI SDK", (_, chunk) => {
  expect(plainMessage("reply", [...text, chunk])).toBeUndefined();
});
