// The size of a caller's messages, on both sides of each bound, and the cost of refusing them.
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readMessages } from "./given-messages.ts";
import { checkSizes, splitPart } from "./message-sizes.ts";

const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
const keys = (length: number, value: unknown) =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, value]));
const text = { type: "text", text: "hi" };
const chat = (...parts: unknown[]) => [{ id: "m", role: "assistant", parts }];
const result = (...value: unknown[]) => ({
  type: "tool-result",
  toolCallId: "c",
  toolName: "t",
  output: { type: "content", value },
});
const citation = { source: { type: "source", sourceType: "url", id: "s", url: "https://a.example" } };
const read = (input: unknown) => readMessages(input, {}, "all");

describe("accepted", () => {
  test.each<[string, unknown]>([
    ["10 000 parts in two messages", [...chat(...times(5000, text)), ...chat(...times(5000, text))]],
    ["10 000 parts of model messages", [{ role: "user", content: times(10_000, text) }]],
    // The list of messages, the message with its id, role, parts and part, which has a type: 7 values and the list itself.
    ["200 000 JSON values", chat({ type: "data-table", data: times(199_992, 0) })],
    ["500 values that can be wrong", chat({ ...text, unknown: times(496, 0) })],
    ["any number of values in metadata", chat({ ...text, providerMetadata: { a: { b: times(50_000, 0) } } })],
    ["a long list of citations", chat({ ...text, citations: times(9000, citation) })],
    ["a long steering message", chat({ type: "steering-message", id: "s", parts: times(9000, text) })],
    ["a long list of a tool's content", [{ role: "tool", content: [result(...times(9000, text))] }]],
    ["a model's metadata", [{ role: "user", content: "hi", providerOptions: { a: keys(9000, 0) } }]],
  ])("%s", async (_, input) => {
    await expect(read(input)).resolves.toMatchObject({ messages: expect.any(Array) });
  });

  test("as it was sent", async () => {
    const parts = [
      text,
      { ...text, citations: [citation, citation], providerMetadata: { a: { b: 1 } } },
      {
        type: "dynamic-tool",
        toolName: "t",
        toolCallId: "c",
        state: "output-available",
        input: [1],
        output: {},
      },
    ];
    const message = { id: "m", role: "assistant", metadata: { some: "thing" }, parts };
    expect(await read([message])).toEqual({ kind: "chat", messages: [message] });
    const asked = { role: "tool", content: [result(text, text)], providerOptions: { a: { b: 1 } } };
    expect(await read([asked])).toEqual({ kind: "model", messages: [asked] });
  });

  test("and other work of the process gets its turn meanwhile", async () => {
    let turns = 0;
    let reading = true;
    const others = (async () => {
      for (; reading; turns++) await turn();
    })();
    await read(chat(...times(9999, text)));
    reading = false;
    await others;
    expect(turns).toBeGreaterThan(50);
  });
});

test.each<[string, unknown, RegExp]>([
  [
    "10 001 parts in two messages",
    [...chat(...times(5000, text)), ...chat(...times(5001, text))],
    /10000 parts/,
  ],
  ["10 001 parts of model messages", [{ role: "user", content: times(10_001, text) }], /10000 parts/],
  ["200 001 JSON values", chat({ type: "data-table", data: times(199_993, 0) }), /200000 JSON values/],
  ["501 values that can be wrong", chat({ ...text, unknown: times(497, 0) }), /a part has more than 500/],
  ["objects in an unknown field", chat({ ...text, unknown: keys(500, {}) }), /a part has more than 500/],
  [
    "metadata of another shape",
    chat({ ...text, providerMetadata: keys(500, 0) }),
    /a part has more than 500/,
  ],
  ["lists as metadata", chat({ ...text, providerMetadata: keys(500, []) }), /a part has more than 500/],
  [
    "metadata that is a list",
    chat({ ...text, providerMetadata: times(500, {}) }),
    /a part has more than 500/,
  ],
  [
    "a model message's metadata of another shape",
    [{ role: "user", content: "hi", providerOptions: keys(500, 0) }],
    /a message has more than 500/,
  ],
  [
    "a long list of file data",
    [{ role: "user", content: [{ type: "file", mediaType: "a/b", data: keys(500, 0) }] }],
    /a part has more than 500/,
  ],
  ["a wrong citation among many", chat({ ...text, citations: [...times(600, citation), 0] }), /not an array/],
  [
    "a wrong part of a steering message",
    chat({ type: "steering-message", id: "s", parts: [...times(600, text), 0] }),
    /not an array/,
  ],
  [
    "wrong content of a tool among much",
    [{ role: "tool", content: [result(...times(600, text), 0)] }],
    /0: not a message/,
  ],
])("%s is refused", async (_, input, problem) => {
  await expect(read(input)).rejects.toThrow(problem);
});

