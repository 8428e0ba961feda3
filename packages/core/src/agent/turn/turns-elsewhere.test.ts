// Replies that other processes make, as this process finds, stops and reads them.
import { expect, onTestFinished, test, vi } from "vitest";
import { allInTime } from "../../../test/support/in-time.ts";
import { ReplyStoppedError } from "../../errors/index.ts";
import type { LiveTurn } from "./turn-host.ts";
import { TurnsElsewhere } from "./turns-elsewhere.ts";

const live = (mode = "chat"): LiveTurn => ({
  ...{
    executionId: "e",
    agentId: "a",
    userId: "ada",
    context: "{}",
    waitsSince: undefined,
    waitsForTools: false,
    questions: [],
  },
  input: { agentId: "a", messageId: "m", mode, replyTo: "u" },
});
const kept = (partial: boolean, messageId = "m") => ({
  ...{ messageId, partial, createdAt: 0, sequence: 1 },
  body: JSON.stringify({ id: messageId, role: "assistant", parts: [{ type: "text", text: "hi" }] }),
});

function elsewhere(
  found: LiveTurn | undefined,
  recent: (which: object) => unknown = () => [],
  ended: () => Promise<void> = async () => undefined,
) {
  const [asked, asks] = [vi.fn(recent), vi.fn()];
  const others = { running: async () => found, ended: vi.fn(ended), askToStop: asks };
  const turns = new TurnsElsewhere(others, Object({ recent: async (which: object) => asked(which) }));
  return { turns, others, asked };
}

test.each([
  [{ agentId: "a", conversationId: "c" }, true],
  [{ agentId: "a", conversationId: "c", userId: "ada" }, true],
  [{ agentId: "b", conversationId: "c" }, false],
  [{ agentId: "a", conversationId: "c", userId: "bob" }, false],
  [{ agentId: "a", conversationId: "c", userId: null }, false],
])("the turn of %j is found: %s", async (which, isFound) => {
  const turn = live();
  expect(await elsewhere(turn).turns.find(which)).toBe(isFound ? turn : undefined);
  expect(await elsewhere(undefined).turns.find(which)).toBeUndefined();
});

test("a chat that replies to the message is found, and nothing else", async () => {
  const which = { agentId: "a", conversationId: "c" };
  const turn = live();
  expect(await elsewhere(turn).turns.replyTo("u", which)).toBe(turn);
  expect(await elsewhere(turn).turns.replyTo("other", which)).toBeUndefined();
  expect(await elsewhere(live("text")).turns.replyTo("u", which)).toBeUndefined();
  expect(await elsewhere(undefined).turns.replyTo("u", which)).toBeUndefined();
});

test.each([false, true])("a reply is read once it is kept; partial: %s", async (partial) => {
  const { turns, asked, others } = elsewhere(live(), () => [kept(partial)]);
  expect(await allInTime(turns.read(live(), "c"), "the reply")).toEqual([
    { type: "start", messageId: "m" },
    { type: "text-start", id: "kept-0" },
    { type: "text-delta", id: "kept-0", delta: "hi" },
    { type: "text-end", id: "kept-0" },
    { type: partial ? "abort" : "finish" },
  ]);
  expect(asked.mock.calls).toEqual([[{ conversationId: "c", userId: "ada", upTo: "m", limit: 1 }]]);
  expect(others.ended.mock.calls).toEqual([["e", expect.any(AbortSignal)]]);
});

test.each([
  ["nothing is kept", () => []],
  ["another message is kept", () => [kept(false, "other")]],
  ["the conversation is gone", () => undefined],
])("where %s, the reader learns that the reply was stopped", async (_, recent) => {
  expect(await allInTime(elsewhere(live(), recent).turns.read(live(), "c"), "the reply")).toEqual([
    { type: "start", messageId: "m" },
    { type: "error", errorText: new ReplyStoppedError().message },
  ]);
});

test("a reader that leaves waits for nothing, and a failed wait is an error", async () => {
  const waits = vi.fn((_: string, signal: AbortSignal) => {
    return new Promise<void>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("left")));
    });
  });
  const { turns, asked, others } = elsewhere(live());
  Object.assign(others, { ended: waits });
  const reader = turns.read(live(), "c");
  await reader.next();
  const next = reader.next();
  expect(await reader.return?.()).toEqual({ done: true, value: undefined });
  expect(await next).toEqual({ done: true, value: undefined });
  expect(asked).not.toHaveBeenCalled();
  const broken = elsewhere(live(), undefined, () => Promise.reject(new Error("store gone"))).turns;
  const failing = broken.read(live(), "c");
  await failing.next();
  await expect(failing.next()).rejects.toThrow("store gone");
});

test("the process that runs a turn is asked to stop it until it has", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const over = Promise.withResolvers<void>();
  const { turns, others } = elsewhere(live(), undefined, () => over.promise);
  const stopped = turns.stop(live());
  await vi.advanceTimersByTimeAsync(2500);
  expect(others.askToStop.mock.calls).toEqual([["e"], ["e"], ["e"]]);
  over.resolve();
  await stopped;
  expect(others.ended.mock.calls).toEqual([["e", expect.objectContaining({ aborted: true })]]);
});
