// Retention call by call: its batches, its pauses and its lines.
import { expect, onTestFinished, test, vi } from "vitest";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { engineForTest } from "../../../test/support/test-engine.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { EngineKind } from "./engine-kind.ts";
import { Retention, type RetentionOptions, retentionBounds } from "./retention.ts";

const turns: EngineKind = {
  ...{ ...plainKind, name: "turn", keptFor: 500 },
  claimable: { workflowIds: [], agentIds: ["bot"] },
};

/** More than any case here makes. */
const mostCalls = 5000;

interface Left {
  /** How many batches of each there are to remove. */
  readonly executions?: number;
  readonly conversations?: number;
  readonly forks?: number;
  readonly compactions?: number;
}

/** A retention on a store that has so many batches left, and the calls that it makes. */
function retentionOf(options: RetentionOptions, left: Left = {}, kinds: readonly EngineKind[] = []) {
  const rest = { executions: 0, conversations: 0, forks: 0, compactions: 0, ...left };
  const calls: unknown[] = [];
  const note = (name: string, query: unknown) => {
    calls.push([name, query]);
    if (calls.length > mostCalls) throw new Error("it removes without an end");
  };
  const { conversations } = memoryStore();
  const made = engineForTest(
    {
      deleteFinished: async (query) => {
        note("delete", query);
        return { executionIds: [`e${rest.executions}`, "twice"], more: --rest.executions > 0 };
      },
      endedBeyond: async (query) => {
        note("beyond", query);
        return query.keep === 7 ? undefined : { endAt: 3, executionId: "last" };
      },
      compact: async (query) => {
        note("compact", query);
        return { more: --rest.compactions > 0 };
      },
      conversations: {
        ...conversations,
        removeUnchanged: async (query) => {
          note("conversations", query);
          return rest.conversations-- > 0 ? ["c1", "c2"] : [];
        },
        removeUnfinishedFork: async (query) => {
          note("fork", query);
          return rest.forks-- > 0;
        },
      },
    },
    { kinds },
  );
  const closed: string[] = [];
  vi.spyOn(made.engine.feed, "close").mockImplementation((executionId) => void closed.push(executionId));
  const pace = { period: 60_000, executions: 5, events: 50, pause: 1 };
  const retention = new Retention(made.engine, options, pace);
  onTestFinished(() => retention.stop());
  return { ...made, retention, calls, closed };
}

const deletion = (endAt: number, kind = "workflow", executionId = "\u{10ffff}") => [
  "delete",
  { kind, upTo: { endAt, executionId }, limit: 5, events: 50 },
];
const fork = ["fork", { before: 1000 - 600_000 }];
const compact = ["compact", { bytes: 512 * 1024 }];

test("by age: everything that ended before it, in batches, then forks and the file", async () => {
  const { retention, calls, closed } = retentionOf(
    { maxAge: 400 },
    { executions: 3, forks: 2, compactions: 2 },
  );
  expect(await retention.run()).toBe(4);
  expect(calls).toEqual([deletion(600), deletion(600), deletion(600), fork, fork, fork, compact, compact]);
  expect(closed).toEqual(["e3", "twice", "e2", "twice", "e1", "twice"]);
});

test("by count: up to the first execution beyond it", async () => {
  const some = retentionOf({ maxCount: 2 });
  expect(await some.retention.run()).toBe(2);
  expect(some.calls).toEqual([["beyond", { keep: 2 }], deletion(3, "workflow", "last"), fork, compact]);
  const none = retentionOf({ maxCount: 7 });
  expect(await none.retention.run()).toBe(0);
  expect(none.calls).toEqual([["beyond", { keep: 7 }], fork, compact]);
});

test("a kind with a time of its own is deleted after it, or earlier when the age is shorter", async () => {
  const own = retentionOf({}, {}, [turns]);
  expect(await own.retention.run()).toBe(0);
  expect(own.calls).toEqual([deletion(500, "turn"), fork, compact]);
  const shorter = retentionOf({ maxAge: 100 }, {}, [turns]);
  expect(await shorter.retention.run()).toBe(2);
  expect(shorter.calls).toEqual([deletion(900), deletion(900, "turn"), fork, compact]);
  const longer = retentionOf({ maxAge: 800 }, {}, [turns]);
  await longer.retention.run();
  expect(longer.calls).toEqual([deletion(200), deletion(500, "turn"), fork, compact]);
});

test("the file is compacted only where something was removed or a limit is set", async () => {
  const nothing = retentionOf({});
  await nothing.retention.run();
  expect(nothing.calls).toEqual([fork]);
  const forks = retentionOf({}, { forks: 1 });
  await forks.retention.run();
  expect(forks.calls).toEqual([fork, fork, compact]);
});

test("conversations are removed until none is found, with one line", async () => {
  const { retention, calls, logger } = retentionOf({ conversations: 250 }, { conversations: 2 });
  await retention.run();
  const removal = ["conversations", { before: 750, limit: 10 }];
  expect(calls).toEqual([removal, removal, removal, fork, compact]);
  expect(logger.lines).toEqual([
    { level: "info", msg: "removed conversations that nothing has changed for long", removed: 4 },
  ]);
  const none = retentionOf({ conversations: 250 });
  await none.retention.run();
  expect([none.calls, none.logger.lines]).toEqual([[removal, fork], []]);
});

