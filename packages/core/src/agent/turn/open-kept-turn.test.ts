// The beginning of a turn in a kept conversation: the write that begins it, the wait for other turns, and the refusals.
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Operation } from "../call/operation.ts";
import { RunningReply } from "../reply/running-reply.ts";
import { ActiveTurns } from "./active-turns.ts";
import { type KeptTurn, readTurnInput } from "./kept-turn.ts";
import { type AskedTurn, openKeptTurn } from "./open-kept-turn.ts";
import type { StartTurnOptions } from "./turn-environment.ts";

const sent: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "hello  you" }] };
const sentBody = JSON.stringify(sent);
const which = { conversationId: "c", userId: "ada" };
const key = expect.stringMatching(/^[0-9a-f-]{36}$/);
const kept = (id: string, role: "user" | "assistant") => {
  const message: UIMessage = { id, role, parts: [{ type: "text", text: id }] };
  return { sequence: 1, messageId: id, createdAt: 0, partial: false, body: JSON.stringify(message) };
};

function conversationForTest(begins: readonly object[] = [], elsewhere?: object) {
  const turns = new ActiveTurns();
  const clock = new TestClock({ start: 5000 });
  const results = [...begins];
  const running = Object({ settled: Promise.resolve("ended"), signal: new AbortController().signal });
  const begun: [KeptTurn, Record<string, unknown>][] = [];
  const begin = async (turn: KeptTurn, what: Record<string, unknown>) => {
    begun.push([turn, what]);
    const result = results.shift() ?? { kind: "begun" };
    if (Object(result).kind === "begun") void turn.run(running);
    return result;
  };
  const read = vi.fn(async (): Promise<unknown> => undefined);
  const recent = vi.fn(async (): Promise<unknown> => []);
  const posted: unknown[] = [];
  const post = async (message: unknown) => {
    posted.push(message);
    return { kind: "posted" };
  };
  const environment = Object({
    ...{
      turns,
      clock,
      elsewhere,
      maxQueued: 9,
      queues: { process: "here" },
      kept: { begin, waitIn: async () => ({ messageId: "a1", waitsSince: 3000 }) },
    },
    conversations: { read, recent, post, leaveQueue: async () => true },
  });
  const ask = (
    { agent = {}, ...asked }: Partial<Omit<AskedTurn, "agent">> & { agent?: object } = {},
    options: Partial<StartTurnOptions> = {},
  ) => {
    const active = turns.begin("clerk", undefined);
    const all: AskedTurn = {
      agent: Object({ id: "clerk", window: 7, memory: {}, supportedUrls: async () => ({}), ...agent }),
      ...{ active, settings: { topK: 1 }, tools: {}, context: '{"a":1}', sent, again: false },
      operation: Operation.from(undefined, active.signal),
      ...which,
      ...asked,
    };
    const opened = openKeptTurn(environment, all, { mode: "chat", ...options });
    opened.catch(() => undefined);
    return { active, opened: inTime(opened, "the turn") };
  };
  return { ask, turns, begun, read, recent, posted, running };
}

