// A recorded reply, read as one that comes at once: everything that the model said, and nothing else.
import { expect, test } from "vitest";
import {
  hashOf,
  type ModelPart,
  PartCollector,
  partsOf,
  readReply,
  resultOf,
  toolCallIds,
} from "./model-parts.ts";

const tokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
const usage = {
  inputTokens: tokens,
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const timestamp = new Date(0);
const finishReason = { unified: "tool-calls", raw: "tool_use" } as const;
const call = { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}" } as const;
const theirs = { ...call, toolCallId: "c2", providerExecuted: true } as const;

const parts: ModelPart[] = [
  { type: "stream-start", warnings: [{ type: "other", message: "careful" }] },
  { type: "response-metadata", id: "r", timestamp, modelId: "m" },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", delta: "hm" },
  { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "s" } } },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Let " },
  { type: "text-delta", id: "1", delta: "me see" },
  { type: "text-end", id: "1" },
  { type: "tool-input-start", id: "c1", toolName: "add" },
  { type: "tool-input-delta", id: "c1", delta: "{}" },
  { type: "tool-input-end", id: "c1" },
  call,
  theirs,
  { type: "finish", finishReason, usage, providerMetadata: { p: { kept: true } } },
];

const result = {
  content: [
    { type: "reasoning", text: "hm", providerMetadata: { p: { signature: "s" } } },
    { type: "text", text: "Let me see" },
    call,
    theirs,
  ],
  finishReason,
  usage,
  warnings: [{ type: "other", message: "careful" }],
  response: { id: "r", timestamp, modelId: "m" },
  providerMetadata: { p: { kept: true } },
} as const;

test("parts are put together", () => {
  expect(resultOf({ parts })).toStrictEqual(result);
  expect(resultOf({ parts, structuredOutputText: "{}" })).toStrictEqual({
    ...result,
    structuredOutputText: "{}",
  });
});

test("a reply that came at once is the same when its parts are put together again", () => {
  const again = { ...result, content: [...result.content], warnings: [...result.warnings] };
  expect(resultOf({ parts: partsOf(again) })).toStrictEqual(result);
});

test("a reply that came at once has a start, a delta and an end for each of its texts", () => {
  const again = { ...result, content: [...result.content], warnings: [...result.warnings] };
  const streamed = parts.filter(({ type }) => !type.startsWith("tool-input"));
  const [first, second] = [streamed[6], streamed[7]];
  expect([first, second].map((part) => part?.type)).toEqual(["text-delta", "text-delta"]);
  streamed.splice(6, 2, { type: "text-delta", id: "1", delta: "Let me see" });
  expect(partsOf(again)).toStrictEqual(streamed);
});

test("a reply that was cut short has only its known fields", () => {
  const unknown = {
    ...{ total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    ...{ text: undefined, reasoning: undefined },
  };
  expect(resultOf({ parts: [] })).toStrictEqual({
    content: [],
    finishReason: { unified: "other", raw: undefined },
    usage: { inputTokens: unknown, outputTokens: unknown },
    warnings: [],
  });
});

test("deltas and ends of a text that never began are left out", () => {
  const stray: ModelPart[] = [
    { type: "text-delta", id: "9", delta: "a" },
    { type: "reasoning-delta", id: "9", delta: "a" },
    { type: "text-end", id: "9" },
    { type: "raw", rawValue: 1 },
    { type: "error", error: "x" },
  ];
  expect(resultOf({ parts: stray }).content).toEqual([]);
});

test.each(["null", "{}", '{"parts":{}}', '{"parts":[{"type":"raw"},{}]}'])(
  "a record without parts is refused: %s",
  (text) => {
    expect(() => readReply(text)).toThrow(new TypeError("The recorded reply of a model has no parts"));
  },
);

test("the calls of tools that run here are counted, those of the provider are not", () => {
  expect(toolCallIds({ parts })).toStrictEqual(["c1"]);
});

test("neighbouring pieces are recorded as one, and the provider's other parts are not", () => {
  const metadata = { providerMetadata: { p: { n: 1 } } };
  const collected = (...given: ModelPart[]) => {
    const collector = new PartCollector();
    for (const part of given) collector.add(part);
    return collector.parts;
  };
  for (const type of ["text-delta", "reasoning-delta", "tool-input-delta"] as const) {
    const piece = { type, id: "1", delta: "a" };
    const other = { ...piece, id: "2" };
    const noted = { ...piece, ...metadata };
    expect(collected(piece, piece)).toStrictEqual([{ ...piece, delta: "aa" }]);
    expect(collected(piece, other)).toStrictEqual([piece, other]);
    expect(collected(piece, noted, piece)).toStrictEqual([piece, noted, piece]);
  }
  const [text, thought] = [
    { type: "text-delta", id: "1", delta: "a" },
    { type: "reasoning-delta", id: "1", delta: "a" },
  ] as const;
  expect(collected(text, thought, call)).toStrictEqual([text, thought, call]);
  expect(collected(text, { type: "raw", rawValue: 1 }, text)).toHaveLength(1);
  expect(collected({ type: "raw", rawValue: 1 }, { type: "ping" })).toStrictEqual([]);
});

test("a reply is read as it was recorded, its times included", () => {
  const text = JSON.stringify({ parts, structuredOutputText: "{}" });
  expect(readReply(text)).toEqual({ parts, structuredOutputText: "{}" });
  const untimed = { parts: [{ type: "response-metadata", id: "r" }] };
  expect(readReply(JSON.stringify(untimed))).toStrictEqual(untimed);
});

test("a reply that came at once has the provider's response fields", () => {
  const plain = { content: [], finishReason, usage, warnings: [] };
  const [start, finish] = [
    { type: "stream-start", warnings: [] },
    { type: "finish", finishReason, usage },
  ];
  expect(partsOf(plain)).toStrictEqual([start, finish]);
  for (const response of [{ id: "r" }, { timestamp }, { modelId: "m" }, {}])
    expect(partsOf({ ...plain, response })).toStrictEqual([
      start,
      { type: "response-metadata", ...response },
      finish,
    ]);
});

test("prompts differ by their words and by their bytes", () => {
  const prompt = (data: Uint8Array) => [{ role: "user", content: [{ type: "file", data }] }];
  const bytes = (...values: number[]) => hashOf(prompt(new Uint8Array(values)));
  expect(bytes(1, 2)).toBe(bytes(1, 2));
  expect(bytes(1, 2)).not.toBe(bytes(1, 3));
  expect(hashOf("a")).not.toBe(hashOf("b"));
  expect(hashOf("a")).toMatch(/^[0-9a-f]{32}$/);
});
