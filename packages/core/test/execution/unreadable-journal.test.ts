// A journal with events that this release does not know: a later one wrote them. Nothing is used up by trying.
import { expect, test } from "vitest";
import { z } from "zod";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { mortalStore, wrapStore } from "../support/wrapped-store.ts";

onMemory((bench) => {
  test("a resume is refused before it is written, and works with a release that can read the journal", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
    });
    const first = bench.andante(workflow);
    const { executionId } = await first.execute(workflow.id, {});
    await first.close();

    const later = (event: StoredEvent) =>
      event.sequence === 2 ? { ...event, type: "step-foreseen" } : event;
    const store = wrapStore(bench.store, {
      events: async (query) => (await bench.store.events(query)).map(later),
    });
    const older = bench.andanteWith({ store }, workflow);
    for (let time = 1; time <= 2; time++) {
      await expect(older.resume(workflow.id, executionId, "yes")).rejects.toMatchObject({
        code: "unknown-event",
      });
    }
    expect(await older.state(workflow.id, executionId)).toMatchObject({
      status: "suspended",
      suspension: { reason: "why" },
    });
    await older.close();

    expect(await bench.andante(workflow).resume(workflow.id, executionId, "yes")).toMatchObject({
      status: "completed",
      result: "yes",
    });
  });

  test("a running execution is untouched after many failed recoveries, and continues with a release that knows its events", async () => {
    let crash = true;
    const begun = Promise.withResolvers<void>();
    const workflow = flow()
      .andThen({ id: "one", execute: () => 1 })
      .andThen({
        id: "two",
        execute: ({ data }) => {
          begun.resolve();
          return crash ? new Promise<number>(() => undefined) : data + 1;
        },
      });
    const mortal = mortalStore(bench.store);
    const first = bench.andanteWith({ store: mortal.store }, workflow);
    const { executionId } = await first.start(workflow.id, {});
    await begun.promise;
    await mortal.die();
    crash = false;

    const before = await bench.store.events({ executionId, after: 0, limit: 100 });
    const later = (event: StoredEvent) =>
      event.type === "step-complete" ? { ...event, type: "step-foreseen" } : event;
    const store = wrapStore(bench.store, {
      events: async (query) => (await bench.store.events(query)).map(later),
    });
    // More often than an execution may crash its process.
    for (let time = 1; time <= 8; time++) {
      const logger = new RecordingLogger();
      const older = bench.andanteWith({ store, logger }, workflow);
      await older.settled();
      await older.close();
      expect(logger.of("error")).toMatchObject([
        { msg: "failed to recover an abandoned execution", executionId, err: { code: "unknown-event" } },
      ]);
    }
    expect(await bench.store.events({ executionId, after: 0, limit: 100 })).toEqual(before);

    const next = bench.andante(workflow);
    await next.settled();
    expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "completed", result: 2 });
  });

  const aDay = 86_400_000;
  test("a sleep that ends is tried seldom, and the timeout after it ends the execution", async () => {
    const workflow = createWorkflow({ id: flow().id, input: z.unknown(), timeout: "30m" })
      .andSleep({ id: "nap", duration: "10m" })
      .andThen({ id: "say", execute: () => "slept" });
    const first = bench.andante(workflow);
    const { executionId } = await first.start(workflow.id, {});
    await first.settled();
    await first.close();

    let reads = 0;
    const store = wrapStore(bench.store, {
      events: async () => {
        reads++;
        throw new Error("not a journal");
      },
    });
    const clock = new TestClock({ start: Date.now() + aDay, skipSleeps: false });
    const next = bench.andanteWith({ store, clock }, workflow);
    await next.settled();
    for (let second = 0; second < 5; second++) {
      clock.advance("1s");
      await next.settled();
    }
    expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "error" });
    expect(reads).toBeLessThan(4);
  });

  test("a poll for due timers that fails is logged, and made again", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: "10m" });
    const first = bench.andante(workflow);
    const { executionId } = await first.start(workflow.id, {});
    await first.settled();
    await first.close();
    let polls = 0;
    const store = wrapStore(bench.store, {
      due: async (query) => {
        if (++polls === 1) throw new Error("not a list");
        return bench.store.due(query);
      },
    });
    const clock = new TestClock({ start: Date.now() + aDay, skipSleeps: false });
    const logger = new RecordingLogger();
    const next = bench.andanteWith({ store, clock, logger }, workflow);
    await next.settled();
    clock.advance("1s");
    await next.settled();
    expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
    expect(logger.of("warn")).toMatchObject([
      { msg: "failed to poll for due timers; trying again", err: { message: "not a list" } },
    ]);
  });

  test("a due execution that cannot be processed is tried less and less often, and does not keep out the others", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: "10m" });
    const first = bench.andante(workflow);
    const bad = await first.start(workflow.id, {});
    await first.settled();
    const good = await first.start(workflow.id, {});
    await first.settled();
    await first.close();

    const tries: number[] = [];
    const clock = new TestClock({ start: Date.now() + aDay, skipSleeps: false });
    const start = clock.now();
    const store = wrapStore(bench.store, {
      wake: async (argument) => {
        if (argument.executionId !== bad.executionId) return bench.store.wake(argument);
        tries.push(Math.round((clock.now() - start) / 1000));
        throw new Error("not an execution");
      },
    });
    const next = bench.andanteWith({ store, clock }, workflow);
    await next.settled();
    for (let second = 0; second < 70; second++) {
      clock.advance("1s");
      await next.settled();
    }
    expect(await next.state(workflow.id, good.executionId)).toMatchObject({ status: "completed" });
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63]);
  });
});
