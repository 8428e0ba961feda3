// Conversations as a host sees them: the questions to the store, the pages that are made of its rows, and the refusals.
import { expect, test, vi } from "vitest";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { readCursor, writeCursor } from "../../store/cursor.ts";
import { callerPageLength } from "../../store/text-length.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Conversations } from "./conversations.ts";

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
const row = (conversationId: string, metadata: string | null = null) => ({
  ...{ conversationId, agentId: "a", userId: "ada", title: "T", metadata, createdAt: 0, updatedAt: 1, usage },
});
const shown = (conversationId: string, metadata: object = {}) => ({
  ...{ conversationId, agentId: "a", userId: "ada", title: "T", metadata, usage },
  ...{ createdAt: "1970-01-01T00:00:00.000Z", updatedAt: "1970-01-01T00:00:00.001Z" },
});
const said = (sequence: number, partial = false) => ({
  ...{ sequence, messageId: `m${sequence}`, createdAt: sequence, partial },
  body: JSON.stringify({ id: `m${sequence}`, role: "user", parts: [] }),
});
const shownMessage = (sequence: number) => ({
  ...{ id: `m${sequence}`, role: "user", parts: [], createdAt: new Date(sequence).toISOString() },
});
const key = expect.stringMatching(/^[0-9a-f-]{36}$/);

function conversationsOver(store: Record<string, (...given: never[]) => unknown>) {
  const removed = vi.fn();
  const clock = new TestClock();
  const given: ConversationStore = Object(store);
  return { conversations: new Conversations(given, clock, Promise.resolve(), removed), removed, clock };
}

test("a page of conversations, and the cursor of the next one", async () => {
  const list = vi.fn(async () => [row("a", '{"x":1}'), row("b"), row("c")]);
  const { conversations } = conversationsOver({ list });
  const page = await conversations.list({ userId: "ada", agentId: "a", title: "t", limit: 2 });
  expect(page).toEqual({
    conversations: [shown("a", { x: 1 }), shown("b")],
    nextCursor: expect.any(String),
  });
  const filter = { userId: "ada", agentId: "a", title: "t" };
  expect(list.mock.calls).toEqual([[{ ...filter, before: undefined, limit: 3, length: callerPageLength }]]);
  const last = await conversations.list({ cursor: page.nextCursor ?? undefined });
  expect(list).toHaveBeenLastCalledWith({
    before: { updatedAt: 1, conversationId: expect.stringMatching(/^[bc]$/) },
    ...{ limit: 51, length: callerPageLength },
  });
  expect(last).toEqual({ conversations: [shown("a", { x: 1 }), shown("b"), shown("c")], nextCursor: null });
  await expect(conversations.list({ limit: 501 })).rejects.toThrow(
    "Invalid option limit: expected a whole number from 1 to 500",
  );
});

test("a page of messages, in either order", async () => {
  const rows = [said(1), said(2, true), said(3)];
  const messages = vi.fn(async (): Promise<object[] | undefined> => rows);
  const { conversations } = conversationsOver({ messages });
  const first = await conversations.messages("c", { userId: "ada", limit: 2 });
  expect(first).toEqual({
    messages: [shownMessage(1), { ...shownMessage(2), partial: true }],
    nextCursor: expect.any(String),
  });
  expect(readCursor(first.nextCursor ?? "", (value): value is [number] => Array.isArray(value))).toEqual([
    expect.any(Number),
  ]);
  const asked = { conversationId: "c", length: callerPageLength };
  expect(messages).toHaveBeenLastCalledWith({ ...asked, userId: "ada", after: 0, limit: 3 });
  await conversations.messages("c", { cursor: writeCursor(7) });
  expect(messages).toHaveBeenLastCalledWith({ ...asked, after: 7, limit: 51 });
  await conversations.messages("c", { cursor: writeCursor(7), order: "newest" });
  expect(messages).toHaveBeenLastCalledWith({ ...asked, after: 0, before: 7, limit: 51 });
  await conversations.messages("c", { order: "newest", limit: 500 });
  expect(messages).toHaveBeenLastCalledWith({
    ...{ ...asked, after: 0, before: Number.MAX_SAFE_INTEGER, limit: 501 },
  });
  messages.mockResolvedValue(undefined);
  await expect(conversations.messages("c")).rejects.toThrow("Conversation c not found");
});

