// A full node: starts are refused; accepted executions wait for their turn and are never lost.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { type HeldBodies, heldBodies } from "../support/held-bodies.ts";
import { flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";
import { mortalStore } from "../support/wrapped-store.ts";

const still = () => new TestClock({ skipSleeps: false });

/** Waits at a gate, then runs a held body. */
function gated(bodies: HeldBodies) {
  return flow()
    .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
    .andThen({
      id: "work",
      execute: async ({ data }) => {
        await bodies.run(data);
        return data;
      },
    });
}

/** So many executions that wait at their gates. */
async function suspended(andante: Andante, workflowId: string, count: number, userId?: string) {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await andante.execute(workflowId, n, { userId })).executionId);
  return ids;
}

onMemory((bench) => {
  describe("resumes on a full node", () => {
    test("wait for a slot and run in their order, never more at once than the limit", async () => {
      const bodies = heldBodies();
      const workflow = gated(bodies);
      const andante = bench.andanteWith({ limits: { running: 2 } }, workflow);
      const ids = await suspended(andante, workflow.id, 20);
      const handles = [];
      for (const [n, id] of ids.entries()) handles.push(await andante.startResume(workflow.id, id, n));
      await bodies.reach(2);
      await expect(andante.start(workflow.id, {})).rejects.toMatchObject({ code: "capacity" });
      for (let n = 0; n < 18; n++) {
        await bodies.reach(2);
        bodies.finishOne();
      }
      await bodies.finishAll(20);
      const results = await Promise.all(handles.map((handle) => handle.result()));
      expect(results.map(({ result }) => result)).toEqual(ids.map((_, n) => n));
      expect(bodies.most).toBe(2);
      expect(bodies.order).toEqual(ids.map((_, n) => n));
    });

    test("more than memory keeps wait in the store", { timeout: 60_000 }, async () => {
      const bodies = heldBodies();
      const workflow = gated(bodies);
      const andante = bench.andanteWith({ limits: { running: 3 } }, workflow);
      const total = 700;
      const ids = await suspended(andante, workflow.id, total);
      const handles = await Promise.all(ids.map((id, n) => andante.startResume(workflow.id, id, n)));
      await bodies.reach(3);
      const finishing = bodies.finishAll(total);
      const results = await Promise.all(handles.map((handle) => handle.result()));
      await finishing;
      expect(results.every(({ status }) => status === "completed")).toBe(true);
      expect(bodies.most).toBeLessThanOrEqual(3);
      expect(bodies.order).toHaveLength(total);
    });

    test("one that is cancelled while it waits never runs", async () => {
      const bodies = heldBodies();
      const workflow = gated(bodies);
      const andante = bench.andanteWith({ limits: { running: 1 } }, workflow);
      const [one = "", other = ""] = await suspended(andante, workflow.id, 2);
      const first = await andante.startResume(workflow.id, one, "one");
      const second = await andante.startResume(workflow.id, other, "other");
      await bodies.reach(1);
      await andante.cancel(workflow.id, other);
      expect((await second.result()).status).toBe("cancelled");
      bodies.finishOne();
      expect((await first.result()).status).toBe("completed");
      await andante.settled();
      expect(bodies.order).toEqual(["one"]);
    });

    test("one that is paused while it waits runs once the pause is lifted", async () => {
      const bodies = heldBodies();
      const workflow = gated(bodies);
      const andante = bench.andanteWith({ limits: { running: 1 } }, workflow);
      const [one = "", other = ""] = await suspended(andante, workflow.id, 2);
      await andante.startResume(workflow.id, one, "one");
      const second = await andante.startResume(workflow.id, other, "other");
      await bodies.reach(1);
      await andante.suspend(workflow.id, other);
      expect((await second.result()).status).toBe("suspended");
      bodies.finishOne();
      await andante.settled();
      expect(bodies.order).toEqual(["one"]);
      const third = await andante.startResume(workflow.id, other);
      await bodies.reach(1);
      bodies.finishOne();
      expect((await third.result()).result).toBe("other");
    });

    test("those that slept get every second slot", async () => {
      const clock = still();
      const bodies = heldBodies();
      const workflow = gated(bodies);
      const sleeper = flow()
        .andSleep({ id: "nap", duration: "1h" })
        .andThen({ id: "work", execute: () => bodies.run("slept") });
      const andante = bench.andanteWith({ clock, limits: { running: 1 } }, workflow, sleeper);
      const ids = await suspended(andante, workflow.id, 20);
      for (let n = 0; n < 5; n++) {
        await andante.start(sleeper.id, n);
        await andante.settled();
      }
      for (const id of ids) await andante.startResume(workflow.id, id, "resumed");
      await bodies.reach(1);
      clock.advance("1h");
      await bodies.finishAll(25);
      expect(bodies.most).toBe(1);
      expect(bodies.order.slice(0, 12)).toContain("slept");
      expect(bodies.order.lastIndexOf("slept")).toBeLessThan(24);
    });
  });

  test("a sleep that ends before the timeout of an execution that waits for a slot still comes first", async () => {
    const clock = still();
    const bodies = heldBodies();
    const holding = flow().andThen({ id: "hold", execute: () => bodies.run("held") });
    const both = createWorkflow({ id: "both-wait", input: z.unknown(), timeout: "1h" }).andAll({
      id: "all",
      steps: [
        andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() }),
        andSleep({ id: "nap", duration: "30m" }),
      ],
    });
    const andante = bench.andanteWith({ clock, limits: { running: 1 } }, holding, both);
    const { executionId } = await andante.start(both.id, null);
    await andante.settled();
    await andante.start(holding.id, null);
    await bodies.reach(1);
    const resumed = await andante.startResume(both.id, executionId, "yes");
    clock.advance("2h");
    // Both happened in time, had there been a slot: the sleep ended after half an hour, and with it the execution.
    expect((await resumed.result()).status).toBe("completed");
  });

  test("deadlines that fall due together run a few more at once than the limit, and no more", async () => {
    const clock = still();
    const bodies = heldBodies();
    const workflow = flow()
      .andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) =>
          resumeData ?? suspend("", null, { deadline: "1h", onDeadline: { resume: "late" } }),
      })
      .andThen({ id: "work", execute: ({ data }) => bodies.run(data) });
    const andante = bench.andanteWith({ clock, limits: { running: 10 } }, workflow);
    const ids = await suspended(andante, workflow.id, 60);
    clock.advance("2h");
    await bodies.reach(11);
    // Each deadline has happened, whether there was a slot or not.
    const statuses = async () =>
      (await andante.list({ workflowId: workflow.id, status: "suspended", limit: 500 })).executions;
    await expect.poll(statuses).toEqual([]);
    await bodies.finishAll(60);
    await andante.settled();
    for (const id of ids) expect((await andante.state(workflow.id, id)).status).toBe("completed");
    expect(bodies.most).toBe(11);
  });
});

