// Retention: old or surplus executions are deleted; running and waiting ones stay, and no caller is delayed.
import { expect, test } from "vitest";
import { z } from "zod";
import { Retention, type RetentionOptions } from "../../src/execution/engine/retention.ts";
import { StorageWatch } from "../../src/execution/engine/storage-watch.ts";
import { Waiters } from "../../src/execution/engine/waiters.ts";
import { Feed } from "../../src/execution/stream/feed.ts";
import { TurnKind } from "../../src/execution/turn/turn-kind.ts";
import type { Logger } from "../../src/observe/log/logger.ts";
import { Observation } from "../../src/observe/observation.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { systemClock } from "../../src/values/clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { inTime } from "../support/in-time.ts";
import { attach, onMemoryAndFile, onStore } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const workflow = createWorkflow({ id: "kept", input: z.unknown() })
  .andThen({ id: "one", execute: () => 1 })
  .andThen({
    id: "two",
    execute: ({ data, input, suspend, resumeData }) => (input === "wait" && !resumeData ? suspend() : data),
  });

/** Retention on a store without the rest of an Andante. */
function retentionOn(
  store: Store,
  options: RetentionOptions,
  pace = {},
  logger: Logger = new RecordingLogger(),
) {
  const observation = new Observation({ store, logger }, { running: () => 0, streams: () => 0 });
  const clock = systemClock;
  const host = {
    agentIds: [],
    run: () => Promise.reject(),
    endingOf: () => Promise.reject(),
    expire: () => Promise.reject(),
    look: async () => undefined,
  };
  const parts = {
    store,
    clock,
    logger: observation.logger,
    storage: new StorageWatch(store, observation.logger, observation.metrics, clock),
    feed: new Feed(),
    kinds: [new TurnKind(store, host, new Waiters())],
  };
  return new Retention(parts, options, { period: 60_000, executions: 10, events: 1000, pause: 0, ...pace });
}