test("in a free conversation the message and the turn begin together", async () => {
  const { ask, begun, posted, running, read } = conversationForTest([
    { kind: "begun", before: [kept("u0", "user"), kept("a0", "assistant")] },
  ]);
  const { active, opened } = ask({}, { traceparent: "00-1", schema: { type: "object" } });
  const turn = await opened;
  const message = {
    kind: "post",
    messageId: "u1",
    body: sentBody,
    title: "hello you",
    again: false,
    at: 5000,
  };
  expect(begun.map(([, what]) => what)).toEqual([
    { agentId: "clerk", ...which, context: '{"a":1}', message, before: 7 },
  ]);
  const [begunTurn] = begun[0] ?? [];
  expect(begunTurn?.executionId).toMatch(/^[0-9a-f-]{36}$/);
  expect(readTurnInput(begunTurn?.input)).toEqual({
    ...{ agentId: "clerk", mode: "chat", messageId: key, replyTo: "u1", settings: { topK: 1 } },
    ...{ schema: { type: "object" }, startedAt: 5000, traceparent: "00-1" },
  });
  expect(turn).toEqual({
    kind: "new",
    messages: [
      { role: "user", content: [{ type: "text", text: "u0" }] },
      { role: "assistant", content: [{ type: "text", text: "a0" }] },
      { role: "user", content: [{ type: "text", text: "hello  you" }] },
    ],
    history: [JSON.parse(kept("u0", "user").body), JSON.parse(kept("a0", "assistant").body), sent],
    messageId: begunTurn?.input.messageId,
    conversation: begunTurn,
    running,
  });
  await inTime(active.hasBegun, "the beginning");
  expect(active.question).toEqual({ agentId: "clerk", mode: "chat", messageId: "u1", body: sentBody });
  expect([posted, read.mock.calls]).toEqual([[], []]);
  active.end();
});

test("without further options there is no schema and no trace, and the message may be the first", async () => {
  const { ask, begun } = conversationForTest();
  expect(await ask().opened).toMatchObject({ kind: "new", history: [sent] });
  expect(begun[0]?.[0].input).toMatchObject({ schema: null, traceparent: null });
});

test("decisions on the assistant's message continue it", async () => {
  const { ask, begun, recent } = conversationForTest();
  const part = { type: "tool-pay", toolCallId: "t", input: {} } as const;
  const waiting: UIMessage = {
    ...{ id: "a1", role: "assistant" },
    parts: [{ ...part, state: "approval-requested", approval: { id: "p" } }],
  };
  const body = JSON.stringify(waiting);
  recent.mockResolvedValue([kept("u1", "user"), { ...kept("a1", "assistant"), body }]);
  const decided: UIMessage = {
    ...waiting,
    parts: [{ ...part, state: "approval-responded", approval: { id: "p", approved: false } }],
  };
  const turn = await ask({ sent: decided }).opened;
  const decision = { by: "ada", at: new Date(5000).toISOString(), waitedMs: 2000 };
  const approval = { id: "p", approved: false, decision };
  const recorded = { ...waiting, parts: [{ ...part, state: "approval-responded", approval }] };
  expect(turn).toMatchObject({ kind: "new", messageId: "a1", history: [{ id: "u1" }, recorded] });
  expect(begun[0]?.[0].input).toMatchObject({ messageId: "a1", replyTo: null });
  expect(begun[0]?.[1].message).toEqual({
    ...{ kind: "replace", messageId: "a1", previous: body, body: JSON.stringify(recorded), at: 5000 },
  });
  expect(recent.mock.calls).toEqual([[{ ...which, limit: 8 }]]);
});

test.each([
  ["foreign", { code: "conversation-not-found", message: "Conversation c not found" }],
  ["has-reply", { code: "conversation-conflict", message: "Message u1 already has a reply" }],
  ["changed", { code: "conversation-conflict", message: "Message u1 has already been continued" }],
])("a turn that the store refuses as %s", async (kind, expected) => {
  const { ask } = conversationForTest([{ kind }]);
  await expect(ask().opened).rejects.toMatchObject(expected);
});

test("a function of the host that fails ends the turn, whose message is kept", async () => {
  const { ask, begun } = conversationForTest();
  const agent = { memory: { prepare: () => Promise.reject(new Error("no memory")) } };
  const { opened } = ask({ agent });
  await expect(opened).rejects.toThrow();
  expect(await begun[0]?.[0].ending()).toMatchObject({ reply: { message: null } });
  const failing = conversationForTest();
  Object.assign(failing.running, { settled: Promise.resolve("failed") });
  const failed = failing.ask({ agent }).opened;
  await expect(failed).rejects.not.toMatchObject({ code: "store-unavailable" });
});