test("an export asks for every page as its owner", async () => {
  const pages = [Array.from({ length: 501 }, (_, index) => said(index + 1)), [said(501)]];
  const asked: unknown[] = [];
  const messages = async (which: object) => {
    asked.push(which);
    return pages.shift();
  };
  const read = vi.fn(async () => row("c"));
  const { conversations } = conversationsOver({ messages, read });
  const parts: unknown[] = [];
  for await (const part of await conversations.export("c", { userId: "ada" })) parts.push(part);
  const which = { conversationId: "c", userId: "ada" };
  expect(read.mock.calls).toEqual([[which]]);
  expect(asked).toEqual([
    { ...which, after: 0, limit: 501, length: callerPageLength },
    { ...which, after: expect.any(Number), limit: 501, length: callerPageLength },
  ]);
  expect(parts[0]).toEqual({ type: "conversation", conversation: shown("c") });
  expect(parts[1]).toEqual({ type: "message", message: shownMessage(1) });
  expect(parts).toHaveLength(502);
});

test("a copy whose source changes again and again is given up after five times", async () => {
  const fork = vi.fn(async () => ({ kind: "more", copied: 1 }));
  const { conversations } = conversationsOver({ fork });
  await expect(conversations.fork("c")).rejects.toMatchObject({
    status: 409,
    message: "The conversation was changed again and again while it was copied, try again later",
  });
  expect(fork).toHaveBeenCalledTimes(7);
});

test("a conversation that is not there", async () => {
  const { conversations, removed } = conversationsOver({
    ...{ read: async () => undefined, change: async () => false, remove: async () => false },
  });
  const gone = { code: "conversation-not-found", status: 404 };
  await expect(conversations.read("c")).rejects.toMatchObject(gone);
  await expect(conversations.export("c")).rejects.toMatchObject(gone);
  await expect(conversations.rename("c", "T")).rejects.toMatchObject(gone);
  await expect(conversations.remove("c")).rejects.toMatchObject(gone);
  expect(removed).not.toHaveBeenCalled();
});

test("a change and a removal reach the store with a key of their own", async () => {
  const [change, read, remove] = [
    vi.fn(async () => true),
    vi.fn(async () => row("c")),
    vi.fn(async () => true),
  ];
  const { conversations, removed, clock } = conversationsOver({ change, read, remove });
  const owner = { userId: "ada" };
  expect(await conversations.change("c", { metadata: { x: 1 } }, owner)).toEqual(shown("c"));
  await conversations.rename("c", "N");
  const at = clock.now();
  expect(change.mock.calls).toEqual([
    [{ key, conversationId: "c", userId: "ada", title: undefined, metadata: '{"x":1}', at }],
    [{ key, conversationId: "c", userId: undefined, title: "N", metadata: undefined, at }],
  ]);
  expect(read.mock.calls).toEqual([[{ conversationId: "c", userId: "ada" }], [{ conversationId: "c" }]]);
  await conversations.remove("c", owner);
  expect(remove.mock.calls).toEqual([[{ key, conversationId: "c", userId: "ada" }]]);
  expect(removed.mock.calls).toEqual([["c"]]);
});

test.each([undefined, "", "  ", "x".repeat(201), 5])("the title %j is refused", async (title) => {
  const { conversations } = conversationsOver({});
  const rename = Reflect.apply(conversations.rename, conversations, ["c", title]);
  await expect(rename).rejects.toThrow("Invalid option title: expected a string of 1 to 200 characters");
});

