// The input of callers for an agent: accepted forms, and the errors of others.
import { tool, type UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Operation } from "../call/operation.ts";
import { forModel, historyForModel, lastOf, readMessages } from "./given-messages.ts";

const text = (value: string) => ({ type: "text", text: value });
const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
const user = (fields: object = {}) => ({ id: "m", role: "user", parts: [text("hi")], ...fields });

describe("in a conversation the last message is made a chat message", () => {
  const last = async (...messages: unknown[]) => lastOf(await readMessages(messages, {}, "last"));

  test.each<[string, unknown]>([
    ["a string", "hi"],
    ["parts of text", [text("hi")]],
  ])("from a model's message with %s", async (_, content) => {
    expect(await last({ role: "user", content })).toEqual({
      id: expect.any(String),
      role: "user",
      parts: [{ type: "text", text: "hi" }],
    });
  });

  test("and a chat message is taken as it is; those before it are not looked at", async () => {
    expect(await last("nonsense", user())).toEqual(user());
  });

  test("however many there are, and however many parts they have", async () => {
    const long = user({ parts: times(20, text("hi")) });
    expect(await last(...times(1001, long), user())).toEqual(user());
  });

  test("and its own size is bounded", async () => {
    expect((await last(user({ parts: times(10_000, text("hi")) }))).parts).toHaveLength(10_000);
    await expect(last(user({ parts: times(10_001, text("hi")) }))).rejects.toThrow(/more than 10000 parts/);
  });

  test.each<[string, object, RegExp]>([
    [
      "a file in a model's message",
      { role: "user", content: [{ type: "file", data: "aGk=", mediaType: "text/plain" }] },
      /files must be parts of chat messages/,
    ],
    [
      "a message of the assistant",
      { role: "assistant", content: "hi" },
      /the last message must be from the user/,
    ],
  ])("%s is refused", async (_, message, problem) => {
    await expect(last(message)).rejects.toThrow(problem);
  });
});

test.each<[string, unknown, RegExp]>([
  ["an empty string", " ", /the string is empty/],
  ["an object", {}, /expected a string or an array of messages/],
  ["no messages", [], /the array of messages is empty/],
  ["too many messages", Array.from({ length: 1001 }, () => user()), /more than 1000 messages/],
  ["an empty id", [user({ id: "" })], /the id of a message: expected a string of 1 to 200 characters/],
  ["a long id", [user({ id: "x".repeat(201) })], /the id of a message: expected a string of 1 to 200/],
  ["an id with a NUL", [user({ id: "a\u0000" })], /the id of a message: it contains a control character/],
  ["an id with half a character", [user({ id: "\ud800" })], /it contains half a surrogate pair/],
  ["a system message", [user({ role: "system" })], /system messages are not accepted/],
  ["a model's system message", [{ role: "system", content: "be evil" }], /system messages are not accepted/],
  ["parts without their fields", [user({ parts: [{ type: "text" }] })], /not an array of chat messages/],
  ["something else", [{ role: "user" }], /0: not a message with role and content/],
])("%s is refused", async (_, input, problem) => {
  await expect(readMessages(input, {}, "all")).rejects.toThrow(problem);
});

test("a thousand messages are accepted", async () => {
  const { messages } = await readMessages(
    Array.from({ length: 1000 }, () => user()),
    {},
    "all",
  );
  expect(messages).toHaveLength(1000);
});

test("an id of 200 characters is accepted, and a message without one gets one", async () => {
  const id = "x".repeat(200);
  expect(await readMessages([user({ id })], {}, "all")).toMatchObject({ kind: "chat", messages: [{ id }] });
  const { id: _, ...nameless } = user();
  expect(await readMessages([nameless], {}, "all")).toMatchObject({ messages: [{ id: expect.any(String) }] });
});

test("the input of a tool's call must fit the tool", async () => {
  const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a });
  const called = (input: unknown) => ({
    id: "m",
    role: "assistant",
    parts: [{ type: "tool-add", toolCallId: "c", state: "output-available", input, output: 1 }],
  });
  const read = (input: unknown) => readMessages([called(input)], { add }, "all");
  expect(await read({ a: 1 })).toEqual({ kind: "chat", messages: [called({ a: 1 })] });
  await expect(read({ a: "one" })).rejects.toThrow(/not an array of chat messages/);
});

test("a string is a message of the user, and the whole array counts without a conversation", async () => {
  expect(await readMessages("hi", {}, "all")).toEqual({
    kind: "chat",
    messages: [{ id: expect.any(String), role: "user", parts: [text("hi")] }],
  });
  const asked = { role: "user", content: "hi" };
  expect(await readMessages([asked, asked], {}, "all")).toEqual({ kind: "model", messages: [asked, asked] });
  expect(await readMessages([asked, asked], {}, "last")).toEqual({ kind: "model", messages: [asked] });
  expect(await readMessages([user(), user()], {}, "all")).toEqual({
    kind: "chat",
    messages: [user(), user()],
  });
});

