// Many executions that sleep, wait or have ended: each is found once, in bounded memory, time and calls. ANDANTE_MANY and
// ANDANTE_ENDED set how many.
import { setTimeout as pause } from "node:timers/promises";
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { CapacityError, StoreUnavailableError, UserShareError } from "@andante/core/errors";
import type {
  Commit,
  ListedExecution,
  ListQuery,
  NewExecution,
  NewStoredEvent,
  Store,
} from "@andante/core/store";
import { restateStore } from "@andante/restate";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { isLong, startRestate } from "./restate-server.ts";

const many = Number(process.env.ANDANTE_MANY ?? 500);

/** Executions that have ended. */
const ended = Number(process.env.ANDANTE_ENDED ?? 1_000);

/** Milliseconds that each sleeper sleeps from its own start: a minute, or less where there are few. */
const napTime = Math.min(60_000, many * 6);

/** Milliseconds after its time within which each of them wakes. */
const mostLate = 10_000;

/** Callers that start executions at the same time. */
const callers = 100;

const server = await startRestate();
afterAll(() => server.remove());

function storeOf(namespace: string): Store {
  return restateStore({ ...server.options(namespace), lease: 60_000 });
}

function event(type: string, fields: Partial<NewStoredEvent> = {}): NewStoredEvent {
  const none = { path: null, stepIndex: null, stepType: null, value: null, detail: null };
  return { ...none, timestamp: Date.now(), type, ...fields };
}

const idOf = (number: number) => `e-${String(number).padStart(6, "0")}`;

/** Repeats a write while the store is not available, as the engine does. */
async function repeated<Result>(write: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
}

const firstStart = Date.now();

/** Writes executions that are idle or have ended after one commit, each a millisecond younger than the one before it. */
async function fill(
  store: Store,
  workflowId: string,
  commitOf: (number: number) => Partial<Commit>,
  count = many,
) {
  const one = async (number: number) => {
    const executionId = idOf(number);
    const claim = { owner: "filler", token: "token" };
    const made = { executionId, workflowId, input: "{}", context: "{}", userId: null, conversationId: null };
    const times = { startAt: firstStart + number, timeoutAt: null };
    const events = [event("workflow-start")];
    const execution: NewExecution = { ...made, ...times, claim, events };
    await repeated(() => store.create(execution));
    const nothing = { open: [], following: [], closeBelow: [], timers: [], clear: [], end: null };
    const rest = {
      usage: null,
      stepIndex: 0,
      progress: false,
      events: [],
      idle: { resumes: 0, event: null },
    };
    const commit = { executionId, token: "token", number: 1, ...nothing, ...rest, ...commitOf(number) };
    await repeated(() => store.commit(commit));
  };
  for (let first = 0; first < count; first += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - first) }, (_, index) => one(first + index)),
    );
}

test(
  "all sleepers that fall due together wake, none early, with few calls and little memory",
  async () => {
    const filling = storeOf("sleepers");
    await filling.open();
    onTestFinished(() => filling.close());
    const started = [event("step-start", { path: "sleep", stepIndex: 0, stepType: "sleep" })];
    const dueAt = Date.now() + 2_000 + many;
    await fill(filling, "nap", () => ({ events: started, timers: [{ path: "sleep", dueAt }] }));
    await filling.close();
    let wokenEarly = 0;
    let woken = 0;
    const nap = createWorkflow({ id: "nap", input: z.object({}) })
      .andSleepUntil({ id: "sleep", date: () => new Date(dueAt) })
      .andThen({
        id: "woken",
        execute: () => {
          // Restate's clock is known to a second.
          if (Date.now() < dueAt - 1_000) wokenEarly += 1;
          woken += 1;
          return 1;
        },
      });
    const andante = createAndante({
      store: storeOf("sleepers"),
      workflows: { nap },
      logger: createLogger({ level: "silent" }),
    });
    onTestFinished(() => andante.close());
    await andante.ready();
    // On a slow machine the node is there after the time.
    const ready = Date.now();
    const { fetch: original } = globalThis;
    let calls = 0;
    globalThis.fetch = (...request) => {
      calls += 1;
      return original(...request);
    };
    onTestFinished(() => {
      globalThis.fetch = original;
    });
    const before = process.memoryUsage().rss;
    const left = async () => (await andante.store.countUnfinished())[0]?.count ?? 0;
    // Without a call for each look: on a slow machine there are many.
    await expect.poll(() => woken, { timeout: 120_000 + many * 40 }).toBe(many);
    const late = Math.round(Date.now() - Math.max(dueAt, ready));
    process.stdout.write(`${many} sleepers have woken ${late} ms after their time\n`);
    await expect.poll(left, { interval: 200 }).toBe(0);
    expect(wokenEarly).toBe(0);
    // Writes of many executions are one call, and an execution has three: its wake, its commit and its end.
    expect(calls).toBeLessThan(500 + many * 1.5);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  },
  240_000 + many * 60,
);

