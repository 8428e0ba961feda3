// andSleep and andSleepUntil: a sleeping execution is a row, wakes on time, and outlives its process.
import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { type Clock, sharedClock } from "../../src/values/clock.ts";
import type { Duration } from "../../src/values/duration.ts";
import { andSleep, andThen, andWorkflow } from "../../src/workflow/steps/free-steps.ts";
import {
  attach,
  type Bench,
  collect,
  flow,
  heldBody,
  onMemory,
  onMemoryAndFile,
  until,
} from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });
const after = { id: "after", execute: ({ data }: { data: unknown }) => ({ woken: data }) };

const timersIn = (bench: Bench) => async (executionId: string) =>
  (await bench.store.state(executionId))?.timers;

onMemory((bench) => {
  const timersOf = timersIn(bench);

  describe("andSleep", () => {
    test("lets the data pass unchanged once its time has come", async () => {
      const clock = new TestClock();
      const begin = clock.now();
      const workflow = flow().andSleep({ id: "nap", duration: "2h" }).andThen(after);
      const result = await bench.andanteWith({ clock }, workflow).execute(workflow.id, 7);
      expect(result).toMatchObject({ status: "completed", result: { woken: 7 } });
      expect(clock.now() - begin).toBe(7_200_000);
    });

    test("waits for real, and not much longer", async () => {
      const workflow = flow().andSleep({ id: "nap", duration: 150 }).andThen(after);
      const { startAt, endAt } = await bench.andante(workflow).execute(workflow.id, 1);
      const took = Date.parse(endAt ?? "") - Date.parse(startAt);
      expect(took).toBeGreaterThanOrEqual(150);
    });

    test("is running, without an owner and without a slot while it sleeps", async () => {
      const clock = still();
      const workflow = flow().andSleep({ id: "nap", duration: "1d" }).andThen(after);
      const andante = bench.andanteWith({ clock, limits: { running: 1 } }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      const dueAt = clock.now() + 86_400_000;
      await expect.poll(() => timersOf(executionId)).toEqual([{ path: "nap", dueAt }]);
      expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "running", endAt: null });
      // There is room for one at a time: the next may start because this one holds no place.
      const other = await andante.start(workflow.id, 2);
      await expect.poll(() => timersOf(other.executionId)).toHaveLength(1);
      const claimed = await bench.store.claimAbandoned({
        owner: "thief",
        key: randomUUID(),
        workflowIds: [workflow.id],
        suspects: false,
        suspectAfter: 2,
        limit: 10,
      });
      expect(claimed).toEqual([]);
      clock.advance("1d");
      expect(await result()).toMatchObject({ status: "completed", result: { woken: 1 } });
      expect(await timersOf(executionId)).toEqual([]);
    });

    test("takes its duration from the data, evaluated once", async () => {
      let asked = 0;
      const clock = new TestClock();
      const workflow = flow(z.object({ hours: z.number() })).andSleep({
        id: "nap",
        duration: ({ data }) => {
          asked++;
          return data.hours * 3_600_000;
        },
      });
      const begin = clock.now();
      const { events } = await bench.andanteWith({ clock }, workflow).stream(workflow.id, { hours: 3 });
      const all = await collect(events);
      expect(all.map(({ type }) => type)).toEqual([
        "workflow-start",
        "step-start",
        "step-evaluated",
        "step-complete",
        "workflow-complete",
        "workflow-result",
      ]);
      expect([asked, clock.now() - begin]).toEqual([1, 10_800_000]);
    });

    test("fails clearly when its function gives no duration", async () => {
      // @ts-expect-error a host in plain JavaScript may return anything
      const workflow = flow().andSleep({ id: "nap", duration: () => "soon" });
      const { status, executionId } = await bench.andante(workflow).execute(workflow.id, 1);
      expect(status).toBe("error");
      expect((await bench.store.state(executionId))?.execution.error).toContain(
        "Step nap: duration validation",
      );
    });

    test("counts from the start of the step, not from its second life", async () => {
      const clock = still();
      const begin = clock.now();
      const workflow = flow().andSleep({ id: "nap", duration: "1h" });
      const first = bench.andanteWith({ clock }, workflow);
      const { executionId } = await first.start(workflow.id, 1);
      await expect.poll(() => timersOf(executionId)).toHaveLength(1);
      clock.advance("30m");
      await first.suspend(workflow.id, executionId);
      clock.advance("10m");
      const resumed = await first.startResume(workflow.id, executionId);
      await expect.poll(() => timersOf(executionId)).toEqual([{ path: "nap", dueAt: begin + 3_600_000 }]);
      clock.advance("20m");
      expect(await resumed.result()).toMatchObject({ status: "completed" });
    });
  });

  describe("andSleepUntil", () => {
    test("waits for a date, given or made of the data", async () => {
      const clock = new TestClock({ start: new Date("2030-01-01T00:00:00Z") });
      const workflow = flow(z.object({ at: z.string() }))
        .andSleepUntil({ id: "fixed", date: new Date("2030-01-02T00:00:00Z") })
        .andSleepUntil({ id: "asked", date: ({ data }) => data.at });
      const result = await bench
        .andanteWith({ clock }, workflow)
        .execute(workflow.id, { at: "2030-01-03T00:00:00Z" });
      expect(result.status).toBe("completed");
      expect(new Date(clock.now()).toISOString()).toBe("2030-01-03T00:00:00.000Z");
    });

    test("does not wait for a moment that has passed", async () => {
      const workflow = flow().andSleepUntil({ id: "past", date: "2001-01-01T00:00:00Z" });
      expect(await bench.andante(workflow).execute(workflow.id, 5)).toMatchObject({ result: 5 });
    });

    test("fails clearly when its function gives no date", async () => {
      const workflow = flow().andSleepUntil({ id: "when", date: () => "not a date" });
      const { executionId } = await bench.andante(workflow).execute(workflow.id, 1);
      expect((await bench.store.state(executionId))?.execution.error).toContain("expected a date");
      const events = await bench.store.events({ executionId, after: 0, limit: 10 });
      expect(events.map(({ path }) => path)).toContain("when#date");
    });
  });

  describe("a sleep beside other branches", () => {
    test("races them: the first to be done wins, and the timer of the loser goes", async () => {
      const clock = still();
      const workflow = flow().andRace({
        id: "race",
        steps: [
          (chain) =>
            chain.andSleep({ id: "limit", duration: "1h" }).andThen({ id: "late", execute: () => "late" }),
          andThen({ id: "quick", execute: async () => "quick" }),
        ],
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, result } = await andante.execute(workflow.id, 1);
      expect(result).toBe("quick");
      expect(await timersOf(executionId)).toEqual([]);
    });

    test("wins against a body that takes longer, which is aborted", async () => {
      const slow = heldBody("slow");
      const clock = new TestClock();
      const workflow = flow().andRace({
        id: "race",
        steps: [
          (chain) =>
            chain.andSleep({ id: "limit", duration: "1h" }).andThen({ id: "late", execute: () => "late" }),
          andThen({ id: "slow", execute: slow.execute }),
        ],
      });
      const { result } = await bench.andanteWith({ clock }, workflow).execute(workflow.id, 1);
      expect(result).toBe("late");
      expect((await slow.started).aborted).toBe(true);
      slow.finish();
    });

    test("ends next to a body that runs, a minute after the clock was set ahead at the latest", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      onTestFinished(() => {
        vi.useRealTimers();
      });
      let ahead = 0;
      const held = heldBody("held");
      const workflow = flow().andAll({
        id: "all",
        steps: [andThen({ id: "held", execute: held.execute }), andSleep({ id: "nap", duration: "30m" })],
      });
      const andante = bench.andanteWith({ clock: sharedClock(() => ahead) }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      await held.started;
      await expect.poll(() => timersOf(executionId)).toHaveLength(1);
      const ended = async () => (await bench.store.state(executionId))?.timers.length === 0;
      vi.advanceTimersByTime(60_000);
      await andante.state(workflow.id, executionId);
      expect(await ended()).toBe(false);
      ahead = 3_600_000;
      vi.advanceTimersByTime(60_000);
      await expect.poll(ended).toBe(true);
      expect((await andante.state(workflow.id, executionId)).status).toBe("running");
      held.finish();
      expect(await result()).toMatchObject({ status: "completed" });
    });

    test("continues while a neighbour waits for a person, and the person is not asked twice", async () => {
      const clock = still();
      let afterSleep = 0;
      const workflow = flow().andAll({
        id: "all",
        steps: [
          (chain) =>
            chain
              .andSleep({ id: "nap", duration: "1h" })
              .andThen({ id: "count", execute: () => ++afterSleep }),
          andThen({
            id: "gate",
            execute: ({ resumeData, suspend }) => (resumeData === undefined ? suspend("please") : resumeData),
          }),
        ],
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const waiting = await andante.execute(workflow.id, 1);
      expect(waiting.suspension).toMatchObject({ stepPath: "all/gate" });
      const { executionId } = waiting;
      clock.advance("1h");
      await expect.poll(() => timersOf(executionId)).toEqual([]);
      await expect.poll(() => afterSleep).toBe(1);
      const state = await andante.state(workflow.id, executionId);
      expect(state.suspension?.suspensionId).toBe(waiting.suspension?.suspensionId);
      expect(await andante.resume(workflow.id, executionId, "yes")).toMatchObject({ result: [1, "yes"] });
    });

    test("several in parallel wake up one by one", async () => {
      const clock = still();
      const woken: number[] = [];
      const workflow = flow(z.array(z.number())).andForEach({
        id: "each",
        concurrency: 10,
        step: (chain) =>
          chain.andSleep({ id: "nap", duration: ({ data }) => data * 60_000 }).andThen({
            id: "note",
            execute: ({ data }) => {
              woken.push(data);
              return data;
            },
          }),
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, result } = await andante.start(workflow.id, [30, 10, 20]);
      await expect.poll(() => timersOf(executionId)).toHaveLength(3);
      for (const [index, minutes] of [10, 20, 30].entries()) {
        clock.advance("10m");
        await expect.poll(() => woken.at(-1)).toBe(minutes);
        if (index < 2) await expect.poll(() => timersOf(executionId)).toHaveLength(2 - index);
      }
      expect(await result()).toMatchObject({ result: [30, 10, 20] });
    });
  });

  describe("a pause", () => {
    test("lets no timer fire; after the resume overdue timers fire at once", async () => {
      const clock = still();
      const workflow = flow().andSleep({ id: "nap", duration: "1h" }).andThen(after);
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.start(workflow.id, 1);
      await expect.poll(() => timersOf(executionId)).toHaveLength(1);
      await andante.suspend(workflow.id, executionId, { reason: "hold on" });
      clock.advance("2h");
      expect(await bench.store.due({ workflowIds: [workflow.id], limit: 10 })).toEqual([]);
      expect(
        await bench.store.wake({ executionId, now: clock.now(), claim: { owner: "x", token: "x" } }),
      ).toBe(false);
      expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
      expect(await andante.resume(workflow.id, executionId)).toMatchObject({ result: { woken: 1 } });
    });
  });

  test("a cancelled sleeper does not wake up", async () => {
    const clock = still();
    const workflow = flow().andSleep({ id: "nap", duration: "1h" }).andThen(after);
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId, result } = await andante.start(workflow.id, 1);
    await expect.poll(() => timersOf(executionId)).toHaveLength(1);
    await andante.cancel(workflow.id, executionId);
    expect(await result()).toMatchObject({ status: "cancelled" });
    expect(await timersOf(executionId)).toEqual([]);
  });

  test("going back to an earlier step drops the timers after it", async () => {
    const clock = still();
    const workflow = flow()
      .andThen({ id: "first", execute: ({ resumeData }) => resumeData ?? "none" })
      .andSleep({ id: "nap", duration: "1h" })
      .andThen(after);
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await expect.poll(() => timersOf(executionId)).toHaveLength(1);
    await andante.suspend(workflow.id, executionId);
    clock.advance("30m");
    const resumed = await andante.startResume(workflow.id, executionId, "again", { stepId: "first" });
    const dueAt = clock.now() + 3_600_000;
    await expect.poll(() => timersOf(executionId)).toEqual([{ path: "nap", dueAt }]);
    clock.advance("1h");
    expect(await resumed.result()).toMatchObject({ result: { woken: "again" } });
  });

  test("a sleep that ends before it is committed leaves no timer behind", async () => {
    // A second passes between any two looks at this clock: the time comes between falling asleep and the commit.
    let time = Date.now();
    const clock: Clock = {
      now: () => (time += 1000),
      at: (_, kind, callback) => {
        const immediate = kind === "sleep" ? setImmediate(callback) : undefined;
        return () => clearImmediate(immediate);
      },
    };
    const workflow = flow()
      .andThen({ id: "first", execute: () => 1 })
      .andSleep({ id: "nap", duration: 1500 })
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend("why") });
    const { executionId } = await bench.andanteWith({ clock }, workflow).execute(workflow.id, 1);
    expect(await timersOf(executionId)).toEqual([]);
  });

  test("a stream stays open through a sleep", async () => {
    const clock = still();
    const workflow = flow().andSleep({ id: "nap", duration: "1h" }).andThen(after);
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId, events } = await andante.stream(workflow.id, 1);
    await until(events, "step-start");
    await expect.poll(() => timersOf(executionId)).toHaveLength(1);
    clock.advance("1h");
    expect(await until(events, "workflow-result")).toMatchObject({ status: "completed" });
  });

  test("a free andSleep works in a branch", async () => {
    const workflow = flow().andAll({ id: "all", steps: [andSleep({ id: "nap", duration: 5 })] });
    expect(await bench.andante(workflow).execute(workflow.id, 3)).toMatchObject({ result: [3] });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  const timersOf = timersIn(bench);

  describe("andSleep", () => {
    test("continues in another process that starts later", async () => {
      const clock = still();
      const workflow = flow().andSleep({ id: "nap", duration: "1h" }).andThen(after);
      const first = bench.andanteWith({ clock }, workflow);
      const { executionId } = await first.start(workflow.id, 1);
      await expect.poll(() => timersOf(executionId)).toHaveLength(1);
      await first.close({ grace: 0 });
      clock.advance("2h");
      const second = bench.andanteWith({ clock }, workflow);
      const all = await collect(await attach(second, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ status: "completed", result: { woken: 1 } });
      expect(all.filter(({ type }) => type === "step-start")).toHaveLength(2);
    });

    test("a hundred at once wake up, each once", { timeout: 60_000 }, async () => {
      const clock = still();
      let runs = 0;
      const workflow = flow()
        .andSleep({ id: "nap", duration: "1h" })
        .andThen({ id: "count", execute: () => ++runs });
      const andante = bench.andanteWith({ clock, limits: { running: 10 } }, workflow);
      const handles = [];
      for (let index = 0; index < 100; index++) {
        const handle = await andante.start(workflow.id, index);
        handles.push(handle);
        await expect.poll(() => timersOf(handle.executionId)).toHaveLength(1);
      }
      clock.advance("1h");
      // The limit of ten is full at first: the rest comes when the clock moves on.
      const move = setInterval(() => clock.advance(100), 5);
      const results = await Promise.all(handles.map((handle) => handle.result()));
      clearInterval(move);
      expect(results.filter(({ status }) => status === "completed")).toHaveLength(100);
      expect(runs).toBe(100);
    });
  });

  test("of two sleeps the shorter has ended first, also when no process ran meanwhile", async () => {
    const clock = still();
    const nap = (id: string, duration: Duration) =>
      andWorkflow({
        id: `${id}-branch`,
        workflow: flow()
          .andSleep({ id, duration })
          .andThen({ id: "name", execute: () => id }),
      });
    const workflow = flow().andRace({ id: "race", steps: [nap("long", "2h"), nap("short", "1h")] });
    const first = bench.andanteWith({ clock }, workflow);
    const { executionId } = await first.start(workflow.id, 1);
    await expect.poll(() => timersOf(executionId)).toHaveLength(2);
    await first.close({ grace: 0 });
    clock.advance("3h");
    const second = bench.andanteWith({ clock }, workflow);
    const all = await collect(await attach(second, workflow.id, executionId));
    expect(all.at(-1)).toMatchObject({ status: "completed", result: "short" });
  });
});