// Deleted rows must leave the disk as well, and other writers must not wait for it: each runs on a file, too.
onMemoryAndFile((bench) => {
  test("keeps the most recently ended, and everything that has not ended", async () => {
    const andante = bench.andante(workflow);
    const waiting = await andante.execute(workflow.id, "wait");
    const ids: string[] = [];
    for (let index = 0; index < 25; index++)
      ids.push((await andante.execute(workflow.id, index)).executionId);
    expect(await retentionOn(bench.store, { maxCount: 3 }).run()).toBe(22);
    const { executions } = await andante.list({ workflowId: workflow.id });
    expect(executions.map(({ executionId }) => executionId)).toEqual([
      ...ids.slice(-3).reverse(),
      waiting.executionId,
    ]);
    expect(await retentionOn(bench.store, { maxCount: 3 }).run()).toBe(0);
    await expect(andante.resume(workflow.id, waiting.executionId, true)).resolves.toMatchObject({
      result: 1,
    });
    expect(await retentionOn(bench.store, { maxCount: 0 }).run()).toBe(4);
  });

  test("deletes executions older than an age, and nothing younger", async () => {
    const andante = bench.andante(workflow);
    const { executionId, endAt } = await andante.execute(workflow.id, 0);
    expect(await retentionOn(bench.store, { maxAge: "1d" }).run()).toBe(0);
    expect(
      await retentionOn(bench.store, { maxAge: Date.now() - Date.parse(endAt ?? "") + 60_000 }).run(),
    ).toBe(0);
    expect(await retentionOn(bench.store, { maxAge: 0 }).run()).toBe(1);
    await expect(andante.state(workflow.id, executionId)).rejects.toMatchObject({ status: 404 });
    expect(await bench.store.events({ executionId, after: 0, limit: 10 })).toEqual([]);
  });

  test("removes conversations that nothing has changed for long, and no others", async () => {
    const post = (conversationId: string, at: number) =>
      bench.store.conversations.post({
        ...{ key: conversationId, conversationId, agentId: "a", userId: null, title: null },
        ...{ messageId: "m", body: "{}", again: false, at },
      });
    const old = Array.from({ length: 25 }, (_, index) => `old-${index}-${process.pid}`);
    for (const id of old) await post(id, Date.now() - 86_400_000);
    await post(`young-${process.pid}`, Date.now());
    await retentionOn(bench.store, {}).run();
    expect(await bench.store.conversations.list({ limit: 100 })).toHaveLength(26);
    const lines = new RecordingLogger();
    for (let round = 0; round < 2; round++)
      await retentionOn(bench.store, { conversations: "12h" }, {}, lines).run();
    // Where nothing was removed there is nothing to tell.
    expect(lines.of("info")).toMatchObject([
      { removed: 25, msg: "removed conversations that nothing has changed for long" },
    ]);
    const left = await bench.store.conversations.list({ limit: 100 });
    expect(left.map(({ conversationId }) => conversationId)).toEqual([`young-${process.pid}`]);
  });

  test("removes the pages of a fork that was left for ten minutes, and not before", async () => {
    const { conversations } = bench.store;
    const [conversationId, userId] = [`source-${process.pid}`, "ada"];
    for (const messageId of ["m1", "m2", "m3"])
      await conversations.post({
        ...{ key: `${conversationId}-${messageId}`, conversationId, agentId: "a", userId, title: null },
        ...{ messageId, body: "{}", again: false, at: Date.now() },
      });
    let pages = 0;
    const page = (at: number) =>
      conversations.fork({
        ...{ key: `${conversationId}-${++pages}`, copyId: "copy", conversationId, userId },
        ...{ forkId: `fork-${process.pid}`, maxBytes: 1000, page: { rows: 1, bytes: 1000 }, at },
      });
    expect(await page(Date.now() - 660_000)).toEqual({ kind: "more", copied: 1 });
    // Between two messages there are free places: for a reply, and for a summary.
    expect(await page(Date.now() - 540_000)).toEqual({ kind: "more", copied: 4 });
    await retentionOn(bench.store, {}).run();
    expect(await page(Date.now())).toEqual({ kind: "forked" });
    await conversations.remove({ key: `removal-${process.pid}`, conversationId: `fork-${process.pid}` });
    expect(await page(Date.now() - 660_000)).toEqual({ kind: "more", copied: 1 });
    await retentionOn(bench.store, {}).run();
    // The copy starts over.
    expect(await page(Date.now())).toEqual({ kind: "more", copied: 1 });
    await conversations.remove({ key: `end-${process.pid}`, conversationId });
  });

  test("the id of a deleted execution is free: a start with it is a new one", async () => {
    const andante = bench.andante(workflow);
    const options = { executionId: `again-${process.pid}`, tags: ["again"] };
    const before = await andante.execute(workflow.id, 0, options);
    await retentionOn(bench.store, { maxAge: 0 }).run();
    const after = await andante.execute(workflow.id, "other input", options);
    expect(after).toMatchObject({ executionId: before.executionId, status: "completed" });
    expect((await andante.list({ tag: "again" })).executions).toHaveLength(1);
  });

  test("executions go on while many are deleted", async () => {
    const andante = bench.andante(workflow);
    const many = 400;
    await Promise.all(Array.from({ length: many }, (_, index) => andante.execute(workflow.id, index)));
    // The work done between two rounds shows whether other callers came through.
    let done = 0;
    const between: number[] = [];
    const store = wrapStore(bench.store, {
      deleteFinished: async (query) => {
        between.push(done);
        return bench.store.deleteFinished(query);
      },
    });
    const deleting = retentionOn(store, { maxAge: 0 }, { executions: 10 }).run();
    let deleted = false;
    const working = (async () => {
      while (!deleted) {
        expect((await andante.execute(workflow.id, "more")).status).toBe("completed");
        done++;
      }
    })();
    expect(await deleting).toBeGreaterThanOrEqual(many);
    deleted = true;
    await working;
    expect(between.length).toBeGreaterThanOrEqual(many / 10);
    // Never more than a few goes in a row without an execution that ran from start to end between them.
    const longest = between.reduce(
      ({ run, most, last }, now) =>
        now > last ? { run: 0, most, last: now } : { run: run + 1, most: Math.max(most, run + 1), last },
      { run: 0, most: 0, last: 0 },
    );
    expect(longest.most).toBeLessThan(10);
  });

  test("streams of an execution that is deleted end", async () => {
    const gate = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const store = wrapStore(bench.store, {
      deleteFinished: async (query) => {
        await gate.promise;
        return bench.store.deleteFinished({ ...query, upTo: { ...query.upTo, endAt: Date.now() } });
      },
      // The answer of the last go is followed by nothing else that the store is asked for.
      endedBeyond: async () => {
        gone.resolve();
        return undefined;
      },
    });
    const andante = bench.andanteWith({ store, retention: { maxAge: 0, maxCount: 1_000_000 } }, workflow);
    const { executionId } = await andante.execute(workflow.id, 0);
    const events = await attach(andante, workflow.id, executionId);
    gate.resolve();
    await inTime(gone.promise, "the deletion");
    expect(await inTime(events.next(), "the end of the stream")).toEqual({ done: true, value: undefined });
    await expect(andante.attach(workflow.id, executionId)).rejects.toMatchObject({ status: 404 });
  });
});

