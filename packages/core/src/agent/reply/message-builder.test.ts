// A reply that is text alone becomes the message that the AI SDK builds of the same chunks; of others nothing is said.
import { createUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PublicError } from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { writeError, writeOutput } from "../durable/tool-outcome.ts";
import { MessageBuilder, plainMessage } from "./message-builder.ts";

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

/** The message of these chunks, after these messages, where these tools have ended. */
async function built(
  chunks: readonly UIMessageChunk[],
  history: readonly UIMessage[] = [],
  endedTools?: ReadonlyMap<string, string>,
) {
  const logger = new RecordingLogger();
  const loop = endedTools && { endedTools };
  const builder = new MessageBuilder({ messageId: "reply", history, operation: Object({ logger, loop }) });
  for (const chunk of chunks) builder.add(chunk);
  return { message: await builder.finish(), lines: logger.lines };
}

const called = (toolCallId: string): UIMessageChunk => ({
  ...{ type: "tool-input-available", toolCallId, toolName: "tune", input: { a: 1 } },
});
const part = (toolCallId: string) => ({ type: "tool-tune", toolCallId, input: { a: 1 } });

test("errors and aborts are no part of the message; data is copied, and replaced by later data", async () => {
  const data: UIMessageChunk = { type: "data-tempo", id: "d", data: 120 };
  const { message, lines } = await built([
    ...text,
    { type: "text-delta", id: "1", delta: " con brio" },
    data,
    { type: "data-tempo", id: "d", data: 130 },
    { type: "error", errorText: "x" },
    { type: "abort" },
  ]);
  expect(message).toEqual({
    id: "reply",
    role: "assistant",
    parts: [
      { type: "text", text: "Allegro con brio", state: "streaming" },
      { type: "data-tempo", id: "d", data: 130 },
    ],
  });
  expect(data).toEqual({ type: "data-tempo", id: "d", data: 120 });
  expect(lines).toEqual([]);
});

test("a reply that continues a message of the assistant is added to it", async () => {
  const before: UIMessage = { id: "before", role: "assistant", parts: [{ type: "text", text: "One." }] };
  const { message } = await built(text, [before]);
  expect(message).toEqual({
    ...before,
    parts: [
      { type: "text", text: "One." },
      { type: "text", text: "Allegro", state: "streaming" },
    ],
  });
});

test("results of tools that ended after the reply broke off are added where they are missing", async () => {
  const ended = new Map([
    ["open", writeOutput(5, "t") ?? ""],
    ["shown", writeOutput(6, "t") ?? ""],
    ["failed", writeError(new Error("password")) ?? ""],
    ["refused", writeError(new PublicError("No paper")) ?? ""],
    ["done", writeOutput(7, "t") ?? ""],
    ["wrong", writeOutput(8, "t") ?? ""],
    ["asked", writeOutput(10, "t") ?? ""],
    ["unknown", writeOutput(9, "t") ?? ""],
  ]);
  const output = (toolCallId: string, preliminary?: true): UIMessageChunk => ({
    ...{ type: "tool-output-available", toolCallId, output: 1 },
    ...(preliminary && { preliminary }),
  });
  const chunks = [
    ...["open", "shown", "failed", "refused", "done", "wrong", "asked"].map(called),
    { type: "tool-approval-request", approvalId: "p", toolCallId: "asked" } as const,
    output("shown", true),
    output("done"),
    { type: "tool-output-error", toolCallId: "wrong", errorText: "no" } as const,
  ];
  const { message } = await built(chunks, [], ended);
  expect(message?.parts).toMatchObject([
    { ...part("open"), state: "output-available", output: 5 },
    { ...part("shown"), state: "output-available", output: 6 },
    { ...part("failed"), state: "output-error", errorText: "The tool failed" },
    { ...part("refused"), state: "output-error", errorText: "No paper" },
    { ...part("done"), state: "output-available", output: 1 },
    { ...part("wrong"), state: "output-error", errorText: "no" },
    { ...part("asked"), state: "output-available", output: 10 },
  ]);
  const waiting = { ...part("open"), state: "input-available" } as const;
  const before: UIMessage = {
    id: "before",
    role: "assistant",
    parts: [{ type: "text", text: "x" }, Object(waiting)],
  };
  expect((await built([], [before], ended)).message?.parts).toMatchObject([
    { type: "text", text: "x" },
    { ...part("open"), state: "output-available", output: 5 },
  ]);
  expect((await built(text, [], new Map())).message?.parts).toHaveLength(1);
});

test("a message that cannot be built is logged, and is there as far as it goes", async () => {
  const { message, lines } = await built([...text, { type: "reasoning-delta", id: "none", delta: "x" }]);
  expect(lines).toEqual([
    {
      ...{ level: "error", msg: "the message of a reply could not be built completely" },
      err: expect.any(Error),
    },
  ]);
  expect(message?.parts ?? []).toEqual(
    message === undefined ? [] : [expect.objectContaining({ text: "Allegro" })],
  );
});