// Each of them took seconds and hundreds of megabytes when all of it was given to the AI SDK's schemas at once.
test.each<[string, unknown]>([
  ["parts of an unknown type", chat(...times(9999, { type: "x" }))],
  ["parts without their fields", chat(...times(9999, { type: "text" }))],
  ["tool calls without their fields", chat(...times(9999, { type: "tool-x" }))],
  ["parts that are no objects", chat(...times(9999, 0))],
  ["messages without their fields", times(1000, { id: "m", role: "x", parts: times(10, { type: "x" }) })],
  ["metadata of another shape", chat({ ...text, providerMetadata: keys(50_000, 0) })],
  [
    "parts of a steering message",
    chat({ type: "steering-message", id: "s", parts: times(9999, { type: "x" }) }),
  ],
  [
    "a model message's parts of an unknown type",
    [{ role: "assistant", content: times(9999, { type: "x" }) }],
  ],
  [
    "a tool's content of an unknown type",
    [{ role: "tool", content: [result(...times(9999, { type: "x" }))] }],
  ],
  ["many parts", [{ id: "m", role: "user", parts: times(190_000, 0) }]],
])("%s are refused within little work", async (_, input) => {
  const before = process.cpuUsage();
  await expect(read(input)).rejects.toMatchObject({ status: 400 });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(700);
});

describe("the elements of the list inside a part", () => {
  test("are parts of their own, and the part is left without them", () => {
    expect(splitPart({ type: "text", text: "hi", citations: [1, 2] })).toEqual({
      rest: { type: "text", text: "hi", citations: [] },
      elements: [1, 2].map((each) => ({ type: "text", text: "", citations: [each] })),
    });
    expect(splitPart({ type: "steering-message", id: "s", parts: [1, 2] })).toEqual({
      rest: { type: "steering-message", id: "s", parts: [] },
      elements: [1, 2].map((each) => ({ type: "steering-message", id: "", parts: [each] })),
    });
    expect(splitPart(result(1, 2))).toEqual({
      rest: result(),
      elements: [1, 2].map((each) => ({ ...result(each), toolCallId: "", toolName: "" })),
    });
  });

  test.each<[unknown]>([
    [5],
    [null],
    [text],
    [{ type: "text", citations: "none" }],
    [{ type: "text", parts: [1] }],
    [{ type: "reasoning", citations: [1] }],
    [{ type: "steering-message", parts: "none" }],
    [{ type: "steering-message", citations: [1] }],
    [{ type: "tool-result", output: null }],
    [{ type: "tool-result", output: { type: "json", value: [1] } }],
    [{ type: "tool-result", output: { type: "content", value: "none" } }],
    [{ type: "tool-x", output: { type: "content", value: [1] } }],
  ])("are none in %j", (part) => {
    expect(splitPart(part)).toEqual({ rest: part, elements: [] });
  });
});

describe("before the schemas", () => {
  const many = times(501, 0);
  const beside = "has more than 500 JSON values beside its data, input, output and metadata";

  test.each<["parts" | "content", unknown[]]>([
    ["parts", times(1000, {})],
    ["parts", [null, 5, "text", { parts: "none" }, { parts: [null, 5] }]],
    ["parts", [{ parts: many, metadata: many }]],
    ["content", [{ content: many, metadata: many }]],
    [
      "parts",
      ["input", "output", "rawInput", "data", "approval"].map((free) => ({ parts: [{ [free]: many }] })),
    ],
    ["content", ["input", "inputSchemaInput", "output"].map((free) => ({ content: [{ [free]: many }] }))],
    ["content", ["input", "inputSchemaInput"].map((free) => ({ content: [{ ...result(), [free]: many }] }))],
    ["content", [{ content: [{ output: { type: "json", value: many } }] }]],
    ["parts", [{ parts: [{ callProviderMetadata: { a: { b: many } }, someOptions: { a: { b: many } } }] }]],
    // The list of values, and each of them.
    ["parts", [{ unknown: times(498, 0) }]],
  ])("messages with %s are let through (case %#)", (field, messages) => {
    expect(() => checkSizes(messages, field)).not.toThrow();
  });

  test.each<["parts" | "content", unknown[], string]>([
    ["parts", times(1001, {}), "more than 1000 messages"],
    ["parts", [times(200_000, 0)], "more than 200000 JSON values"],
    ["parts", [{ content: many }], `a message ${beside}`],
    ["content", [{ parts: many }], `a message ${beside}`],
    ["parts", [{}, { unknown: times(499, 0) }], `a message ${beside}`],
    ["parts", [{ parts: [text, { inputSchemaInput: many }] }], `a part ${beside}`],
    ["content", [{ content: [{ rawInput: many }] }], `a part ${beside}`],
    ["content", [{ content: [{ data: many }] }], `a part ${beside}`],
    ["content", [{ content: [{ approval: many }] }], `a part ${beside}`],
    ["content", [{ content: [{ type: "x", output: { type: "content", value: many } }] }], `a part ${beside}`],
    ["parts", [{ parts: [{ providerOptionsOf: { a: { b: many } } }] }], `a part ${beside}`],
    ["parts", [{ parts: [{ ...text, citations: [many] }] }], `a part ${beside}`],
  ])("messages with too many %s are refused (case %#)", (field, messages, problem) => {
    expect(() => checkSizes(messages, field)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(`input: ${problem}`) }),
    );
  });

  test("values above the bound are not looked at", () => {
    const unread = {
      get value() {
        throw new Error("was read");
      },
    };
    expect(() => checkSizes([unread, times(200_000, 0)], "parts")).toThrow("more than 200000 JSON values");
  });
});
