// A turn that another process left: found at once, read as soon as its beginning is known, continued within its time.
import type { UIMessageChunk } from "ai";
import { expect, test, vi } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { ActiveTurns } from "./active-turns.ts";
import { recoveredTurn } from "./recovered-turn.ts";

const clock = new TestClock({ start: 10_000 });

function recoveredForTest(input: object = {}, running: object = {}) {
  const turns = new ActiveTurns();
  const agent = Object({ id: "clerk", recoverWithin: 4000 });
  const all = Object({
    ...{ executionId: "e", conversationId: "c", userId: "ada", onlyRecorded: false, activeAt: 6000 },
    input: { agentId: "clerk", mode: "chat", messageId: "m", replyTo: "u", startedAt: 6000, ...input },
    ...running,
  });
  const recovered = recoveredTurn({ turns, clock }, new Map([["clerk", agent]]), all);
  return { turns, agent, running: all, recovered };
}

test("a recovered turn holds its conversation and has its question", async () => {
  const { turns, agent, running, recovered } = recoveredForTest();
  const { active, kept, reply } = recovered;
  expect(recovered).toMatchObject({
    agent,
    running,
    conversationId: "c",
    userId: "ada",
    onlyRecorded: false,
  });
  expect(active.isRecovered).toBe(true);
  expect(active.question).toEqual({ agentId: "clerk", mode: "chat", messageId: "u", body: undefined });
  expect([kept.executionId, kept.input]).toEqual(["e", running.input]);
  await inTime(recovered.entered, "its place");
  await inTime(active.hasBegun, "its beginning");
  expect(turns.find("c", "ada")).toBe(active);
  expect(reply.readers).toBe(0);
  const other = recoveredForTest({ replyTo: null }, { userId: undefined });
  expect(other.recovered.active.question?.messageId).toBe("m");
  expect(other.recovered.userId).toBeNull();
});

test.each([
  ["chat", true],
  ["stream", true],
  ["text", false],
  ["object", false],
])("a reply of mode %s can be attached to: %s", async (mode, isAttachable) => {
  const { recovered } = recoveredForTest({ mode });
  expect(recovered.active.isAttachable).toBe(isAttachable);
});

test.each([
  [6000, false, false],
  [5999, false, true],
  [6000, true, true],
])(
  "a turn that made progress at %s and of which %s only records count makes new calls: not %s",
  (activeAt, only, expected) => {
    const { recovered } = recoveredForTest({}, { activeAt, onlyRecorded: only });
    expect(recovered.onlyRecorded).toBe(expected);
  },
);

test("the turn of an agent that is not registered is refused", () => {
  expect(() => recoveredForTest({ agentId: "gone" })).toThrow(
    new TypeError("the agent gone is not registered"),
  );
});

test("those who attach read the reply as it is shown, once that is known", async () => {
  const { recovered } = recoveredForTest();
  const chunks = recovered.active.attach();
  if (chunks === undefined) throw new Error("it cannot be attached to");
  expect(chunks[Symbol.asyncIterator]()).toBe(chunks);
  recovered.reply.append({ type: "start" });
  recovered.reply.close();
  const first = chunks.next();
  expect(await Promise.race([first, new Promise((resolve) => setImmediate(resolve, "waits"))])).toBe("waits");
  async function* shown(parts: AsyncIterable<UIMessageChunk>): AsyncGenerator<UIMessageChunk> {
    yield { type: "start-step" };
    yield* parts;
  }
  recovered.view.resolve(shown);
  expect(await inTime(first, "the first chunk")).toEqual({ done: false, value: { type: "start-step" } });
  expect(await allInTime(chunks, "the chunks")).toEqual([{ type: "start" }]);
});

test("a reader may leave before the beginning is known", async () => {
  const { recovered } = recoveredForTest();
  const chunks = recovered.active.attach();
  expect(recovered.reply.readers).toBe(1);
  const left = vi.fn();
  recovered.reply.whenUnread(left);
  expect(await chunks?.return?.()).toEqual({ done: true, value: undefined });
  expect([recovered.reply.readers, left.mock.calls.length]).toEqual([0, 1]);
});