test("the budget of a conversation refuses further turns, and only once it is used up", async () => {
  const { ask, read, begun } = conversationForTest();
  const agent = { budget: { conversation: { calls: 2 } } };
  const used = (calls: number) => ({ usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls } });
  for (const known of [undefined, used(1)]) {
    read.mockResolvedValueOnce(known);
    const { active, opened } = ask({ agent });
    expect(await opened).toMatchObject({ kind: "new" });
    active.end();
  }
  read.mockResolvedValueOnce(used(2));
  await expect(ask({ agent }).opened).rejects.toMatchObject({ code: "budget-reached" });
  expect(begun).toHaveLength(2);
  expect(read.mock.calls).toEqual([[which], [which], [which]]);
});

test("a file that cannot be loaded is refused before the message is kept", async () => {
  const { ask, begun } = conversationForTest();
  const file = { type: "file", url: "data:text/plain;base64,?", mediaType: "text/plain" } as const;
  const { opened } = ask({ sent: { ...sent, parts: [file] } });
  await expect(opened).rejects.toThrow("input: the file text/plain could not be loaded from its URL");
  expect(begun).toEqual([]);
});

test("a caller that left while it waited begins nothing", async () => {
  const { ask, begun, read } = conversationForTest();
  const { active, opened } = ask({ agent: { budget: { conversation: { calls: 2 } } } });
  read.mockImplementationOnce(async () => active.stop());
  await expect(opened).rejects.toMatchObject({ code: "reply-stopped" });
  expect(begun).toEqual([]);
});

test("the same message again shares the reply that runs, unless another one is wanted", async () => {
  const { ask, begun } = conversationForTest();
  const first = ask();
  await first.opened;
  const reply = new RunningReply();
  const readReply = () => reply.read();
  first.active.allowAttach(reply, readReply);
  const again = ask();
  expect(await again.opened).toEqual({ kind: "shared", reply: { mode: "chat", read: readReply } });
  again.active.end();
  expect(begun).toHaveLength(1);
  const other = ask({ again: true });
  first.active.end();
  expect(await other.opened).toMatchObject({ kind: "new" });
  expect(begun[1]?.[1]).toMatchObject({ message: { kind: "post", again: true } });
});

test.each(["stream", "object"] as const)(
  "a reply of mode %s is not shared: the same message waits",
  async (mode) => {
    const { ask } = conversationForTest();
    const first = ask({}, { mode });
    await first.opened;
    const reply = new RunningReply();
    first.active.allowAttach(reply, () => reply.read());
    const again = ask({}, { mode });
    first.active.end();
    expect(await again.opened).toMatchObject({ kind: "new" });
  },
);

test("a message that waits for another reply is kept at once, after the one before it", async () => {
  const { ask, posted, begun, read } = conversationForTest();
  const first = ask();
  await first.opened;
  read.mockResolvedValue({ userId: "ada" });
  const next: UIMessage = { ...sent, id: "u2" };
  const second = ask({ sent: next });
  await expect.poll(() => posted).toHaveLength(1);
  expect(posted).toEqual([
    {
      ...{ key, ...which, agentId: "clerk", messageId: "u2", body: JSON.stringify(next) },
      ...{ title: "hello you", again: false, at: 5000 },
      queue: {
        most: 9,
        request: JSON.stringify({
          ...{ mode: "chat", settings: { topK: 1 }, schema: null, traceparent: null, process: "here" },
          ...{ context: { a: 1 }, steers: false },
        }),
      },
    },
  ]);
  expect(read.mock.calls).toEqual([[{ conversationId: "c" }]]);
  expect(begun).toHaveLength(1);
  first.active.end();
  expect(await second.opened).toMatchObject({ kind: "new" });
  // One that is wanted again is there already.
  const third = ask({ again: true });
  await expect.poll(() => read.mock.calls).toHaveLength(2);
  await new Promise(setImmediate);
  expect(posted).toHaveLength(1);
  second.active.end();
  await third.opened;
});

