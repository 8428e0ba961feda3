// The guard against crash loops: only an outcome, a retry or a suspension starts its count again.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { pauseOf } from "../../src/store-cases/pause-of.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { inTime, patience } from "../support/in-time.ts";
import { flow, onMemoryAndFile } from "../support/test-andante.ts";
import { mortalStore, wrapStore } from "../support/wrapped-store.ts";

// Every case ends processes, so each runs on a file, too.
onMemoryAndFile((bench) => {
  test("an execution whose body emits events and then ends its process is given up", async () => {
    let runs = 0;
    const workflow = flow().andThen({
      id: "deadly",
      execute: ({ emit }) => {
        runs++;
        emit("progress", { percent: 10 });
        return new Promise<never>(() => undefined);
      },
    });
    const executionId = workflow.id;
    /** One process: it dies once the event of its body is committed. */
    const live = async (first: boolean) => {
      const emitted = Promise.withResolvers<void>();
      const { store, die } = mortalStore(bench.store);
      const commit: typeof store.commit = async (argument) => {
        const result = await store.commit(argument);
        if (argument.events.some(({ type }) => type === "emitted")) emitted.resolve();
        return result;
      };
      const andante = bench.andanteWith({ store: { ...store, commit } }, workflow);
      if (first) await andante.start(workflow.id, {}, { executionId });
      await andante.ready();
      const { status } = await andante.state(workflow.id, executionId);
      if (status === "running") await emitted.promise;
      await die();
      return status;
    };
    let status = await live(true);
    for (let life = 1; life < 8 && status === "running"; life++) status = await live(false);
    expect({ status, runs }).toEqual({ status: "error", runs: 6 });
  });

  test("one that is given up leaves no timer behind", async () => {
    let started = Promise.withResolvers<void>();
    const workflow = flow().andAll({
      id: "all",
      steps: [
        andSleep({ id: "long", duration: "1h" }),
        andThen({
          id: "deadly",
          execute: () => {
            started.resolve();
            return new Promise<never>(() => undefined);
          },
        }),
      ],
    });
    const executionId = workflow.id;
    for (let life = 0; life <= 5; life++) {
      started = Promise.withResolvers<void>();
      const { store, die } = mortalStore(bench.store);
      const andante = bench.andanteWith({ store }, workflow);
      if (life === 0) await andante.start(workflow.id, {}, { executionId });
      await andante.ready();
      await started.promise;
      await die();
    }
    await bench.andante(workflow).ready();
    expect(await bench.store.state(executionId)).toMatchObject({
      execution: { status: "error" },
      timers: [],
    });
  });

  test("one that is loaded ahead of the others, because a sleep ends before a deadline, is given up, too", async () => {
    const started = Promise.withResolvers<void>();
    const gate = andThen({ id: "gate", execute: ({ suspend }) => suspend("", null, { deadline: "20m" }) });
    const held = andThen({
      id: "held",
      execute: () => {
        started.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    const nap = andSleep({ id: "nap", duration: "10m" });
    const workflow = flow().andAll({ id: "all", steps: [held, nap, gate] });
    const executionId = workflow.id;
    const first = mortalStore(bench.store);
    await bench.andanteWith({ store: first.store }, workflow).start(workflow.id, {}, { executionId });
    await started.promise;
    await first.die();

    /** One process, full except for due executions: it dies at the first commit, unless that ends the execution. */
    const live = async () => {
      const { store, die } = mortalStore(bench.store);
      let isOver: boolean | undefined;
      const commit: typeof store.commit = async (argument) => {
        if (argument.end === null) {
          isOver = false;
          return new Promise<never>(() => undefined);
        }
        const result = await store.commit(argument);
        isOver = true;
        return result;
      };
      const claimAbandoned: typeof store.claimAbandoned = async (query) =>
        query.only === undefined ? [] : store.claimAbandoned(query);
      const clock = new TestClock({ start: Date.now() + 3_600_000, skipSleeps: false });
      bench.andanteWith({ store: { ...store, commit, claimAbandoned }, clock }, workflow);
      const tried = () => {
        clock.advance("1s");
        expect(isOver).toBeDefined();
      };
      await vi.waitFor(tried, { timeout: patience, interval: 10 });
      await die();
      return isOver;
    };
    let lives = 0;
    while (lives < 8 && !(await live())) lives++;
    expect(lives).toBe(5);
    expect(await bench.store.state(executionId)).toMatchObject({
      execution: { status: "error", error: expect.stringContaining("CrashLoopError") },
    });
  });

  test("a suspect that cannot be loaded does not hold up the next one", async () => {
    let started = Promise.withResolvers<string>();
    const workflow = flow().andThen({
      id: "held",
      execute: ({ executionId }) => {
        started.resolve(executionId);
        return new Promise<never>(() => undefined);
      },
    });
    const first = mortalStore(bench.store);
    const ids = ["unreadable", "readable"].map((name) => `${workflow.id}-${name}`);
    const before = bench.andanteWith({ store: first.store }, workflow);
    for (const executionId of ids) {
      started = Promise.withResolvers<string>();
      await before.start(workflow.id, {}, { executionId });
      await started.promise;
    }
    await first.die();
    await bench.store.heartbeat({ owner: "gone", lease: 0 });
    // Twice a process claims them and dies.
    const query = { owner: "gone", workflowIds: [workflow.id], limit: 2, suspects: false, suspectAfter: 2 };
    for (let life = 1; life <= 2; life++) {
      expect(await bench.store.claimAbandoned({ ...query, key: randomUUID() })).toHaveLength(2);
    }
    started = Promise.withResolvers<string>();
    const events: typeof bench.store.events = async (range) => {
      if (range.executionId === ids[0]) throw new Error("not a journal");
      return bench.store.events(range);
    };
    bench.andanteWith({ store: wrapStore(bench.store, { events }) }, workflow);
    expect(await inTime(started.promise, "the second suspect")).toBe(ids[1]);
  });

  test("a pause is not progress: an execution that ends its process again after the resume is given up", async () => {
    let started = Promise.withResolvers<void>();
    const workflow = flow().andThen({
      id: "deadly",
      execute: () => {
        started.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    const executionId = workflow.id;
    const live = async (run: (andante: ReturnType<typeof bench.andante>) => Promise<unknown>) => {
      started = Promise.withResolvers<void>();
      const { store, die } = mortalStore(bench.store);
      const andante = bench.andanteWith({ store }, workflow);
      await andante.ready();
      await run(andante);
      await die();
    };
    await live((andante) => andante.start(workflow.id, {}, { executionId }));
    for (let life = 1; life <= 4; life++) await live(() => started.promise);
    await live(async () => {
      await started.promise;
      await bench.store.pause(pauseOf(executionId, { suspensionId: executionId, at: Date.now() }));
    });
    // The next one has nothing to run: it lets the paused execution go.
    const idle = bench.andante(workflow);
    await idle.ready();
    await idle.settled();
    await idle.close();
    await live(async (andante) => {
      await andante.startResume(workflow.id, executionId);
      await started.promise;
    });
    const last = bench.andante(workflow);
    await last.ready();
    expect(await last.state(workflow.id, executionId)).toMatchObject({ status: "error" });
  });
});