test(
  "each sleeper wakes soon after its own time, never before it, however many there are",
  async () => {
    const store = storeOf("naps");
    const dueTimes = new Map<string, number>();
    const late: number[] = [];
    const nap = createWorkflow({ id: "nap", input: z.object({}) })
      .andSleep({ id: "sleep", duration: napTime })
      .andThen({
        id: "woken",
        execute: ({ executionId }) => {
          late.push(Date.now() - (dueTimes.get(executionId) ?? Number.NaN));
          return 1;
        },
      });
    const andante = createAndante({
      store: {
        ...store,
        commit: (commit) => {
          for (const { dueAt } of commit.timers) dueTimes.set(commit.executionId, dueAt);
          return store.commit(commit);
        },
      },
      workflows: { nap },
      logger: createLogger({ level: "silent" }),
    });
    onTestFinished(() => andante.close());
    await andante.ready();
    const begun = Date.now();
    let started = 0;
    const call = async () => {
      while (started++ < many)
        await andante.start("nap", {}).catch(async (error) => {
          // On a slow machine the first sleepers wake while the last are started.
          if (!(error instanceof CapacityError || error instanceof UserShareError)) throw error;
          started -= 1;
          await pause((error.retryAfter ?? 1) * 1_000);
        });
    };
    await Promise.all(Array.from({ length: callers }, call));
    const starting = Date.now() - begun;
    await expect.poll(() => late.length, { timeout: napTime + 120_000 + many * 40 }).toBe(many);
    const [first = Number.NaN, last = Number.NaN] = [Math.min(...late), Math.max(...late)];
    process.stdout.write(
      `${many} sleepers, started in ${starting} ms, have woken ${first} to ${last} ms after their times\n`,
    );
    expect(first).toBeGreaterThanOrEqual(0);
    expect(last).toBeLessThan(mostLate);
  },
  napTime + 240_000 + many * 60,
);

test(
  "a long inbox is read in pages: each suspension once, oldest first, and the first page soon",
  async () => {
    const store = storeOf("inbox");
    await store.open();
    onTestFinished(() => store.close());
    await fill(store, "gate", (number) => {
      const fixed = { path: "gate", stepIndex: 0, reason: "", data: null, deadline: null, onDeadline: null };
      return { open: [{ ...fixed, suspensionId: idOf(number), suspendedAt: Math.floor(number / 3) }] };
    });
    const page = async (after?: { suspendedAt: number; suspensionId: string }) =>
      (await store.waiting({ ...(after && { after }), limit: 500 })).map(({ suspension }) => suspension);
    const start = performance.now();
    const first = await page();
    const time = performance.now() - start;
    process.stdout.write(
      `the first ${first.length} of ${many} suspensions were read in ${Math.round(time)} ms\n`,
    );
    expect(time).toBeLessThan(isLong ? 300 : 5_000);
    const found = first.map(({ suspensionId }) => suspensionId);
    for (let last = first.at(-1); last !== undefined; ) {
      const next = await page(last);
      found.push(...next.map(({ suspensionId }) => suspensionId));
      last = next.at(-1);
    }
    expect(found).toEqual(Array.from({ length: many }, (_, number) => idOf(number)));
  },
  240_000 + many * 60,
);

test(
  "many executions that have ended are listed in pages: each once, and a page soon, also of a filtered list",
  async () => {
    const store = storeOf("ended");
    await store.open();
    onTestFinished(() => store.close());
    const end = { status: "completed", result: "1", error: null } as const;
    const failed = { status: "error", result: null, error: "no" } as const;
    const commitOf = (number: number) => ({
      following: [event("workflow-end")],
      end: number % 100 === 0 ? failed : end,
      idle: null,
    });
    await fill(store, "done", commitOf, ended);
    const timed = async (query: Omit<ListQuery, "limit">) => {
      const start = performance.now();
      const page = await store.list({ ...query, limit: 50 });
      return { page, time: Math.round(performance.now() - start) };
    };
    const [first, filtered] = [await timed({}), await timed({ status: "error" })];
    process.stdout.write(
      `of ${ended} executions the first 50 were listed in ${first.time} ms, those with errors in ${filtered.time} ms\n`,
    );
    expect(first.page).toHaveLength(50);
    expect(filtered.page.map(({ status }) => status)).toEqual(
      Array.from({ length: Math.min(50, ended / 100) }, () => "error"),
    );
    for (const { time } of [first, filtered]) expect(time).toBeLessThan(isLong ? 400 : 5_000);
    const found: string[] = [];
    for (let before: ListedExecution | undefined; ; ) {
      const page: readonly ListedExecution[] = await store.list({ ...(before && { before }), limit: 500 });
      found.push(...page.map(({ executionId }) => executionId));
      before = page.at(-1);
      if (before === undefined) break;
    }
    expect(found.reverse()).toEqual(Array.from({ length: ended }, (_, number) => idOf(number)));
  },
  240_000 + ended * 60,
);
