// A workflow's timeout holds wherever it runs: inside another one it fails the step that runs it.
import { expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Duration } from "../../src/values/duration.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andWorkflow } from "../../src/workflow/steps/free-steps.ts";
import { flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });
const child = () => createWorkflow({ id: "child", input: z.unknown(), timeout: "10m" });
const gate = {
  id: "gate",
  execute: ({ resumeData, suspend }: StepContext) => resumeData ?? suspend("wait"),
};
const tooLong = "Step sub took longer than its timeout of 600000 ms";

onMemoryAndFile((bench) => {
  test("a child that waits too long fails its step, also in another process", async () => {
    const clock = still();
    const workflow = flow().andWorkflow({ id: "sub", workflow: child().andThen(gate) });
    const first = bench.andanteWith({ clock }, workflow);
    const { executionId, status } = await first.execute(workflow.id, 1);
    expect(status).toBe("suspended");
    await first.close();
    clock.advance("9m");
    const next = bench.andanteWith({ clock }, workflow);
    await next.ready();
    await next.settled();
    expect((await next.state(workflow.id, executionId)).status).toBe("suspended");
    clock.advance("1m");
    await next.settled();
    const state = await bench.store.state(executionId);
    expect(state).toMatchObject({ execution: { status: "error" }, suspensions: [], timers: [] });
    expect(JSON.parse(state?.execution.error ?? "")).toMatchObject({ message: tooLong, step: "sub" });
  });

  test("a pause stops the clock, here and in another process, as often as there is one", async () => {
    const clock = still();
    const nap = { id: "nap", duration: "5h" } as const;
    const workflow = flow().andWorkflow({ id: "sub", workflow: child().andSleep(nap) });
    const first = bench.andanteWith({ clock }, workflow);
    const { executionId } = await first.start(workflow.id, 1);
    const statusAfter = async (andante: Andante, time: Duration) => {
      clock.advance(time);
      await andante.settled();
      return (await andante.state(workflow.id, executionId)).status;
    };
    await first.settled();
    expect(await statusAfter(first, "4m")).toBe("running");
    await first.suspend(workflow.id, executionId);
    expect(await statusAfter(first, "20m")).toBe("suspended");
    await lift(first, executionId);
    expect(await statusAfter(first, "5m")).toBe("running");
    await first.suspend(workflow.id, executionId);
    await first.close();
    const next = bench.andanteWith({ clock }, workflow);
    await next.ready();
    expect(await statusAfter(next, "1h")).toBe("suspended");
    await lift(next, executionId);
    expect(await statusAfter(next, 59_999)).toBe("running");
    expect(await statusAfter(next, 1)).toBe("error");
    const state = await bench.store.state(executionId);
    expect(state).toMatchObject({ suspensions: [], timers: [] });
    expect(JSON.parse(state?.execution.error ?? "")).toMatchObject({ message: tooLong, step: "sub" });

    async function lift(andante: Andante, id: string): Promise<void> {
      andante.resume(workflow.id, id).then(undefined, () => undefined);
      await expect.poll(async () => (await andante.state(workflow.id, id)).status).toBe("running");
      await andante.settled();
    }
  });
});

onMemory((bench) => {
  test("a pause beside a body that runs moves the time of the child that it belongs to", async () => {
    const clock = still();
    const held = heldBody("never");
    const workflow = flow().andWorkflow({
      id: "sub",
      workflow: child().andThen({ id: "held", execute: held.execute }),
    });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    const signal = await held.started;
    clock.advance("9m");
    await andante.suspend(workflow.id, executionId);
    clock.advance("1h");
    const ended = andante.resume(workflow.id, executionId);
    await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("running");
    clock.advance(59_999);
    await andante.state(workflow.id, executionId);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(await ended).toMatchObject({ status: "error" });
    expect(signal.reason).toMatchObject({ name: "StepTimeoutError", message: tooLong });
    held.finish();
  });

  test("a body of a child that takes too long is aborted", async () => {
    const clock = still();
    const held = heldBody("never");
    const workflow = flow().andWorkflow({
      id: "sub",
      workflow: child().andThen({ id: "held", execute: held.execute }),
    });
    const andante = bench.andanteWith({ clock }, workflow);
    const { result } = await andante.start(workflow.id, 1);
    const signal = await held.started;
    clock.advance("10m");
    expect(await result()).toMatchObject({ status: "error" });
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: "StepTimeoutError", message: tooLong });
    held.finish();
  });

  test("a child that ends in time leaves no timer", async () => {
    const clock = still();
    const workflow = flow()
      .andWorkflow({ id: "sub", workflow: child().andSleep({ id: "nap", duration: "5m" }).andThen(gate) })
      .andThen({ ...gate, id: "later" });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await andante.settled();
    clock.advance("5m");
    await andante.settled();
    await andante.resume(workflow.id, executionId, "in time");
    expect((await bench.store.state(executionId))?.timers).toEqual([]);
    clock.advance("1h");
    await andante.settled();
    expect(await andante.resume(workflow.id, executionId, "done")).toMatchObject({ result: "done" });
  });

  test("the time of a child counts for each of its runs, and another branch of a race continues", async () => {
    const clock = still();
    const slow = child().andThen(gate);
    const workflow = flow().andRace({
      id: "race",
      steps: [
        andWorkflow({ id: "sub", workflow: slow }),
        (chain) =>
          chain.andSleep({ id: "nap", duration: "20m" }).andWorkflow({ id: "sub-2", workflow: slow }),
      ],
    });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    for (const time of ["10m", "10m", "9m"] as const) {
      await andante.settled();
      clock.advance(time);
    }
    await andante.settled();
    expect(await andante.resume(workflow.id, executionId, "second")).toMatchObject({ result: "second" });
  });
});