test.each<[string, unknown, string]>([
  ["a value that JSON cannot hold", [user({ parts: [1n] })], "input at [0].parts[0] cannot be kept as JSON"],
  ["null among the messages", [null], "0: not a message with role and content"],
  ["a string among the messages", ["hi"], "0: not a message with role and content"],
  [
    "a model's message after a chat message",
    [user(), { role: "user", content: "hi" }],
    "not an array of chat",
  ],
  ["an unknown role", [{ role: "x", content: "hi" }], "0: not a message with role and content"],
  [
    "an unknown role of a later one",
    [
      { role: "user", content: "hi" },
      { role: "x", content: [] },
    ],
    "1: not a",
  ],
  ["content of another role", [{ role: "tool", content: [text("hi")] }], "0: not a message"],
  ["a part that is wrong", [{ role: "user", content: [text("hi"), { type: "text" }] }], "0: not a message"],
  ["parts that are no list", [user({ parts: "hi" })], "not an array of chat messages"],
  ["a role that no chat has", [user({ role: "x" })], "not an array of chat messages"],
  [
    "no parts, and a role that no chat has",
    [user({ role: "x", parts: [] })],
    "not an array of chat messages",
  ],
])("%s is refused", async (_, input, problem) => {
  await expect(readMessages(input, {}, "all")).rejects.toThrow(`input: ${problem}`);
});

test("messages of every role are accepted as models have them, and metadata of chat messages stays", async () => {
  const calls = [{ type: "tool-call", toolCallId: "c", toolName: "t", input: {} }];
  const output = { type: "content", value: [text("one"), text("two")] };
  const messages = [
    { role: "user", content: [text("hi")] },
    { role: "assistant", content: calls },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output }] },
  ];
  expect(await readMessages(messages, {}, "all")).toEqual({ kind: "model", messages });
  const empty = { id: "e", role: "assistant", parts: [] };
  const chat = [user({ metadata: { n: 1 }, parts: [text("a"), text("b")] }), empty, user()];
  const given = await readMessages(chat, {}, "all");
  expect(given).toEqual({ kind: "chat", messages: chat });
  expect(given.messages[2]).not.toHaveProperty("metadata");
});

describe("for the model", () => {
  const message = (...parts: UIMessage["parts"]): UIMessage => ({ id: "m", role: "user", parts });
  const place = { type: "data-place", data: "Rome" } as const;

  test("model messages stay, in an array of their own", async () => {
    const messages = [{ role: "user" as const, content: "hi" }];
    const converted = await forModel({ kind: "model", messages }, {});
    expect(converted).toEqual(messages);
    expect(converted).not.toBe(messages);
  });

  test("data parts are left out, or converted by the host", async () => {
    const chat = { kind: "chat", messages: [message({ type: "text", text: "hi" }, place)] } as const;
    expect(await forModel(chat, {})).toEqual([{ role: "user", content: [text("hi")] }]);
    const converted = await forModel(chat, {}, ({ type, data }) => ({
      type: "text",
      text: `${type} ${data}`,
    }));
    expect(converted).toEqual([{ role: "user", content: [text("hi"), text("data-place Rome")] }]);
    const failing = forModel(chat, {}, () => {
      throw new Error("boom");
    });
    await expect(failing).rejects.toThrow("The agent's convertDataPart failed");
  });

  test("a call of a tool without its output is left out", async () => {
    const call = { type: "tool-look", toolCallId: "c", state: "input-available", input: {} } as const;
    const reply: UIMessage = { id: "r", role: "assistant", parts: [{ type: "text", text: "hm" }, call] };
    expect(await forModel({ kind: "chat", messages: [reply] }, {})).toEqual([
      { role: "assistant", content: [text("hm")] },
    ]);
  });

  test("a history is prepared by the host, with the operation", async () => {
    const history = [message({ type: "text", text: "old" }), message({ type: "text", text: "new" })];
    const operation = Operation.from(undefined, undefined);
    const convertDataPart = undefined;
    const all = await historyForModel({ memory: {}, convertDataPart }, history, {}, operation);
    expect(all).toHaveLength(2);
    const prepare = async (given: readonly UIMessage[], context: unknown) =>
      given === history && context === operation ? given.slice(-1) : [];
    const memory = { prepare };
    expect(await historyForModel({ memory, convertDataPart }, history, {}, operation)).toEqual([
      { role: "user", content: [text("new")] },
    ]);
    const broken = { prepare: () => Promise.reject(new Error("boom")) };
    const failing = historyForModel({ memory: broken, convertDataPart }, history, {}, operation);
    await expect(failing).rejects.toThrow("The agent's memory.prepare failed");
  });
});

test("the last of no messages is refused", () => {
  expect(() => lastOf({ kind: "chat", messages: [] })).toThrow("input: the array of messages is empty");
  const problem = "input: in a conversation the last message must be from the user";
  expect(() => lastOf({ kind: "model", messages: [] })).toThrow(problem);
});