test("a message that came twice at once has one reply", async () => {
  const { ask, posted, begun, turns } = conversationForTest();
  const holder = turns.begin("clerk", undefined);
  await turns.enter(holder, "c", "ada", async () => undefined);
  const [first, second] = [ask(), ask()];
  await new Promise(setImmediate);
  expect(posted, "the message before it is not kept yet").toEqual([]);
  holder.begun();
  await expect.poll(() => posted).toHaveLength(1);
  holder.end();
  expect(await first.opened).toMatchObject({ kind: "new" });
  const reply = new RunningReply();
  const readReply = () => reply.read();
  first.active.allowAttach(reply, readReply);
  expect(await second.opened).toEqual({ kind: "shared", reply: { mode: "chat", read: readReply } });
  expect([posted.length, begun.length]).toEqual([1, 1]);
});

test.each([true, false, undefined])(
  "a reply that is not read any more is stopped for the next: %s",
  async (stopUnread) => {
    const { ask } = conversationForTest();
    const first = ask();
    await first.opened;
    const reply = new RunningReply();
    first.active.allowAttach(reply, () => reply.read());
    const next = ask({ sent: { ...sent, id: "u2" } }, { stopUnread });
    await new Promise(setImmediate);
    expect(first.active.signal.aborted).toBe(stopUnread === true);
    first.active.end();
    await next.opened;
  },
);

test("where one process has the store to itself, a live turn that is not here is a conflict", async () => {
  const { ask } = conversationForTest([{ kind: "busy", executionId: "e" }]);
  await expect(ask().opened).rejects.toMatchObject({
    ...{ code: "conversation-conflict", message: "Another reply is under way in the conversation" },
  });
});

function elsewhereForTest(live?: object) {
  const ended = Promise.withResolvers<void>();
  const read = vi.fn(() => "chunks");
  const replyTo = vi.fn(async () => live);
  const waits = vi.fn(() => ended.promise);
  return { ended, read, replyTo, waits, elsewhere: { read, replyTo, ended: waits } };
}

test("the reply of another process to the same message is read from there", async () => {
  const live = { executionId: "e" };
  const { elsewhere, read, replyTo } = elsewhereForTest(live);
  const { ask, posted } = conversationForTest([{ kind: "busy", executionId: "e" }], elsewhere);
  const opened = await ask().opened;
  if (opened.kind !== "shared" || opened.reply.mode !== "chat") throw new Error("expected a shared chat");
  expect(opened.reply.read()).toBe("chunks");
  expect(read.mock.calls).toEqual([[live, "c"]]);
  expect(replyTo.mock.calls).toEqual([["u1", { agentId: "clerk", ...which }]]);
  expect(posted).toEqual([]);
});

test.each<[string, Partial<StartTurnOptions>, boolean, number, number]>([
  ["another chat", { mode: "chat" }, false, 1, 1],
  ["a text", { mode: "text" }, false, 0, 1],
  ["another reply", { mode: "chat" }, true, 0, 0],
])("%s waits until the other process has replied", async (_, options, again, asks, posts) => {
  const { elsewhere, replyTo, waits, ended } = elsewhereForTest();
  const { ask, posted, begun } = conversationForTest([{ kind: "busy", executionId: "e" }], elsewhere);
  const { active, opened } = ask({ again }, options);
  await expect.poll(() => waits.mock.calls).toHaveLength(1);
  expect(waits.mock.calls).toEqual([[{ executionId: "e" }, active.signal]]);
  expect(replyTo).toHaveBeenCalledTimes(asks);
  expect(posted).toHaveLength(posts);
  const hasBegun = await Promise.race([active.hasBegun.then(() => true), new Promise(setImmediate)]);
  expect(hasBegun === true).toBe(posts === 1);
  expect(begun).toHaveLength(1);
  ended.resolve();
  expect(await opened).toMatchObject({ kind: "new" });
  expect(begun).toHaveLength(2);
});
