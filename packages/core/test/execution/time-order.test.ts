// Time in order: timers of one execution take effect in the order of their times, with and without an outage.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Duration } from "../../src/values/duration.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import type { DeadlineOptions } from "../../src/workflow/step-context.ts";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { abortOf, patience } from "../support/in-time.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";
import { mortalStore } from "../support/wrapped-store.ts";

const still = () => new TestClock({ skipSleeps: false });
/** A clock of its own, so that a process that has died does not hear of the time. */
const anHourAfter = (clock: TestClock) =>
  new TestClock({ start: clock.now() + 3_600_000, skipSleeps: false });
const gate = (options: DeadlineOptions) =>
  andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend("", null, options) });
const nap = (duration: Duration) => andSleep({ id: "nap", duration });
/** A body that takes a few turns of the event loop, as those that call a service do. */
const work = (id: string) => ({
  id,
  execute: async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    return id;
  },
});
const limited = (timeout: Duration) => createWorkflow({ id: "limited", input: z.unknown(), timeout });

const workflows: Record<string, () => WorkflowDefinition> = {
  "a sleep before a deadline that resumes": () =>
    flow().andRace({
      id: "race",
      steps: [nap("10m"), gate({ deadline: "20m", onDeadline: { resume: "late" } })],
    }),
  "a deadline that resumes before a sleep": () =>
    flow().andRace({
      id: "race",
      steps: [nap("20m"), gate({ deadline: "10m", onDeadline: { resume: "late" } })],
    }),
  "a sleep with work after it before a deadline that cancels": () =>
    flow().andAll({
      id: "all",
      steps: [
        (chain) => chain.andSleep({ id: "nap", duration: "10m" }).andThen(work("after")),
        gate({ deadline: "20m", onDeadline: "cancel" }),
      ],
    }),
  "a sleep with work after it before another sleep": () =>
    flow().andRace({
      id: "race",
      steps: [
        andSleep({ id: "long", duration: "20m" }),
        (chain) => chain.andSleep({ id: "nap", duration: "10m" }).andThen(work("after")),
      ],
    }),
  "two deadlines, the later one first in the list": () =>
    flow().andRace({
      id: "race",
      steps: [
        gate({ deadline: "20m", onDeadline: { resume: "second" } }),
        (chain) =>
          chain.andThen({
            id: "other",
            execute: async ({ resumeData, suspend }) => {
              if (resumeData !== undefined) return work("other").execute();
              return suspend("", null, { deadline: "10m", onDeadline: { resume: "first" } });
            },
          }),
      ],
    }),
  "a sleep with work after it before the execution's timeout": () =>
    limited("30m").andSleep({ id: "nap", duration: "10m" }).andThen(work("after")),
  "the execution's timeout before a sleep": () =>
    limited("30m").andSleep({ id: "nap", duration: "40m" }).andThen(work("after")),
  "a deadline that fails, inside a race with a sleep, before the timeout": () =>
    limited("30m")
      .andRace({ id: "race", steps: [gate({ deadline: "10m" }), nap("20m")] })
      .andThen(work("after")),
};

