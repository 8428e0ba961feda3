// Pauses: at once, with a body in flight, and the effect of a resume then.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { AndanteService } from "../../src/andante/andante-service.ts";
import type { Store } from "../../src/store/store.ts";
import { pauseOf } from "../../src/store-cases/pause-of.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Duration } from "../../src/values/duration.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { inTime } from "../support/in-time.ts";
import {
  attach,
  collect,
  flow,
  heldBody,
  onMemory,
  onMemoryAndFile,
  until,
} from "../support/test-andante.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";

/** A body that is held, and one after it that counts. */
const chain = () => {
  const held = heldBody("held");
  let after = 0;
  const workflow = flow()
    .andThen({ id: "before", execute: () => 1 })
    .andThen({ id: "held", execute: held.execute })
    .andThen({ id: "after", execute: ({ data }) => `${data} ${++after}` });
  return { held, workflow, afterRuns: () => after };
};

onMemory((bench) => {
  test("is answered at once, also to the caller who waits for execute", async () => {
    const { held, workflow } = chain();
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.start(workflow.id, {});
    await held.started;
    const paused = await andante.suspend(workflow.id, executionId, { reason: "lunch", userId: "ada" });
    expect(paused).toMatchObject({
      executionId,
      status: "suspended",
      suspension: { reason: "lunch", stepIndex: 1, suspendedStepIndex: 1, stepId: "held" },
    });
    expect(await result()).toMatchObject({ status: "suspended", endAt: null, suspension: paused.suspension });
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
    const last = (await andante.events(workflow.id, executionId)).at(-1);
    expect(last).toMatchObject({
      type: "workflow-suspended",
      userId: "ada",
      suspension: { reason: "lunch" },
    });
  });

  test("lets the body in flight finish, keeps its outcome, starts nothing, repeats nothing", async () => {
    const { held, workflow, afterRuns } = chain();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    const signal = await held.started;
    const events = await attach(andante, workflow.id, executionId);
    await andante.suspend(workflow.id, executionId);
    await until(events, "workflow-suspended");
    held.finish();
    expect(await until(events, "step-complete")).toMatchObject({ from: "held", output: "held" });
    expect(signal.aborted).toBe(false);
    expect(afterRuns()).toBe(0);
    const resumed = await andante.resume(workflow.id, executionId);
    expect(resumed).toMatchObject({ status: "completed", result: "held 1" });
    expect(held.runs).toBe(1);
    await events.return?.();
  });

  test("that is lifted before the body has finished lets the run go on", async () => {
    const { held, workflow } = chain();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await andante.suspend(workflow.id, executionId);
    const resumed = await andante.startResume(workflow.id, executionId);
    expect((await andante.state(workflow.id, executionId)).status).toBe("running");
    held.finish();
    expect(await resumed.result()).toMatchObject({ status: "completed", result: "held 1" });
    expect(held.runs).toBe(1);
  });

  test("of the last step keeps its outcome and ends after the resume", async () => {
    const held = heldBody("end");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    const events = await attach(andante, workflow.id, executionId);
    await andante.suspend(workflow.id, executionId);
    held.finish();
    await until(events, "step-complete");
    expect((await andante.state(workflow.id, executionId)).status).toBe("suspended");
    expect((await andante.resume(workflow.id, executionId)).result).toBe("end");
    expect(held.runs).toBe(1);
    await events.return?.();
  });

  test("of a body that fails meanwhile leaves the time of its next attempt", async () => {
    const clock = new TestClock({ skipSleeps: false });
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let tries = 0;
    const workflow = flow().andThen({
      id: "flaky",
      retry: { attempts: 2, delay: "1h" },
      execute: async () => {
        if (++tries > 1) return tries;
        begun.resolve();
        await gate.promise;
        throw new Error("not yet");
      },
    });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await begun.promise;
    await andante.suspend(workflow.id, executionId);
    gate.resolve();
    await andante.settled();
    await andante.startResume(workflow.id, executionId);
    await andante.settled();
    expect((await bench.store.state(executionId))?.timers).toMatchObject([{ path: "flaky" }]);
    expect(tries).toBe(1);
    clock.advance("1h");
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed", result: 2 });
  });

  test("twice, or after the end, is refused", async () => {
    const { held, workflow } = chain();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await andante.suspend(workflow.id, executionId);
    const message = `Execution ${executionId} cannot be suspended: it is already suspended`;
    await expect(andante.suspend(workflow.id, executionId)).rejects.toMatchObject({ status: 400, message });
    held.finish();
    await andante.resume(workflow.id, executionId);
    await expect(andante.suspend(workflow.id, executionId)).rejects.toMatchObject({
      status: 400,
      code: "not-suspendable",
    });
    await expect(andante.suspend(workflow.id, "nobody")).rejects.toMatchObject({ status: 404 });
    const wrong = andante.suspend(workflow.id, executionId, { reason: Object(5) });
    await expect(wrong).rejects.toMatchObject({ status: 400, code: "invalid-option" });
    await expect(wrong).rejects.toThrow("reason: expected a string");
  });

  test("ends the stream of a start while the body in flight continues", async () => {
    const { held, workflow } = chain();
    const andante = bench.andante(workflow);
    const { executionId, events } = await andante.stream(workflow.id, {});
    await held.started;
    const follower = await attach(andante, workflow.id, executionId);
    await andante.suspend(workflow.id, executionId);
    await until(follower, "workflow-suspended");
    held.finish();
    await until(follower, "step-complete");
    // Read only now, when the journal holds more than the pause.
    const types = (await collect(events)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(["workflow-suspended", "workflow-result"]);
    await follower.return?.();
  });

  describe("with a gate that opens meanwhile", () => {
    const gated = async () => {
      const held = heldBody("x");
      const workflow = flow()
        .andThen({ id: "work", execute: () => 1 })
        .andThen({
          id: "gate",
          execute: async (context) => {
            if (context.resumeData !== undefined) return context.resumeData;
            await held.execute(context);
            return context.suspend("gate");
          },
        });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      const events = await attach(andante, workflow.id, executionId);
      await andante.suspend(workflow.id, executionId);
      held.finish();
      await until(events, "step-suspended");
      await events.return?.();
      const { suspensions } = await andante.state(workflow.id, executionId);
      expect(suspensions?.map(({ stepPath }) => stepPath)).toEqual([undefined, "gate"]);
      return { andante, workflow, workflowId: workflow.id, executionId };
    };

    test("a resume without a name lifts the pause and does not answer the gate", async () => {
      const { andante, workflowId, executionId } = await gated();
      const lifted = await andante.resume(workflowId, executionId, "meant for nobody");
      expect(lifted).toMatchObject({ status: "suspended", suspension: { stepPath: "gate", reason: "gate" } });
      expect((await andante.resume(workflowId, executionId, "yes")).result).toBe("yes");
    });

    test("a resume that names the gate lifts the pause too", async () => {
      const { andante, workflowId, executionId } = await gated();
      const resumed = await andante.resume(workflowId, executionId, "yes", { stepId: "gate" });
      expect(resumed).toMatchObject({ status: "completed", result: "yes" });
    });

    test("answered and lifted while the journal is being read is not forgotten", async () => {
      const { andante, workflowId, workflow, executionId } = await gated();
      await andante.close();
      const reading = heldOperation(bench.store.events);
      const both = Promise.withResolvers<void>();
      let resumes = 0;
      const resume: Store["resume"] = async (argument) => {
        const answer = await bench.store.resume(argument);
        if (++resumes === 2) both.resolve();
        return answer;
      };
      const store = wrapStore(bench.store, { events: reading.run, resume });
      // The node is full and holds nothing in memory: the execution is read once there is a slot.
      const other = heldBody("other");
      const full = flow().andThen({ id: "full", execute: other.execute });
      const limits = { running: 1 };
      const options = { store, logger: bench.logger, workflows: { workflow, full }, limits };
      const next = new AndanteService(options, { memory: 0 });
      await next.start(full.id, {});
      await other.started;
      const { suspensions } = await next.state(workflowId, executionId);
      const { suspensionId } = suspensions?.[1] ?? {};
      const { result } = await next.startResume(workflowId, executionId, "yes", { suspensionId });
      const answered = result();
      reading.hold();
      other.finish();
      await reading.asked;
      // The pause is lifted after the row was read and before the journal is.
      const lifted = next.resume(workflowId, executionId);
      await both.promise;
      reading.release();
      const results = await inTime(Promise.all([answered, lifted]), "the results");
      expect(results.map(({ result }) => result)).toContain("yes");
      expect((await next.state(workflowId, executionId)).result).toBe("yes");
      await next.close();
    });

    test("that comes right after a resume is seen, also when its notification arrives first", async () => {
      let runs = 0;
      const workflow = flow().andThen({
        id: "gate",
        execute: ({ suspend, resumeData }) => {
          runs++;
          return resumeData ?? suspend("why");
        },
      });
      const resume: Store["resume"] = async (argument) => {
        const result = await bench.store.resume(argument);
        await andante.suspend(workflow.id, argument.executionId);
        return result;
      };
      const store = wrapStore(bench.store, { resume });
      const andante = bench.andanteWith({ store }, workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      await andante.startResume(workflow.id, executionId, "yes");
      await andante.settled();
      expect(runs).toBe(1);
      const next = bench.andante(workflow);
      expect((await next.resume(workflow.id, executionId)).result).toBe("yes");
    });

    test("a resume pinned to the pause may name the gate as well", async () => {
      const { andante, workflowId, executionId } = await gated();
      const { suspensions } = await andante.state(workflowId, executionId);
      const options = { suspensionId: suspensions?.[0]?.suspensionId, stepId: "gate" };
      expect((await andante.resume(workflowId, executionId, "yes", options)).result).toBe("yes");
      const types = (await andante.events(workflowId, executionId)).map(({ type }) => type);
      expect(types).not.toContain("execution-rewound");
    });

    test("a resume pinned to the gate leaves the pause, and the answer is not lost", async () => {
      const { andante, workflowId, executionId } = await gated();
      const { suspensions } = await andante.state(workflowId, executionId);
      const suspensionId = suspensions?.[1]?.suspensionId;
      const answered = await andante.resume(workflowId, executionId, "yes", { suspensionId });
      expect(answered.status).toBe("suspended");
      expect(answered.suspension).not.toHaveProperty("stepPath");
      expect((await andante.resume(workflowId, executionId)).result).toBe("yes");
    });
  });

  test("a resume that names the step in flight takes it back: its body is aborted and runs again", async () => {
    const started: AbortSignal[] = [];
    const first = Promise.withResolvers<void>();
    const workflow = flow().andThen({
      id: "work",
      execute: ({ signal, resumeData }) => {
        started.push(signal);
        first.resolve();
        if (resumeData !== undefined) return resumeData;
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await first.promise;
    await andante.suspend(workflow.id, executionId);
    const resumed = await andante.resume(workflow.id, executionId, "again", { stepId: "work" });
    expect(resumed).toMatchObject({ status: "completed", result: "again" });
    expect(started.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test("a resume that arrives while the owner goes idle gets its own result, not the previous one", async () => {
    const held = heldBody("held");
    const workflow = flow().andAll({
      id: "all",
      steps: [
        andThen({ id: "held", execute: held.execute }),
        andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() }),
      ],
    });
    const resuming = heldOperation(bench.store.resume);
    resuming.hold();
    const store = wrapStore(bench.store, { resume: resuming.run });
    const andante = bench.andanteWith({ store }, workflow);
    const { executionId, result } = await andante.start(workflow.id, {});
    await held.started;
    await until(await attach(andante, workflow.id, executionId), "step-suspended");
    const resumed = andante.resume(workflow.id, executionId, "yes");
    await resuming.asked;
    held.finish();
    expect((await result()).status).toBe("suspended");
    resuming.release();
    expect(await resumed).toMatchObject({ status: "completed", result: ["held", "yes"] });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  test("stops the clock of the workflow's timeout, also over a restart", async () => {
    const id = randomUUID();
    const workflow = createWorkflow({ id, input: z.unknown(), timeout: "10m" }).andSleep({
      id: "nap",
      duration: "5h",
    });
    const clock = new TestClock({ skipSleeps: false });
    const first = bench.andanteWith({ clock }, workflow);
    const { executionId } = await first.start(id, 1);
    const statusAfter = async (andante: Andante, time: Duration) => {
      clock.advance(time);
      await andante.settled();
      return (await andante.state(id, executionId)).status;
    };
    await first.settled();
    expect(await statusAfter(first, "4m")).toBe("running");
    await first.suspend(id, executionId);
    expect(await statusAfter(first, "1h")).toBe("suspended");
    await first.close();
    const second = bench.andanteWith({ clock }, workflow);
    await second.ready();
    expect(await statusAfter(second, "1h")).toBe("suspended");
    const lifted = second.resume(id, executionId);
    lifted.then(undefined, () => undefined);
    await expect.poll(async () => (await second.state(id, executionId)).status).toBe("running");
    expect(await statusAfter(second, "5m")).toBe("running");
    expect(await statusAfter(second, "2m")).toBe("error");
    expect((await bench.store.state(executionId))?.execution.error).toContain("took longer");
  });

  test("stops it for a body in flight, too: a sleep beside it ends in its time", async () => {
    const id = randomUUID();
    const held = heldBody("held");
    const workflow = createWorkflow({ id, input: z.unknown(), timeout: "120m" }).andAll({
      id: "all",
      steps: [andThen({ id: "held", execute: held.execute }), andSleep({ id: "nap", duration: "150m" })],
    });
    const clock = new TestClock({ skipSleeps: false });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId, result } = await andante.start(id, 1);
    await held.started;
    await andante.suspend(id, executionId);
    expect((await result()).status).toBe("suspended");
    clock.advance("60m");
    const ended = andante.resume(id, executionId);
    await expect.poll(async () => (await andante.state(id, executionId)).status).toBe("running");
    clock.advance("95m");
    await expect
      .poll(async () => (await andante.events(id, executionId)).map(({ stepPath }) => stepPath))
      .toContain("all/nap");
    held.finish();
    expect(await ended).toMatchObject({ status: "completed" });
  });

  test("by another process is noticed at the next commit: the run suspends and its caller gets the suspension", async () => {
    const { held, workflow, afterRuns } = chain();
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.start(workflow.id, {});
    await held.started;
    const suspensionId = randomUUID();
    await bench.store.pause(pauseOf(executionId, { suspensionId, reason: "from afar", at: Date.now() }));
    held.finish();
    expect(await result()).toMatchObject({ status: "suspended", suspension: { reason: "from afar" } });
    expect(afterRuns()).toBe(0);
    expect((await andante.resume(workflow.id, executionId)).result).toBe("held 1");
    expect(held.runs).toBe(1);
  });
});