test.each<[string, RetentionOptions, readonly EngineKind[], boolean]>([
  ["no bound", {}, [], false],
  ["an age", { maxAge: 1 }, [], true],
  ["a count", { maxCount: 0 }, [], true],
  ["an age of conversations", { conversations: 1 }, [], true],
  ["a kind with a time of its own", {}, [turns], true],
  ["such a kind without anything to claim", {}, [{ ...turns, claimable: undefined }], false],
  ["a kind without such a time", {}, [{ ...turns, keptFor: undefined }], false],
])("with %s: %o", async (_, options, kinds, runs) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { retention, calls } = retentionOf(options, {}, kinds);
  const timers = vi.getTimerCount();
  const forks = () => calls.filter((call) => Array.isArray(call) && call[0] === "fork").length;
  retention.start();
  await expect.poll(forks).toBe(runs ? 1 : 0);
  expect(vi.getTimerCount()).toBe(timers + (runs ? 1 : 0));
  vi.advanceTimersByTime(59_999);
  expect(forks()).toBe(runs ? 1 : 0);
  await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(1);
  await expect.poll(forks).toBe(runs ? 2 : 0);
  await retention.stop();
  expect(vi.getTimerCount()).toBe(timers);
});

test("a round is one line with the number of executions; one that fails is a warning", async () => {
  const { retention, logger, engine } = retentionOf({ maxAge: 400 }, { executions: 2 });
  retention.start();
  await expect.poll(() => logger.lines).toHaveLength(1);
  expect(logger.lines).toEqual([
    { level: "info", msg: "deleted executions that ended long ago", deleted: 3 },
  ]);
  const failing = new Retention(
    { ...engineParts(engine), store: { ...engine.store, compact: () => Promise.reject(new Error("no")) } },
    { maxCount: 7 },
  );
  failing.start();
  await expect.poll(() => logger.lines).toHaveLength(2);
  expect(logger.lines[1]).toEqual({
    ...{ level: "warn", msg: "deleting old executions failed; trying again later" },
    err: expect.objectContaining({ message: "no" }),
  });
  await failing.stop();
});

const engineParts = ({
  store,
  clock,
  logger,
  storage,
  feed,
  kinds,
}: ReturnType<typeof engineForTest>["engine"]) => ({
  ...{ store, clock, logger, storage, feed, kinds },
});

test("a stop ends every loop after the batch under way", async () => {
  const endless = { executions: 1e9, conversations: 1e9, forks: 1e9, compactions: 1e9 };
  const { retention, calls } = retentionOf({ maxAge: 400, conversations: 1 }, endless);
  const run = retention.run();
  await retention.stop();
  await run;
  expect(calls).toEqual([deletion(600)]);
});

test("options that retention cannot work with are refused, and durations are read", () => {
  for (const maxCount of [-1, 1.5, Number.NaN]) {
    expect(() => retentionBounds({ maxCount })).toThrow(
      "Option retention.maxCount: expected a whole number of 0 or more",
    );
  }
  expect(() => retentionBounds({ maxAge: -1 })).toThrow("retention.maxAge");
  expect(() => retentionBounds({ conversations: -1 })).toThrow("retention.conversations");
  expect(retentionBounds({})).toEqual({ maxAge: undefined, maxCount: undefined, conversationAge: undefined });
  expect(retentionBounds({ maxAge: "1m", maxCount: 0, conversations: "1h" })).toEqual({
    ...{ maxAge: 60_000, maxCount: 0, conversationAge: 3_600_000 },
  });
});

test("the usual pace: fifty executions and five hundred events in a batch, a round a minute", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { engine, calls } = retentionOf({});
  const retention = new Retention(engine, { maxAge: 400 });
  onTestFinished(() => retention.stop());
  const deletions = () => calls.filter((call) => Array.isArray(call) && call[0] === "delete");
  retention.start();
  await expect.poll(deletions).toMatchObject([["delete", { limit: 50, events: 500 }]]);
  await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(59_999);
  expect(deletions()).toHaveLength(1);
  vi.advanceTimersByTime(1);
  await expect.poll(deletions).toHaveLength(2);
});

test.each(["conversations", "fork", "compact"])(
  "a stop while %s are removed ends that loop",
  async (where) => {
    const endless = { conversations: 1e9, forks: where === "fork" ? 1e9 : 0, compactions: 1e9 };
    const options = where === "conversations" ? { conversations: 1 } : { maxCount: 7 };
    const { retention, calls } = retentionOf(options, endless);
    const count = () => calls.filter((call) => Array.isArray(call) && call[0] === where).length;
    const run = retention.run();
    await expect.poll(count, { interval: 1 }).toBeGreaterThan(1);
    await retention.stop();
    await run;
    const before = count();
    await new Promise((resolve) => setImmediate(resolve));
    expect(count()).toBe(before);
  },
);

test("a round under way is not begun again, and trouble of the storage has no line of its own", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { engine, logger } = retentionOf({});
  const reply = Promise.withResolvers<never>();
  const endedBeyond = vi.fn(() => reply.promise);
  const retention = new Retention(
    { ...engineParts(engine), store: { ...engine.store, endedBeyond } },
    { maxCount: 7 },
  );
  retention.start();
  vi.advanceTimersByTime(120_000);
  expect(endedBeyond.mock.calls).toEqual([[{ keep: 7 }]]);
  reply.reject(new StoreUnavailableError({ cause: new Error("full") }));
  await retention.stop();
  expect(logger.messages).toEqual([expect.stringContaining("the storage is in trouble")]);
});