onMemory((bench) => {
  /** The journal without its times. */
  const storyOf = async (executionId: string) => {
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    return events.map(({ type, path, value }) => [type, path, value]);
  };
  /** Runs it an hour: minute by minute, or with no process that looks until the hour is over. */
  const run = async (workflow: WorkflowDefinition, end: "none" | "close" | "crash") => {
    const clock = still();
    const { store, die } = mortalStore(bench.store);
    const first = bench.andanteWith({ clock, store }, workflow);
    const { executionId } = await first.start(workflow.id, {});
    await first.settled();
    if (end === "none") {
      for (let minute = 0; minute < 60; minute++) {
        clock.advance("1m");
        await first.settled();
      }
      return storyOf(executionId);
    }
    if (end === "close") await first.close();
    else await die();
    const next = bench.andanteWith({ clock: anHourAfter(clock) }, workflow);
    await next.ready();
    await next.settled();
    return storyOf(executionId);
  };

  describe.each(Object.entries(workflows))("%s", (_, make) => {
    test.each(["close", "crash"] as const)(
      "is the same after an hour without a process (%s)",
      async (end) => {
        const expected = await run(make(), "none");
        expect(expected.at(-1)?.[0]).toMatch(/^workflow-(complete|error|cancelled)$/);
        expect(await run(make(), end)).toEqual(expected);
      },
    );
  });

  describe("on a full node, where nothing that has crashed finds a slot", () => {
    const late = { deadline: "20m", onDeadline: { resume: "late" } } as const;
    const cases = {
      "a sleep before a deadline": (body: ReturnType<typeof andThen>) =>
        flow().andAll({
          id: "all",
          steps: [body, (chain) => chain.andRace({ id: "race", steps: [nap("10m"), gate(late)] })],
        }),
      "a sleep with work after it before the timeout": (body: ReturnType<typeof andThen>) =>
        limited("30m").andAll({
          id: "all",
          steps: [body, (chain) => chain.andSleep({ id: "nap", duration: "10m" }).andThen(work("after"))],
        }),
    };
    /** It runs beside one that never ends and is older, in one slot for both. */
    test.each(Object.entries(cases))("%s is the same as without a crash", async (_, make) => {
      const story = async (lives: number) => {
        const clock = still();
        let life = 1;
        const endless = flow().andThen({ id: "endless", execute: () => new Promise<never>(() => undefined) });
        const started = Promise.withResolvers<void>();
        const workflow = make(
          andThen({
            id: "body",
            execute: () => {
              started.resolve();
              return life < lives ? new Promise<never>(() => undefined) : 1;
            },
          }),
        );
        const { store, die } = mortalStore(bench.store);
        const first = bench.andanteWith({ clock, store }, endless, workflow);
        if (lives > 1) await first.start(endless.id, {});
        clock.advance("1s");
        const { executionId } = await first.start(workflow.id, {});
        await started.promise;
        if (lives === 1) {
          for (let minute = 0; minute < 60; minute++) {
            clock.advance("1m");
            await first.settled();
          }
          return storyOf(executionId);
        }
        await die();
        life++;
        const later = anHourAfter(clock);
        bench.andanteWith({ clock: later, limits: { running: 1 } }, endless, workflow);
        const ended = async () => {
          later.advance("1s");
          expect((await bench.store.state(executionId))?.execution.endAt).not.toBeNull();
        };
        await vi.waitFor(ended, { timeout: patience, interval: 10 });
        return storyOf(executionId);
      };
      const expected = await story(1);
      expect(expected.at(-1)?.[0]).toBe("workflow-complete");
      // The body ends in its own time; timers take effect in the order of their times.
      const ofTime = (events: Awaited<ReturnType<typeof storyOf>>) =>
        events.filter(([type, path]) => path !== "all/body" && /complete|resumed|error/.test(String(type)));
      expect(ofTime(await story(2))).toEqual(ofTime(expected));
    });
  });

  test("a timeout that passed while no process ran comes before a later sleep of the recovered execution", async () => {
    const clock = still();
    let marked = 0;
    const held = [heldBody(1), heldBody(1)] as const;
    let life = 0;
    const workflow = limited("30m").andAll({
      id: "all",
      steps: [
        andThen({ id: "held", execute: (context) => (life === 0 ? held[0] : held[1]).execute(context) }),
        (chain) =>
          chain.andSleep({ id: "nap", duration: "40m" }).andThen({ id: "mark", execute: () => ++marked }),
      ],
    });
    const { store, die } = mortalStore(bench.store);
    const { executionId } = await bench.andanteWith({ clock, store }, workflow).start(workflow.id, {});
    await held[0].started;
    await die();
    life++;
    const next = bench.andanteWith({ clock: anHourAfter(clock) }, workflow);
    await next.ready();
    await next.settled();
    expect((await next.state(workflow.id, executionId)).status).toBe("error");
    expect(marked).toBe(0);
  });

  test("work that follows a late wake-up gets no more time than it would have had", async () => {
    const clock = still();
    const body = heldBody("never");
    const workflow = limited("30m")
      .andSleep({ id: "nap", duration: "10m" })
      .andThen({ id: "held", execute: body.execute });
    const first = bench.andanteWith({ clock }, workflow);
    const { executionId } = await first.start(workflow.id, {});
    await first.settled();
    await first.close();
    clock.advance("2h");
    const next = bench.andanteWith({ clock }, workflow);
    await body.started;
    clock.advance("19m");
    await new Promise((resolve) => setImmediate(resolve));
    expect((await next.state(workflow.id, executionId)).status).toBe("running");
    clock.advance("1m");
    const signal = await body.started;
    await abortOf(signal);
    expect((await next.state(workflow.id, executionId)).status).toBe("error");
  });
});