onStore("a store of its own", memoryStore(), (bench) => {
  test("an Andante with retention deletes by itself when it starts", async () => {
    const first = bench.andante(workflow);
    const { executionId } = await first.execute(workflow.id, 0);
    await first.close();
    const gone = Promise.withResolvers<readonly string[]>();
    const store = wrapStore(bench.store, {
      deleteFinished: async (query) => {
        const answer = await bench.store.deleteFinished(query);
        gone.resolve(answer.executionIds);
        return answer;
      },
    });
    bench.andanteWith({ store, retention: { maxAge: 0 } }, workflow);
    expect(await gone.promise).toEqual([executionId]);
  });

  test("it runs again and again, also after a round that failed", async () => {
    const andante = bench.andante(workflow);
    let rounds = 0;
    const store = wrapStore(bench.store, {
      endedBeyond: async (query) => {
        if (++rounds === 1) throw new Error("not now");
        return bench.store.endedBeyond(query);
      },
    });
    const retention = retentionOn(store, { maxCount: 0 }, { period: 5 });
    retention.start();
    try {
      await expect.poll(() => rounds).toBeGreaterThan(2);
      const { executionId } = await andante.execute(workflow.id, 0);
      await expect.poll(() => bench.store.state(executionId)).toBeUndefined();
    } finally {
      await retention.stop();
    }
  });

  test("one without retention deletes nothing", async () => {
    const store = wrapStore(bench.store, {
      deleteFinished: async () => {
        throw new Error("deleted");
      },
    });
    const andante = bench.andanteWith({ store }, workflow);
    await andante.execute(workflow.id, 0);
    await andante.close();
    expect(bench.logger.messages).toEqual([]);
  });

  test("a deletion is one line with the number of executions", async () => {
    const rounds = [
      { executionIds: ["a", "b"], more: true },
      { executionIds: ["b", "c"], more: false },
    ];
    const store = wrapStore(bench.store, {
      deleteFinished: async () => rounds.shift() ?? { executionIds: [], more: false },
    });
    const logger = new RecordingLogger();
    bench.andanteWith({ store, logger, retention: { maxAge: "1h" } }, workflow);
    const lines = () => logger.lines.filter(({ deleted }) => deleted !== undefined);
    await expect
      .poll(lines)
      .toMatchObject([{ level: "info", deleted: 3, msg: "deleted executions that ended long ago" }]);
  });

  test("a store in trouble is logged and does not end anything", async () => {
    const asked = Promise.withResolvers<void>();
    const store = wrapStore(bench.store, {
      deleteFinished: async () => {
        asked.resolve();
        throw new Error("the disk is full");
      },
    });
    const andante = bench.andanteWith({ store, retention: { maxAge: "1h" } }, workflow);
    await asked.promise;
    await expect(andante.execute(workflow.id, 0)).resolves.toMatchObject({ status: "completed" });
    await andante.close();
    expect(bench.logger.messages).toEqual(["deleting old executions failed; trying again later"]);
  });

  test.each<[RetentionOptions, string]>([
    // @ts-expect-error a host in plain JavaScript may write anything
    [{ maxAge: "soon" }, "retention.maxAge"],
    [{ maxAge: -1 }, "retention.maxAge"],
    [{ maxCount: -1 }, "retention.maxCount: expected a whole number of 0 or more"],
    [{ maxCount: 1.5 }, "retention.maxCount: expected a whole number of 0 or more"],
  ])("options that make no sense are refused at once: %j", (retention, where) => {
    expect(() => bench.andanteWith({ retention }, workflow)).toThrow(where);
  });
});