test.each([
  ["expected an object", []],
  ["expected an object", null],
  ["expected an object", "x"],
  ["metadata at big cannot be kept as JSON: it is a bigint", { big: 1n }],
  ["it has more than 16000 characters", { x: "y".repeat(15_993) }],
])("metadata is refused: %s", async (problem, metadata) => {
  const { conversations } = conversationsOver({});
  const change = Reflect.apply(conversations.change, conversations, ["c", { metadata }]);
  await expect(change).rejects.toThrow(`Invalid option metadata: ${problem}`);
});

test("the longest title and metadata are accepted, and metadata alone changes no title", async () => {
  const change = vi.fn(async () => true);
  const { conversations } = conversationsOver({ change, read: async () => row("c") });
  await conversations.change("c", { title: "x".repeat(200), metadata: { x: "y".repeat(15_992) } });
  await conversations.change("c", { metadata: {} });
  expect(change).toHaveBeenCalledTimes(2);
});

test("a copy is asked for page by page under one name, and equal wishes have the same", async () => {
  const fork = vi
    .fn<(asked: { copyId: string }) => Promise<object>>()
    .mockResolvedValueOnce({ kind: "more", copied: 1 })
    .mockResolvedValueOnce({ kind: "more", copied: 2 })
    .mockResolvedValue({ kind: "copied" });
  const { conversations, clock } = conversationsOver({ fork, read: async () => row("copy") });
  const wish = { userId: "ada", forkId: "copy", upTo: "m1" };
  expect(await conversations.fork("c", wish)).toEqual(shown("copy"));
  await conversations.fork("c", wish);
  await conversations.fork("c", { ...wish, upTo: "m2" });
  const asked = fork.mock.calls.map(([one]) => one);
  const [first, ...others] = asked;
  expect(first).toEqual({
    ...{ copyId: expect.stringMatching(/^[\w-]{43}$/), conversationId: "c", ...wish },
    ...{ maxBytes: 64 * 1024 * 1024, page: { rows: 500, bytes: 1024 * 1024 }, key, at: clock.now() },
  });
  expect(others.map(({ copyId }) => copyId === first?.copyId)).toEqual([true, true, true, false]);
  await expect(conversations.fork("c", { forkId: ".." })).rejects.toThrow("forkId");
});

test.each([
  ["too-long", { code: "conversation-too-long" }],
  ["taken", { status: 409, message: "There is already a conversation copy" }],
  ["missing", { message: "Invalid option upTo: the conversation has no such message" }],
])("a copy that is %s", async (kind, expected) => {
  const { conversations } = conversationsOver({ fork: async () => ({ kind }), read: async () => row("c") });
  await expect(conversations.fork("c", { forkId: "copy" })).rejects.toMatchObject(expected);
});

test("a copy ends between two pages when its caller leaves", async () => {
  const controller = new AbortController();
  const fork = vi.fn(async () => {
    controller.abort(new Error("gone"));
    return { kind: "more", copied: 1 };
  });
  const { conversations } = conversationsOver({ fork });
  await expect(conversations.fork("c", { signal: controller.signal })).rejects.toThrow("gone");
  expect(fork).toHaveBeenCalledTimes(1);
});

test.each([0, -1, 1.5, 501, Number.NaN])("a page of %s rows is refused", async (limit) => {
  const { conversations } = conversationsOver({});
  const problem = "Invalid option limit: expected a whole number from 1 to 500";
  await expect(conversations.list({ limit })).rejects.toThrow(problem);
  await expect(conversations.messages("c", { limit })).rejects.toThrow(problem);
});

test("pages of 1 and 500 rows are allowed; another order, and a cursor of something else, are not", async () => {
  const [list, messages] = [vi.fn(async () => []), vi.fn(async () => [])];
  const { conversations } = conversationsOver({ list, messages });
  for (const limit of [1, 500]) {
    expect(await conversations.list({ limit })).toEqual({ conversations: [], nextCursor: null });
    expect(await conversations.messages("c", { limit })).toEqual({ messages: [], nextCursor: null });
  }
  const sideways = Reflect.apply(conversations.messages, conversations, ["c", { order: "sideways" }]);
  await expect(sideways).rejects.toThrow("Invalid option order: expected oldest or newest");
  const [name, number] = [writeCursor("c"), writeCursor(1)];
  for (const cursor of ["", "x", number])
    await expect(conversations.list({ cursor })).rejects.toMatchObject({ status: 400 });
  for (const cursor of ["", "x", name])
    await expect(conversations.messages("c", { cursor })).rejects.toMatchObject({ status: 400 });
});