onMemoryAndFile((bench) => {
  test("a resume that waits for a slot outlives its process", async () => {
    const bodies = heldBodies();
    const workflow = gated(bodies);
    const mortal = mortalStore(bench.store);
    const first = bench.andanteWith({ store: mortal.store, limits: { running: 1 } }, workflow);
    const ids = await suspended(first, workflow.id, 3);
    for (const [n, id] of ids.entries()) await first.startResume(workflow.id, id, n);
    await bodies.reach(1);
    await mortal.die();
    bodies.forget();
    const second = bench.andanteWith({ limits: { running: 1 } }, workflow);
    await second.ready();
    await bodies.finishAll(3);
    for (const id of ids)
      await expect.poll(async () => (await second.state(workflow.id, id)).status).toBe("completed");
  });

  test("a close puts waiting executions back, and their callers get the error shutting-down", async () => {
    const bodies = heldBodies();
    const workflow = gated(bodies);
    const first = bench.andanteWith({ limits: { running: 1 } }, workflow);
    const [one = "", other = ""] = await suspended(first, workflow.id, 2);
    await first.startResume(workflow.id, one, "one");
    const waiting = await first.startResume(workflow.id, other, "other");
    await bodies.reach(1);
    const told = expect(waiting.result()).rejects.toMatchObject({ code: "shutting-down" });
    await first.close({ grace: 0 });
    await told;
    bodies.forget();
    const second = bench.andanteWith({ limits: { running: 5 } }, workflow);
    await second.ready();
    await bodies.finishAll(2);
    await expect.poll(async () => (await second.state(workflow.id, other)).status).toBe("completed");
  });

  // Less than the period of recovery: a free slot is the sign, not the time.
  const promptly = { timeout: 8000 };
  test("recovered executions run one after the other as slots become free", promptly, async () => {
    const bodies = heldBodies();
    const workflow = gated(bodies);
    const first = bench.andanteWith({ limits: { running: 10 } }, workflow);
    const ids = await suspended(first, workflow.id, 6);
    for (const [n, id] of ids.entries()) await first.startResume(workflow.id, id, n);
    await bodies.reach(6);
    await first.close({ grace: 0 });
    bodies.forget();
    const second = bench.andanteWith({ limits: { running: 2 } }, workflow);
    await second.ready();
    await bodies.reach(2);
    await expect(second.start(workflow.id, {})).rejects.toMatchObject({ code: "capacity" });
    await bodies.finishAll(6);
    for (const id of ids)
      await expect.poll(async () => (await second.state(workflow.id, id)).status).toBe("completed");
    expect(bodies.most).toBe(2);
  });
});
