// A kept message as the chunks that made it, before those of the reply that continues it.
import type { UIMessage, UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { chunksOf, replay } from "./replay-message.ts";

async function* reply(): AsyncGenerator<UIMessageChunk> {
  yield { type: "start" };
  yield { type: "finish" };
}

async function chunksAround(...parts: UIMessage["parts"]): Promise<UIMessageChunk[]> {
  const all: UIMessageChunk[] = [];
  for await (const chunk of replay({ id: "m", role: "assistant", parts }, reply())) {
    all.push(chunk);
    // One that does not end would not be noticed otherwise.
    expect(all.length).toBeLessThan(50);
  }
  expect([all.shift(), all.pop()]).toStrictEqual([{ type: "start" }, { type: "finish" }]);
  return all;
}

const providerMetadata = { test: { n: 1 } };
const call = { toolCallId: "c", input: { a: 1 } };

test("texts and reasoning are a start, a delta and an end, steps are around them", async () => {
  const parts: UIMessage["parts"] = [
    { type: "step-start" },
    { type: "reasoning", text: "hm", providerMetadata },
    { type: "step-start" },
    { type: "text", text: "hello" },
  ];
  expect(await chunksAround(...parts)).toStrictEqual([
    { type: "start-step" },
    { type: "reasoning-start", id: "kept-1", providerMetadata },
    { type: "reasoning-delta", id: "kept-1", delta: "hm" },
    { type: "reasoning-end", id: "kept-1", providerMetadata },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "text-start", id: "kept-3" },
    { type: "text-delta", id: "kept-3", delta: "hello" },
    { type: "text-end", id: "kept-3" },
    { type: "finish-step" },
  ]);
  expect(await chunksAround({ type: "text", text: "alone" })).toHaveLength(3);
});

test("files, sources and data are as they were", async () => {
  const file = { type: "file", url: "data:,x", mediaType: "text/plain" } as const;
  const source = { type: "source-url", sourceId: "s", url: "http://x" } as const;
  const data = { type: "data-weather", id: "d", data: { hot: true } } as const;
  const document = { type: "source-document", sourceId: "d", mediaType: "text/plain", title: "t" } as const;
  const thought = { type: "reasoning-file", url: "data:,y", mediaType: "text/plain" } as const;
  const custom = { type: "custom", kind: "test.card", providerMetadata } as const;
  const parts = [file, { ...file, providerMetadata }, source, data, document, thought, custom];
  expect(await chunksAround(...parts)).toStrictEqual(parts);
  // The stream has no field for the name.
  expect(await chunksAround({ ...file, filename: "x.txt" })).toStrictEqual([file]);
});

test("a tool whose input was still streaming begins with the input so far", async () => {
  const part = { type: "tool-add", toolCallId: "c", state: "input-streaming", input: undefined } as const;
  const start = { type: "tool-input-start", toolCallId: "c", toolName: "add" };
  expect(await chunksAround(part)).toStrictEqual([start]);
  expect(await chunksAround({ ...part, rawInput: '{"a', inputEncoding: "text" })).toStrictEqual([
    { ...start, inputEncoding: "text" },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"a' },
  ]);
});

