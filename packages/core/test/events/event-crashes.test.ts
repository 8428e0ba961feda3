// Events while processes crash, and applications without any.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow, defineEvent, memoryStore } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { crashingStore } from "../../src/test-kit/crashing-store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { crashPoints, isExhaustive } from "../support/crash-points.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const paid = defineEvent({
  name: "paid",
  data: z.object({ id: z.string(), n: z.number() }),
  key: ({ data }) => data.id,
});
const input = z.object({ n: z.number() });

describe("a crash at every write", () => {
  test("an event of a body is sent once, and taken by the wait that follows", {
    timeout: 60_000,
  }, async () => {
    const workflow = createWorkflow({ id: "self", input })
      .andThen({
        id: "send",
        execute: ({ data, send, executionId }) => {
          send(paid, { id: executionId, n: data.n });
          return executionId;
        },
      })
      .andWaitFor({ id: "wait", event: paid, key: ({ data }) => data })
      .andThen({ id: "end", execute: ({ data }) => data.n });
    const report = await crashTest({ workflow, input: { n: 7 } });
    expect(report.expected).toMatchObject({ status: "completed", result: 7 });
    expect(report.differences).toEqual([]);
    const lost = report.runs.filter(({ variant }) => variant === "lost");
    const written = lost.map(({ events }) => events);
    // Sends and deliveries are among them.
    expect(written).toEqual(expect.arrayContaining(["send paid", expect.stringMatching(/^settle/)]));
    // The crash falls on the write that the run names: the body before it runs again.
    for (const { events, bodyRuns } of lost) {
      if (events === "step-complete send, step-start wait") expect(bodyRuns.send).toBe(2);
      if (events === "step-complete end, workflow-complete") expect(bodyRuns.end).toBe(2);
    }
  });

  test("the next process does not wait for the one that has sent the event of a body", async () => {
    const store = memoryStore();
    await store.open();
    const workflow = createWorkflow({ id: "sends", input }).andThen({
      id: "send",
      execute: ({ data, send }) => send(paid, { id: "one", n: data.n }),
    });
    const takes = createWorkflow({ id: "takes", input }).andWaitFor({
      ...{ id: "wait", event: paid, key: () => "one" },
    });
    const andanteOn = (of: Store) =>
      createAndante({ store: of, clock: new TestClock(), workflows: { workflow, takes }, events: { paid } });
    let isGone = false;
    const never = () => new Promise<never>(() => undefined);
    const dying = andanteOn(
      wrapStore(store, {
        signals: {
          ...store.signals,
          send: async (signals) => {
            isGone = true;
            await store.signals.send(signals);
            return never();
          },
        },
        due: (query) => (isGone ? never() : store.due(query)),
      }),
    );
    await dying.execute("takes", { n: 1 });
    const { executionId, result } = await dying.start("sends", { n: 1 });
    await result();
    await expect.poll(async () => (await store.signals.list({ limit: 1 })).length).toBe(1);
    let reads = 0;
    const bySeq: Store["signals"]["bySeq"] = (seq) => {
      reads += 1;
      return store.signals.bySeq(seq);
    };
    const next = andanteOn(wrapStore(store, { signals: { ...store.signals, bySeq } }));
    await next.settled();
    expect([(await next.find(executionId)).status, reads]).toEqual(["completed", 0]);
    await next.close({ grace: 0 });
    await dying.close({ grace: 0 });
    await store.close();
  });

  test("a loop takes each of its events once", { timeout: 60_000 }, async () => {
    const workflow = createWorkflow({ id: "rounds", input }).andDoWhile({
      id: "loop",
      step: (chain) =>
        chain
          .andThen({
            id: "send",
            execute: ({ data, send, executionId }) => {
              send(paid, { id: executionId, n: data.n + 1 });
              return executionId;
            },
          })
          .andWaitFor({ id: "wait", event: paid, key: ({ data }) => data })
          .andThen({ id: "next", execute: ({ data }) => ({ n: data.n }) }),
      condition: ({ data }) => data.n < 2,
    });
    const report = await crashTest({ workflow, input: { n: 0 } });
    expect(report.expected).toMatchObject({ status: "completed", result: { n: 2 } });
    expect(report.differences).toEqual([]);
  });
});

describe("a process that dies at any write of an event", () => {
  const ended = defineEvent({ name: "ended", key: ({ data }) => String(data) });
  const waits = createWorkflow({ id: "waits", input, cancelOn: { event: ended, key: () => "all" } })
    .andWaitFor({ id: "wait", event: paid, key: () => "one" })
    .andThen({ id: "end", execute: ({ data }) => data.n });

  test.each([
    ["wakes", "woken", "completed", paid, { id: "one", n: 7 }],
    ["cancels", "cancelled", "cancelled", ended, "all"],
  ] as const)(
    "one that %s: the event names the execution",
    { timeout: 60_000 },
    async (_, effect, status, event, data) => {
      for (const { write, variant } of crashPoints()) {
        const store = memoryStore();
        await store.open();
        const clock = new TestClock();
        const andanteOn = (of: Store) =>
          createAndante({ store: of, clock, workflows: { waits }, events: { paid, ended } });
        const waiter = andanteOn(crashingStore(store).store);
        const { executionId, result } = await waiter.start("waits", { n: 1 });
        await result();
        await waiter.settled();
        await waiter.close({ grace: 0 });
        const life = crashingStore(store, { write, variant });
        const dying = andanteOn(life.store);
        const sent = (async () => {
          await dying.send(event, data, { id: "one" });
          await dying.settled();
        })();
        await Promise.race([sent.catch(() => undefined), life.crash]);
        await dying.close({ grace: 0 });
        const isOver = !life.crashed;
        await life.bury();
        // Later than a repeated event waits for the process that has sent it first.
        if (!isExhaustive) clock.advance("5s");
        const next = andanteOn(crashingStore(store).store);
        // Its sender repeats an event whose answer was lost.
        await next.send(event, data, { id: "one" });
        for (let second = 0; second < 3; second++) {
          await next.settled();
          clock.advance("1s");
        }
        await next.settled();
        const { events } = await next.sentEvents.list();
        const [one] = events;
        expect(one, `${variant} ${write}`).toMatchObject({ [effect]: [executionId], unmatched: false });
        expect(one?.counts[effect]).toBe(1);
        expect((await next.find(executionId)).status).toBe(status);
        await next.close();
        await store.close();
        if (isOver) break;
      }
    },
  );
});

test("an application without events asks the store for none, and commits as before", async () => {
  const calls: string[] = [];
  const inner = memoryStore();
  await inner.open();
  const signals = new Proxy(inner.signals, {
    get: (target, name) => {
      calls.push(`signals.${String(name)}`);
      return Reflect.get(target, name);
    },
  });
  const store = wrapStore(inner, {
    signals,
    commit: (commit) => {
      calls.push(`commit ${Object.keys(commit).includes("sends")}`);
      return inner.commit(commit);
    },
    due: (query) => {
      if ("signals" in query) calls.push("due with events");
      return inner.due(query);
    },
  });
  const workflow = createWorkflow({ id: "plain", input })
    .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend("answer") })
    .andThen({ id: "end", execute: () => "done" });
  const andante = createAndante({ workflows: { workflow }, store });
  const { executionId, status } = await andante.execute("plain", { n: 1 });
  expect(status).toBe("suspended");
  expect((await andante.resume("plain", executionId, "yes")).result).toBe("done");
  await andante.settled();
  await andante.close();
  expect(new Set(calls)).toEqual(new Set(["commit false"]));
  await inner.close();
});