test("the cursor of a page is that of its last row", async () => {
  const { conversations } = conversationsOver({
    list: async () => [row("a"), { ...row("b"), updatedAt: 7 }, row("c")],
    messages: async () => [said(4), said(6), said(8)],
  });
  const pair = (value: unknown): value is unknown[] => Array.isArray(value);
  const { nextCursor } = await conversations.list({ limit: 2 });
  expect(readCursor(nextCursor ?? "", pair)).toEqual([7, "b"]);
  const page = await conversations.messages("c", { limit: 2 });
  expect(readCursor(page.nextCursor ?? "", pair)).toEqual([6]);
});

test("nothing is asked of the store before it is ready", async () => {
  const ready = Promise.withResolvers<void>();
  const methods = ["list", "read", "messages", "change", "fork", "remove"] as const;
  const asked: string[] = [];
  const answer = async (name: string) => {
    asked.push(name);
    throw new Error("asked");
  };
  const store = Object.fromEntries(methods.map((name) => [name, () => answer(name)]));
  const conversations = new Conversations(Object(store), new TestClock(), ready.promise, () => undefined);
  const all = Promise.allSettled([
    ...[conversations.list(), conversations.read("c"), conversations.messages("c")],
    ...[conversations.rename("c", "T"), conversations.fork("c"), conversations.remove("c")],
  ]);
  await new Promise(setImmediate);
  expect(asked).toEqual([]);
  ready.resolve();
  await all;
  expect(asked.toSorted()).toEqual(methods.toSorted());
});

test("a copy that makes progress is continued, and one that starts over five times is finished", async () => {
  const copies = (...copied: number[]) => {
    const fork = vi.fn(async () => {
      const next = copied.shift();
      return next === undefined ? { kind: "copied" } : { kind: "more", copied: next };
    });
    const { conversations } = conversationsOver({ fork, read: async () => row("copy") });
    return conversations.fork("c", { forkId: "copy" });
  };
  expect(await copies(...Array.from({ length: 20 }, (_, index) => index + 1))).toEqual(shown("copy"));
  expect(await copies(9, 1, 1, 1, 1, 1, 2, 3)).toEqual(shown("copy"));
  await expect(copies(9, 8, 7, 6, 5, 4, 3)).rejects.toMatchObject({ status: 409 });
});

test("a copy of a conversation that is not there for the caller is not found", async () => {
  const { conversations } = conversationsOver({
    ...{ fork: async () => ({ kind: "missing" }), read: async () => undefined },
  });
  await expect(conversations.fork("c", { userId: "eve" })).rejects.toMatchObject({
    ...{ code: "conversation-not-found", message: "Conversation c not found" },
  });
});

test.each(["a\u0000b", "", "x".repeat(201), "\ud800"])(
  "an id that no conversation can have, such as %j, is not found, and the store is not asked",
  async (conversationId) => {
    const { conversations } = conversationsOver({});
    const calls = [
      conversations.read(conversationId),
      conversations.messages(conversationId),
      conversations.rename(conversationId, "New"),
      conversations.fork(conversationId),
      conversations.remove(conversationId),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "conversation-not-found" });
  },
);

test("a copy without a name gets one, and is its owner's", async () => {
  const fork = vi.fn(async (_: Record<string, unknown>) => ({ kind: "copied" }));
  const read = vi.fn(async () => row("copy"));
  const { conversations } = conversationsOver({ fork, read });
  await conversations.fork("c", { userId: "ada" });
  const [asked] = fork.mock.calls[0] ?? [];
  expect(asked).toMatchObject({ forkId: key, userId: "ada", upTo: undefined });
  expect(read.mock.calls).toEqual([[{ conversationId: asked?.forkId, userId: "ada" }]]);
});
