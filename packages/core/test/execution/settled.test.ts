// settled: a test moves the clock and waits until everything that fell due is done.
import { expect, test } from "vitest";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });

onMemory((bench) => {
  test("resolves at once when nothing has ever run", async () => {
    await bench.andante(flow()).settled();
  });

  test("an execution that sleeps is settled, and after advance its end is too", async () => {
    const clock = still();
    const workflow = flow()
      .andSleep({ id: "nap", duration: "1h" })
      .andThen({ id: "work", execute: async () => "done" });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("running");

    clock.advance("59m");
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("running");

    clock.advance("1m");
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("completed");
  });

  test("a sleep so short that the execution stays loaded is settled too", async () => {
    const clock = still();
    const workflow = flow().andSleep({ id: "nap", duration: 500 });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("running");
    clock.advance(500);
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("completed");
  });

  test("timers that fall due at once are processed also where few executions have room", async () => {
    const clock = still();
    const workflow = flow()
      .andSleep({ id: "nap", duration: "1h" })
      .andThen({ id: "work", execute: async () => "done" });
    const andante = bench.andanteWith({ clock, limits: { running: 2 } }, workflow);
    for (let n = 0; n < 5; n++) {
      await andante.start(workflow.id, n);
      await andante.settled();
    }
    clock.advance("1h");
    await andante.settled();
    const { executions } = await andante.list({ workflowId: workflow.id });
    expect(executions.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "completed"));
  });

  test("many executions with retries and deadlines, each at its own time", async () => {
    const clock = still();
    const attempts = new Map<string, number>();
    const workflow = flow()
      .andThen({
        id: "flaky",
        retry: { attempts: 3, delay: "10m", backoff: "fixed", jitter: false },
        execute: async ({ executionId }) => {
          const attempt = (attempts.get(executionId) ?? 0) + 1;
          attempts.set(executionId, attempt);
          if (attempt < 3) throw new Error("not yet");
          return attempt;
        },
      })
      .andThen({
        id: "gate",
        execute: ({ data, resumeData, suspend }) =>
          resumeData === undefined
            ? suspend("", null, { deadline: "1h", onDeadline: { resume: "late" } })
            : [data, resumeData],
      });
    const andante = bench.andanteWith({ clock }, workflow);
    const handles = await Promise.all(Array.from({ length: 20 }, (_, n) => andante.start(workflow.id, n)));
    const statuses = async () => {
      await andante.settled();
      const states = handles.map(({ executionId }) => andante.state(workflow.id, executionId));
      return [...new Set((await Promise.all(states)).map(({ status }) => status))];
    };
    expect(await statuses()).toEqual(["running"]);
    clock.advance("10m");
    expect(await statuses()).toEqual(["running"]);
    expect(new Set(attempts.values())).toEqual(new Set([2]));
    clock.advance("10m");
    expect(await statuses()).toEqual(["suspended"]);
    clock.advance("1h");
    expect(await statuses()).toEqual(["completed"]);
    expect(new Set(attempts.values())).toEqual(new Set([3]));
  });

  test("with a clock that skips, sleeps are over before it resolves", async () => {
    const workflow = flow()
      .andSleep({ id: "day", duration: "1d" })
      .andSleep({ id: "moment", duration: 5 })
      .andSleep({ id: "week", duration: "7d" });
    const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("completed");
  });

  test("a body that runs keeps it waiting", async () => {
    const body = heldBody("done");
    const workflow = flow().andThen({ id: "work", execute: body.execute });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await body.started;
    let settled = false;
    const waiting = andante.settled().then(() => (settled = true));
    await andante.state(workflow.id, executionId);
    expect(settled).toBe(false);
    body.finish();
    await waiting;
    expect((await andante.state(workflow.id, executionId)).status).toBe("completed");
  });

  test("a resume that is under way belongs to it", async () => {
    const workflow = flow()
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
      .andThen({ id: "work", execute: async ({ data }) => data });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("suspended");
    await andante.startResume(workflow.id, executionId, "go");
    await andante.settled();
    expect((await andante.state(workflow.id, executionId)).status).toBe("completed");
  });
});
