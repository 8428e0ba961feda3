// Retries: how often, after which delay, and which failures are never retried. Timeouts of one attempt.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { PermanentError } from "../../src/errors/index.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Clock } from "../../src/values/clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });

/** A body that fails this many times, then returns its attempt. */
function flaky(failures: number) {
  const body = {
    keys: new Set<string>(),
    attempts: [] as number[],
    execute: ({ attempt, idempotencyKey }: { attempt: number; idempotencyKey: string }) => {
      body.attempts.push(attempt);
      body.keys.add(idempotencyKey);
      if (attempt <= failures) throw new Error(`broken ${attempt}`);
      return attempt;
    },
  };
  return body;
}

onMemory((bench) => {
  describe("retry", () => {
    test("runs a failed body again until it succeeds, each failure an event", async () => {
      const body = flaky(2);
      const workflow = flow().andThen({ id: "flaky", retry: { attempts: 3 }, execute: body.execute });
      const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
      const { events, executionId } = await andante.stream(workflow.id, 1);
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ status: "completed", result: 3 });
      expect(body.attempts).toEqual([1, 2, 3]);
      expect(body.keys.size).toBe(1);
      expect(all.map(({ type }) => type)).toEqual([
        "workflow-start",
        "step-start",
        "step-retry",
        "step-retry",
        "step-complete",
        "workflow-complete",
        "workflow-result",
      ]);
      const journal = await andante.events(workflow.id, executionId);
      expect(journal.find(({ type }) => type === "step-retry")).toMatchObject({
        attempt: 1,
        from: "flaky",
        error: { message: "broken 1" },
      });
    });

    test("a clock learns which times are sleeps and which are limits", async () => {
      const inner = still();
      const times: [number, string][] = [];
      const clock: Clock = {
        now: () => inner.now(),
        at: (time, kind, callback) => {
          times.push([time - inner.now(), kind]);
          return inner.at(time, kind, callback);
        },
      };
      const failed = Promise.withResolvers<void>();
      let tries = 0;
      const workflow = flow().andThen({
        id: "pay",
        timeout: "10m",
        execute: ({ checkpoint }) =>
          checkpoint(
            "card",
            () => {
              if (++tries > 1) return tries;
              failed.resolve();
              throw new Error("not yet");
            },
            { retry: { attempts: 2, delay: 500 } },
          ),
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.start(workflow.id, 1);
      await failed.promise;
      const short = () => times.filter(([delay]) => delay < 10_000);
      await expect.poll(short).toEqual([[expect.any(Number), "sleep"]]);
      expect(times).toContainEqual([600_000, "limit"]);
      inner.advance("10s");
      await andante.settled();
      expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed", result: 2 });
    });

    test("fails with the last failure when the attempts are used up", async () => {
      const body = flaky(9);
      const workflow = flow().andThen({ id: "flaky", retry: { attempts: 2 }, execute: body.execute });
      const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
      const { status, executionId } = await andante.execute(workflow.id, 1);
      expect(status).toBe("error");
      expect(body.attempts).toEqual([1, 2]);
      expect((await bench.store.state(executionId))?.execution.error).toContain("broken 2");
    });

    test("waits as long as its backoff requires, in a row of the store", async () => {
      const clock = still();
      const body = flaky(3);
      const retry = { attempts: 4, delay: "10s", maxDelay: "30s", jitter: false } as const;
      const workflow = flow().andThen({ id: "flaky", retry, execute: body.execute });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      const timers = async () => (await bench.store.state(executionId))?.timers.map(({ dueAt }) => dueAt);
      for (const seconds of [10, 20, 30]) {
        await expect.poll(timers).toEqual([clock.now() + seconds * 1000]);
        clock.advance(`${seconds}s`);
      }
      expect(await result()).toMatchObject({ result: 4 });
      expect(await timers()).toEqual([]);
    });

    test("covers a body after its suspension: the answer stays", async () => {
      const answers: unknown[] = [];
      const workflow = flow().andThen({
        id: "gate",
        retry: { attempts: 2, delay: 1 },
        execute: ({ suspend, resumeData, attempt }) => {
          if (resumeData === undefined) suspend("please");
          answers.push(resumeData);
          if (attempt === 1) throw new Error("once");
          return resumeData;
        },
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      expect(await andante.resume(workflow.id, executionId, "yes")).toMatchObject({ result: "yes" });
      expect(answers).toEqual(["yes", "yes"]);
    });

    test("covers the functions of containers", async () => {
      let asked = 0;
      const workflow = flow(z.number()).andWhen({
        id: "when",
        retry: { attempts: 2, delay: 1 },
        condition: () => {
          if (++asked === 1) throw new Error("once");
          return true;
        },
        step: andThen({ id: "inner", execute: () => "inner" }),
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "inner" });
    });

    test.each([
      { name: "a PermanentError", execute: () => Promise.reject(new PermanentError("for good")) },
      { name: "an output that does not fit", execute: () => "text" },
      { name: "an output that is no JSON", execute: () => 1n },
    ])("is not made after $name", async ({ execute }) => {
      let runs = 0;
      const workflow = flow().andThen({
        id: "once",
        retry: { attempts: 5, delay: 1 },
        outputSchema: z.unknown().refine((value) => value !== "text"),
        execute: () => {
          runs++;
          return execute();
        },
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "error" });
      expect(runs).toBe(1);
    });

    test("is called off by a cancellation", async () => {
      const clock = still();
      const body = flaky(9);
      const workflow = flow().andThen({
        id: "flaky",
        retry: { attempts: 5, delay: "1h" },
        execute: body.execute,
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      await expect.poll(async () => (await bench.store.state(executionId))?.timers).toHaveLength(1);
      await andante.cancel(workflow.id, executionId);
      expect(await result()).toMatchObject({ status: "cancelled" });
      clock.advance("2h");
      expect(body.attempts).toEqual([1]);
    });
  });

  describe("timeout", () => {
    test("aborts the signal and fails the attempt, saying so", async () => {
      const clock = still();
      const held = heldBody("late");
      const workflow = flow().andThen({ id: "slow", timeout: "5s", execute: held.execute });
      const { executionId, result } = await bench.andanteWith({ clock }, workflow).start(workflow.id, 1);
      const signal = await held.started;
      clock.advance("5s");
      expect(signal.aborted).toBe(true);
      held.finish();
      expect(await result()).toMatchObject({ status: "error" });
      expect((await bench.store.state(executionId))?.execution.error).toContain("timeout of 5000 ms");
    });

    test("is followed by the next attempt when the body has settled", async () => {
      const clock = still();
      const held = heldBody("late");
      const attempts: number[] = [];
      const workflow = flow().andThen({
        id: "slow",
        timeout: "5s",
        retry: { attempts: 2, delay: 0 },
        execute: ({ attempt, signal }) => {
          attempts.push(attempt);
          return attempt === 1 ? held.execute({ signal }) : "second";
        },
      });
      const { result } = await bench.andanteWith({ clock }, workflow).start(workflow.id, 1);
      await held.started;
      clock.advance("5s");
      expect(attempts).toEqual([1]);
      held.finish();
      expect(await result()).toMatchObject({ result: "second" });
    });

    test("does not wait for ever for a body that ignores its signal", async () => {
      const clock = still();
      const held = heldBody("never");
      const workflow = flow().andThen({
        id: "deaf",
        timeout: "5s",
        retry: { attempts: 2, delay: 0 },
        execute: ({ attempt, signal }) => (attempt === 1 ? held.execute({ signal }) : "second"),
      });
      const { result } = await bench.andanteWith({ clock }, workflow).start(workflow.id, 1);
      await held.started;
      clock.advance("5s");
      clock.advance("5s");
      expect(await result()).toMatchObject({ result: "second" });
      held.finish();
    });

    test("leaves a body alone that is quick enough", async () => {
      const workflow = flow().andThen({ id: "quick", timeout: "1h", execute: async () => "done" });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "done" });
    });
  });

  describe("the timeout of a workflow", () => {
    const slow = ({ execute }: { execute: (context: StepContext) => unknown }) =>
      createWorkflow({ id: flow().id, input: z.unknown(), timeout: "1m" }).andThen({ id: "slow", execute });

    test("ends a running execution with an error and aborts its bodies", async () => {
      const clock = still();
      const held = heldBody("late");
      const workflow = slow(held);
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      const signal = await held.started;
      clock.advance("1m");
      expect(await result()).toMatchObject({ status: "error" });
      expect(signal.aborted).toBe(true);
      held.finish();
      const all = await andante.events(workflow.id, executionId);
      expect(all.at(-1)).toMatchObject({ type: "workflow-error", error: { name: "ExecutionTimeoutError" } });
    });

    test("counts the time of waiting, and closes open suspensions", async () => {
      const clock = still();
      const workflow = slow({ execute: ({ suspend }) => suspend("please") });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const events = await attach(andante, workflow.id, executionId);
      clock.advance("1m");
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ type: "workflow-result", status: "error" });
      expect((await bench.store.state(executionId))?.suspensions).toEqual([]);
    });

    test("does not touch one that has ended", async () => {
      const clock = still();
      const workflow = slow({ execute: () => "done" });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      clock.advance("2m");
      expect(await bench.store.due({ workflowIds: [workflow.id], limit: 1 })).toEqual([]);
      expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
    });

    test("waits while the execution is paused", async () => {
      const clock = still();
      const held = heldBody("done");
      const workflow = slow(held);
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.start(workflow.id, 1);
      await held.started;
      await andante.suspend(workflow.id, executionId);
      clock.advance("2m");
      expect(await bench.store.due({ workflowIds: [workflow.id], limit: 1 })).toEqual([]);
      held.finish();
      await expect
        .poll(async () => (await andante.events(workflow.id, executionId)).map(({ type }) => type))
        .toContain("step-complete");
      expect((await andante.resume(workflow.id, executionId)).status).toMatch(/completed|error/);
    });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("retry", () => {
    test("the number of attempts survives the process", async () => {
      const clock = still();
      const body = flaky(2);
      const retry = { attempts: 3, delay: "1h", backoff: "fixed", jitter: false } as const;
      const workflow = flow().andThen({ id: "flaky", retry, execute: body.execute });
      const first = bench.andanteWith({ clock }, workflow);
      const { executionId } = await first.start(workflow.id, 1);
      await expect.poll(async () => (await bench.store.state(executionId))?.timers).toHaveLength(1);
      await first.close({ grace: 0 });
      clock.advance("1h");
      const second = bench.andanteWith({ clock }, workflow);
      await expect.poll(() => body.attempts).toEqual([1, 2]);
      clock.advance("1h");
      await expect.poll(() => body.attempts).toEqual([1, 2, 3]);
      const all = await collect(await attach(second, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ status: "completed", result: 3 });
    });

    test("a crash while an attempt runs is no new attempt", async () => {
      const held = heldBody("never");
      const attempts: number[] = [];
      const workflow = flow().andThen({
        id: "held",
        retry: { attempts: 2 },
        execute: ({ attempt, signal }) => {
          attempts.push(attempt);
          return attempts.length === 1 ? held.execute({ signal }) : "done";
        },
      });
      const first = bench.andante(workflow);
      const { executionId } = await first.start(workflow.id, 1);
      await held.started;
      await first.close({ grace: 0 });
      const all = await collect(await attach(bench.andante(workflow), workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ result: "done" });
      expect(attempts).toEqual([1, 1]);
    });
  });
});