test.each<[string, UIMessage["parts"][number], UIMessageChunk[]]>([
  ["asked for", { ...call, type: "tool-add", state: "input-available" }, []],
  [
    "with an output",
    { ...call, type: "tool-add", state: "output-available", output: 3 },
    [{ type: "tool-output-available", toolCallId: "c", output: 3 }],
  ],
  [
    "with an output so far",
    { ...call, type: "tool-add", state: "output-available", output: 3, preliminary: true },
    [{ type: "tool-output-available", toolCallId: "c", output: 3, preliminary: true }],
  ],
  [
    "whose provider says more about its output",
    {
      ...{ ...call, type: "tool-add", state: "output-available", output: 3 },
      resultProviderMetadata: providerMetadata,
    },
    [{ type: "tool-output-available", toolCallId: "c", output: 3, providerMetadata }],
  ],
  [
    "that failed",
    { ...call, type: "tool-add", state: "output-error", errorText: "no" },
    [{ type: "tool-output-error", toolCallId: "c", errorText: "no" }],
  ],
  [
    "that was denied",
    {
      ...call,
      type: "tool-add",
      state: "output-denied",
      approval: { id: "a", approved: false, reason: "no" },
    },
    [
      { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
      { type: "tool-approval-response", approvalId: "a", approved: false, reason: "no" },
      { type: "tool-output-denied", toolCallId: "c" },
    ],
  ],
  [
    "that was approved without a reason",
    {
      ...{ ...call, type: "tool-add", state: "approval-responded" },
      approval: { id: "a", approved: true },
    },
    [
      { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
      { type: "tool-approval-response", approvalId: "a", approved: true },
    ],
  ],
  [
    "that waits for an approval",
    { ...call, type: "tool-add", state: "approval-requested", approval: { id: "a" } },
    [{ type: "tool-approval-request", approvalId: "a", toolCallId: "c" }],
  ],
])("a tool %s", async (_, part, after) => {
  const input = { type: "tool-input-available", toolCallId: "c", toolName: "add", input: { a: 1 } };
  expect(await chunksAround(part)).toStrictEqual([input, ...after]);
});

test("a dynamic tool, and one that the provider runs, say so", async () => {
  const state = "output-available" as const;
  const [dynamic] = await chunksAround({
    ...call,
    type: "dynamic-tool",
    toolName: "found",
    state,
    output: 1,
  });
  expect(dynamic).toMatchObject({ toolName: "found", dynamic: true });
  const own = {
    ...call,
    type: "tool-add",
    state,
    output: 1,
    callProviderMetadata: providerMetadata,
  } as const;
  const [executed] = await chunksAround({ ...own, providerExecuted: true });
  expect(executed).toMatchObject({ toolName: "add", providerExecuted: true, providerMetadata });
  expect(executed).not.toHaveProperty("dynamic");
});

test("citations of a text, the title of a tool and the details of an approval are kept", async () => {
  const citations = [{ type: "url", url: "http://x", title: "x" }];
  const cited = { type: "text", text: "so", citations };
  const text = await chunksAround(Object(cited));
  expect(text.at(-1)).toStrictEqual({ type: "text-end", id: "kept-0", citations });
  const about = { inputSchemaInput: { a: 1 }, signature: "s", isAutomatic: false };
  const approval = { id: "a", ...about, requestReason: "why", descriptor: { kind: "d" } };
  const state = "approval-requested" as const;
  const named = { title: "Add", toolMetadata: { from: "shelf" } };
  const asked = await chunksAround(Object({ ...call, type: "tool-add", state, ...named, approval }));
  expect(asked).toMatchObject([
    { type: "tool-input-available", ...named },
    { type: "tool-approval-request", ...about, reason: "why", approvalDescriptor: { kind: "d" } },
  ]);
  const plain = await chunksAround({ ...call, type: "tool-add", state, approval: { id: "a" } });
  expect(plain.map((chunk) => Object.keys(chunk))).toStrictEqual([
    ["type", "toolCallId", "toolName", "input"],
    ["type", "approvalId", "toolCallId"],
  ]);
});

test("the host's metadata of the message comes first", async () => {
  const message: UIMessage = {
    id: "m",
    role: "assistant",
    metadata: { cost: 3 },
    parts: [{ type: "text", text: "x" }],
  };
  const chunks = chunksOf(message);
  expect(chunks[0]).toStrictEqual({ type: "message-metadata", messageMetadata: { cost: 3 } });
  expect(chunks).toHaveLength(4);
});

test("a reader that stops releases the reply", async () => {
  let released = false;
  async function* held(): AsyncGenerator<UIMessageChunk> {
    try {
      yield* reply();
    } finally {
      released = true;
    }
  }
  const chunks = replay({ id: "m", role: "assistant", parts: [{ type: "text", text: "x" }] }, held());
  await chunks.next();
  expect(await chunks.return?.()).toStrictEqual({ done: true, value: undefined });
  expect(released).toBe(true);
  const { next } = reply();
  const endless = Object({ next, [Symbol.asyncIterator]: () => endless });
  const unread = replay({ id: "m", role: "assistant", parts: [] }, endless);
  expect(await unread.return?.()).toStrictEqual({ done: true, value: undefined });
});
