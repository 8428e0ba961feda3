// Crashes and restarts: an execution continues where its journal ends; committed steps do not run again.
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { AndanteService } from "../../src/andante/andante-service.ts";
import type { NewStoredEvent } from "../../src/store/stored-event.ts";
import { pauseOf } from "../../src/store-cases/pause-of.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { abortOf } from "../support/in-time.ts";
import { attach, collect, flow, heldBody, onMemoryAndFile } from "../support/test-andante.ts";
import { behindUntilResume, heldOperation, mortalStore, wrapStore } from "../support/wrapped-store.ts";

// Every case ends or replaces a process, so each runs on a file, too.
onMemoryAndFile((bench) => {
  /** Starts an execution and ends its process while `held` runs. */
  const crashed = async (workflow: WorkflowDefinition, held: { started: Promise<unknown> }) => {
    const { store, die } = mortalStore(bench.store);
    const andante = bench.andanteWith({ store }, workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await die();
    return executionId;
  };
  const finished = async (andante: Andante, workflow: WorkflowDefinition, executionId: string) =>
    (await collect(await attach(andante, workflow.id, executionId))).at(-1);

  test("an execution continues where its journal ends; committed bodies do not run again", async () => {
    const runs: string[] = [];
    let held = heldBody("first life");
    const workflow = flow()
      .andThen({ id: "a", execute: () => runs.push("a") })
      .andAll({
        id: "all",
        steps: [
          andThen({ id: "b", execute: () => runs.push("b") }),
          (chain) =>
            chain
              .andThen({ id: "c", execute: () => runs.push("c") })
              .andThen({ id: "held", execute: (context) => held.execute(context) }),
        ],
      });
    const executionId = await crashed(workflow, held);
    const lost = held;
    held = heldBody("second life");
    held.finish();
    const result = await finished(bench.andante(workflow), workflow, executionId);
    expect(result).toMatchObject({ status: "completed", result: [2, "second life"] });
    expect(runs.toSorted()).toEqual(["a", "b", "c"]);
    lost.finish();
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    expect(events.filter(({ type, path }) => type === "step-complete" && path === "all/held")).toHaveLength(
      1,
    );
  });

  test("a process that was only slow is fenced: its late commits leave no trace", async () => {
    const bodies = [heldBody("late"), heldBody("in time")] as const;
    let lives = 0;
    const workflow = flow().andThen({
      id: "held",
      execute: (context) => (++lives === 1 ? bodies[0] : bodies[1]).execute(context),
    });
    const { store, expire } = mortalStore(bench.store);
    const slow = bench.andanteWith({ store }, workflow);
    const { executionId, result } = await slow.start(workflow.id, {});
    const signal = await bodies[0].started;
    await expire();
    const next = bench.andante(workflow);
    await next.ready();
    await bodies[1].started;
    bodies[0].finish();
    // The slow one learns of it at its commit; its caller waits for the one who runs it now.
    await abortOf(signal);
    bodies[1].finish();
    expect(await finished(next, workflow, executionId)).toMatchObject({ result: "in time" });
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    expect(events.map(({ type }) => type)).toEqual([
      "workflow-start",
      "step-start",
      "step-complete",
      "workflow-complete",
    ]);
    result().catch(() => undefined);
  });

  test("an answer that was committed before the crash is not asked for again", async () => {
    let held = heldBody("x");
    const answers: unknown[] = [];
    const workflow = flow().andThen({
      id: "gate",
      execute: async (context) => {
        if (context.resumeData === undefined) return context.suspend("ask", { asked: true });
        answers.push([context.resumeData, context.suspendData]);
        return held.execute(context);
      },
    });
    const { store, die } = mortalStore(bench.store);
    const first = bench.andanteWith({ store }, workflow);
    const { executionId } = await first.execute(workflow.id, {});
    await first.startResume(workflow.id, executionId, "yes");
    await held.started;
    await die();
    held = heldBody("done");
    held.finish();
    const result = await finished(bench.andante(workflow), workflow, executionId);
    expect(result).toMatchObject({ status: "completed", result: "done" });
    expect(answers).toEqual([
      ["yes", { asked: true }],
      ["yes", { asked: true }],
    ]);
  });

  test("a suspended execution waits through a crash and is resumed by the next process", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend("why"),
    });
    const { store, die } = mortalStore(bench.store);
    const { executionId } = await bench.andanteWith({ store }, workflow).execute(workflow.id, {});
    await die();
    const next = bench.andante(workflow);
    expect(await next.state(workflow.id, executionId)).toMatchObject({
      status: "suspended",
      suspension: { reason: "why" },
    });
    expect((await next.resume(workflow.id, executionId, 1)).result).toBe(1);
  });

  test("a paused execution stays paused through a crash, and its body runs after the resume", async () => {
    let held = heldBody("lost");
    const workflow = flow().andThen({ id: "held", execute: (context) => held.execute(context) });
    const { store, die } = mortalStore(bench.store);
    const first = bench.andanteWith({ store }, workflow);
    const { executionId } = await first.start(workflow.id, {});
    await held.started;
    await first.suspend(workflow.id, executionId);
    await die();
    held = heldBody("done");
    held.finish();
    const next = bench.andante(workflow);
    await next.ready();
    expect((await next.state(workflow.id, executionId)).status).toBe("suspended");
    expect(held.runs).toBe(0);
    expect((await next.resume(workflow.id, executionId)).result).toBe("done");
  });

  test("a process with a long backlog is ready and takes new work while it loads", async () => {
    let runs = 0;
    let isDying = true;
    const workflow = flow().andThen({
      id: "count",
      execute: () => (isDying ? new Promise<number>(() => undefined) : ++runs),
    });
    const backlog = 130;
    const dying = mortalStore(bench.store);
    const first = bench.andanteWith({ store: dying.store }, workflow);
    const ids = await Promise.all(
      Array.from({ length: backlog }, async () => (await first.start(workflow.id, {})).executionId),
    );
    await dying.die();
    isDying = false;
    const held = heldOperation(bench.store.claimAbandoned);
    let batches = 0;
    const store = wrapStore(bench.store, {
      claimAbandoned: (asked) => {
        if (!asked.suspects && ++batches === 2) held.hold();
        return held.run(asked);
      },
    });
    const next = bench.andanteWith({ store }, workflow);
    await next.ready();
    await held.asked;
    expect(await next.execute(workflow.id, {})).toMatchObject({ status: "completed" });
    held.release();
    await next.settled();
    for (const executionId of ids)
      expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
    expect(runs).toBe(backlog + 1);
  });

  test("a rewound execution that crashes continues from the step it was taken back to", async () => {
    const runs: string[] = [];
    let held = heldBody("x");
    const workflow = flow()
      .andThen({ id: "a", execute: () => runs.push("a") })
      .andThen({
        id: "b",
        execute: (context) => {
          runs.push(`b ${JSON.stringify(context.resumeData)}`);
          return context.resumeData === undefined ? 0 : held.execute(context);
        },
      })
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
    const { store, die } = mortalStore(bench.store);
    const first = bench.andanteWith({ store }, workflow);
    const { executionId } = await first.execute(workflow.id, {});
    await first.startResume(workflow.id, executionId, "redo", { stepId: "b" });
    await held.started;
    await die();
    held = heldBody("x");
    held.finish();
    const next = bench.andante(workflow);
    await next.ready();
    await held.started;
    expect(runs).toEqual(["a", "b undefined", 'b "redo"', 'b "redo"']);
  });

  test("of two branches that ended before a race was decided, the earlier wins in every life", async () => {
    const [slow, fast] = [heldBody("slow"), heldBody("fast")];
    const workflow = flow().andRace({
      id: "race",
      steps: [
        andThen({ id: "slow", execute: (context) => slow.execute(context) }),
        andThen({ id: "fast", execute: (context) => fast.execute(context) }),
      ],
    });
    const { store, die } = mortalStore(bench.store);
    const first = bench.andanteWith({ store }, workflow);
    const { executionId } = await first.start(workflow.id, {});
    await Promise.all([slow.started, fast.started]);
    await die();
    // The journal of a process that died between two commits: both outcomes, the second in the list first, no decision.
    const outcome = (id: string): NewStoredEvent => ({
      timestamp: Date.now(),
      type: "step-complete",
      path: `race/${id}`,
      stepIndex: 0,
      stepType: "andThen",
      value: JSON.stringify(id),
      detail: null,
    });
    const [claimed] = await bench.store.claimAbandoned({
      owner: "x",
      key: randomUUID(),
      workflowIds: [workflow.id],
      limit: 1,
      suspects: false,
      suspectAfter: 2,
    });
    await bench.store.commit({
      executionId,
      token: claimed?.token ?? "",
      number: 1,
      usage: null,
      events: [outcome("fast"), outcome("slow")],
      open: [],
      following: [],
      closeBelow: [],
      timers: [],
      clear: [],
      stepIndex: 0,
      progress: true,
      end: null,
      idle: null,
    });
    const next = bench.andante(workflow);
    expect(await finished(next, workflow, executionId)).toMatchObject({ result: "fast" });
    expect([slow.runs, fast.runs]).toEqual([1, 1]);
  });

  test("executions that cannot be loaded do not keep out newer ones, however many they are", async () => {
    let held = heldBody("first life");
    const workflow = flow().andThen({ id: "held", execute: (context) => held.execute(context) });
    const { store, die } = mortalStore(bench.store);
    const andante = bench.andanteWith({ store }, workflow);
    const claim = { owner: "gone", token: "token" };
    const event = { path: null, stepIndex: null, stepType: null, value: null, detail: null, timestamp: 1 };
    const fields = { context: "{}", userId: null, conversationId: null, startAt: 1, timeoutAt: null, claim };
    for (let n = 0; n < 100; n++) {
      const events = [{ ...event, type: "of-a-later-release" }];
      const executionId = `${workflow.id}-broken-${n}`;
      await bench.store.create({ executionId, workflowId: workflow.id, input: "{}", events, ...fields });
    }
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await die();
    held = heldBody("second life");
    held.finish();
    const next = bench.andante(workflow);
    expect(await finished(next, workflow, executionId)).toMatchObject({ result: "second life" });
    const broken = bench.logger.messages.filter(
      (text) => text === "failed to recover an abandoned execution",
    );
    expect(broken.length).toBeGreaterThanOrEqual(100);
  });

  test("five recoveries without progress end the execution with an explanation", async () => {
    let held = heldBody("never");
    const workflow = flow().andThen({ id: "deadly", execute: (context) => held.execute(context) });
    const executionId = await crashed(workflow, held);
    for (let recovery = 1; recovery <= 5; recovery++) {
      held = heldBody("never");
      const { store, die } = mortalStore(bench.store);
      await bench.andanteWith({ store }, workflow).ready();
      await held.started;
      await die();
    }
    const last = bench.andante(workflow);
    await last.ready();
    expect(held.runs).toBe(1);
    expect(await last.state(workflow.id, executionId)).toMatchObject({ status: "error" });
    const { executions } = await last.list({ idPrefix: executionId });
    expect(executions[0]?.error).toMatchObject({
      name: "CrashLoopError",
      message: expect.stringContaining("recovered 5 times without completing another step"),
    });
  });

  test("an execution that only ran beside one that ends the process is not given up with it", async () => {
    const input = z.object({});
    const deadly = createWorkflow({ id: "deadly", input });
    const healthy = createWorkflow({ id: "healthy", input });
    let bodies = { deadly: heldBody("never"), healthy: heldBody("done") };
    const workflows = [
      deadly.andThen({ id: "body", execute: (context) => bodies.deadly.execute(context) }),
      healthy.andThen({ id: "body", execute: (context) => bodies.healthy.execute(context) }),
    ] as const;
    const first = mortalStore(bench.store);
    const andante = bench.andanteWith({ store: first.store }, ...workflows);
    const ids = await Promise.all(
      workflows.map(async (each) => (await andante.start(each.id, {})).executionId),
    );
    await Promise.all([bodies.deadly.started, bodies.healthy.started]);
    await first.die();
    const statusOf = async (index: 0 | 1) => (await bench.store.state(ids[index] ?? ""))?.execution.status;
    for (let life = 1; life < 12 && (await statusOf(0)) === "running"; life++) {
      bodies = { deadly: heldBody("never"), healthy: heldBody("done") };
      const { store, die } = mortalStore(bench.store);
      const next = bench.andanteWith({ store }, ...workflows);
      await next.ready();
      // An execution that runs alone in a later life may finish; the deadly one crashes its process at once.
      if (life > 2) bodies.healthy.finish();
      if ((await statusOf(0)) === "running") await bodies.deadly.started;
      await die();
    }
    expect([await statusOf(0), await statusOf(1)]).toEqual(["error", "completed"]);
  });

  test("of several executions suspected of ending the process only one runs at a time", async () => {
    let bodies = new Map<string, ReturnType<typeof heldBody<string>>>();
    const bodyOf = (id: string) => bodies.get(id) ?? heldBody("unknown");
    const workflow = flow().andThen({
      id: "body",
      execute: (context) => bodyOf(context.executionId).execute(context),
    });
    const ids = ["one", "two"].map((name) => `${workflow.id}-${name}`);
    const renew = () => new Map(ids.map((id) => [id, heldBody("done")]));
    bodies = renew();
    const first = mortalStore(bench.store);
    const andante = bench.andanteWith({ store: first.store }, workflow);
    for (const executionId of ids) await andante.start(workflow.id, {}, { executionId });
    await Promise.all([...bodies.values()].map(({ started }) => started));
    await first.die();
    for (let crash = 1; crash <= 2; crash++) {
      const query = { owner: randomUUID(), key: randomUUID(), workflowIds: [workflow.id], limit: 10 };
      await bench.store.heartbeat({ owner: query.owner, lease: 0 });
      expect(await bench.store.claimAbandoned({ ...query, suspects: false, suspectAfter: 2 })).toHaveLength(
        2,
      );
    }
    bodies = renew();
    const next = bench.andante(workflow);
    await next.ready();
    const runs = () => ids.filter((id) => bodyOf(id).runs > 0);
    expect(runs()).toHaveLength(1);
    bodyOf(runs()[0] ?? "").finish();
    await expect.poll(() => runs().length).toBe(2);
    for (const body of bodies.values()) body.finish();
    await next.settled();
    for (const id of ids) expect((await next.state(workflow.id, id)).status).toBe("completed");
  });

  test("a paused execution is not given up: it starts nothing, stays paused and can be resumed", async () => {
    let held = heldBody("never");
    const workflow = flow().andThen({ id: "deadly", execute: (context) => held.execute(context) });
    const executionId = await crashed(workflow, held);
    for (let recovery = 1; recovery <= 5; recovery++) {
      held = heldBody("never");
      const { store, die } = mortalStore(bench.store);
      const andante = bench.andanteWith({ store }, workflow);
      await andante.ready();
      await held.started;
      const pause = pauseOf(executionId, { suspensionId: "pause", at: Date.now() });
      if (recovery === 5) await bench.store.pause(pause);
      await die();
    }
    held = heldBody("done");
    held.finish();
    const last = bench.andante(workflow);
    await last.ready();
    expect(await last.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
    expect(await last.resume(workflow.id, executionId)).toMatchObject({
      status: "completed",
      result: "done",
    });
  });

  test("one execution that cannot be taken up does not stop the others or the start", async () => {
    const held = heldBody("x");
    const workflow = flow().andThen({ id: "held", execute: (context) => held.execute(context) });
    const broken = await crashed(workflow, held);
    const whole = await crashed(workflow, held);
    held.finish();
    const store = wrapStore(bench.store, {
      events: (query) =>
        query.executionId === broken ? Promise.reject(new Error("unreadable")) : bench.store.events(query),
    });
    const andante = bench.andanteWith({ store }, workflow);
    await andante.ready();
    expect(await finished(andante, workflow, whole)).toMatchObject({ status: "completed" });
    expect(bench.logger.messages).toContain("failed to recover an abandoned execution");
    expect(bench.logger.of("info")).toContainEqual(
      expect.objectContaining({
        ...{ workflowId: workflow.id, executionId: whole, recoveries: 1 },
        msg: "recovering an abandoned execution",
      }),
    );
    const next = bench.andante(workflow);
    expect(await finished(next, workflow, broken)).toMatchObject({ status: "completed" });
  });

  test("a resume whose journal cannot be read is not lost: the next look takes it up", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
    });
    let readable = true;
    const behind = behindUntilResume(bench.store);
    const store = wrapStore(bench.store, {
      events: (query) => (readable ? bench.store.events(query) : Promise.reject(new Error("unreadable"))),
      // The journal can be read before the resume is written, and not afterwards.
      resume: (argument) => {
        readable = false;
        return behind.resume(argument);
      },
      state: behind.state,
    });
    const options = { store, logger: bench.logger, workflows: { workflow } };
    const andante = new AndanteService(options, { memory: 0 });
    const { executionId } = await andante.execute(workflow.id, {});
    await expect(andante.resume(workflow.id, executionId, "yes")).rejects.toThrow("unreadable");
    await andante.close();
    const next = bench.andante(workflow);
    expect(await finished(next, workflow, executionId)).toMatchObject({ status: "completed", result: "yes" });
  });

  describe("close", () => {
    test("waits for bodies within the grace, and the next process runs the later steps", async () => {
      const held = heldBody("kept");
      let after = 0;
      const workflow = flow()
        .andThen({ id: "held", execute: held.execute })
        .andThen({ id: "after", execute: ({ data }) => `${data} ${++after}` });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.start(workflow.id, {});
      const answer = result().catch((error: unknown) => error);
      const signal = await held.started;
      const closing = andante.close({ grace: 20_000 });
      held.finish();
      await closing;
      expect(await answer).toMatchObject({ status: 503, code: "shutting-down", executionId });
      expect([signal.aborted, after]).toEqual([false, 0]);
      const next = bench.andante(workflow);
      expect(await finished(next, workflow, executionId)).toMatchObject({ result: "kept 1" });
      expect(held.runs).toBe(1);
    });

    test("after the grace aborts bodies, records no failure, and the next process runs them again", async () => {
      let held = heldBody("never");
      const workflow = flow().andThen({ id: "held", execute: (context) => held.execute(context) });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.start(workflow.id, {});
      const answer = result().catch((error: unknown) => error);
      const signal = await held.started;
      await andante.close({ grace: 0 });
      expect(await answer).toMatchObject({ code: "shutting-down", executionId, retryAfter: 5 });
      expect(signal.aborted).toBe(true);
      expect((await bench.store.state(executionId))?.execution).toMatchObject({
        status: "running",
        sequence: 2,
      });
      held = heldBody("done");
      held.finish();
      const next = bench.andante(workflow);
      expect(await finished(next, workflow, executionId)).toMatchObject({ result: "done" });
      expect((await bench.store.state(executionId))?.execution.recoveries).toBe(0);
    });

    test("while an execution is being created keeps it for the next process and runs nothing", async () => {
      let runs = 0;
      const workflow = flow().andThen({ id: "a", execute: () => ++runs });
      const creation = heldOperation(bench.store.create);
      const store = wrapStore(bench.store, { create: creation.run });
      const andante = bench.andanteWith({ store }, workflow);
      creation.hold();
      const starting = andante.start(workflow.id, {});
      await creation.asked;
      const closing = andante.close({ grace: 0 });
      creation.release();
      const { executionId, result } = await starting;
      await expect(result()).rejects.toMatchObject({ code: "shutting-down", executionId });
      await closing;
      expect(runs).toBe(0);
      const next = bench.andante(workflow);
      expect(await finished(next, workflow, executionId)).toMatchObject({ status: "completed", result: 1 });
    });

    test("lets an execution that ends within the grace end", async () => {
      const held = heldBody("end");
      const workflow = flow().andThen({ id: "held", execute: held.execute });
      const andante = bench.andante(workflow);
      const { result } = await andante.start(workflow.id, {});
      await held.started;
      const closing = andante.close();
      held.finish();
      expect(await result()).toMatchObject({ status: "completed", result: "end" });
      await closing;
    });

    test("refuses later calls, and closing twice is closing once", async () => {
      const workflow = flow();
      const andante = bench.andante(workflow);
      await andante.ready();
      await Promise.all([andante.close(), andante.close(), andante.close()]);
      await expect(andante.execute(workflow.id, {})).rejects.toMatchObject({
        status: 503,
        code: "shutting-down",
      });
    });
  });

  test("nothing is left behind by executions that have ended: no timer, no listener", async () => {
    const signals: AbortSignal[] = [];
    const workflow = flow()
      .andAll({
        id: "all",
        steps: ["a", "b", "c"].map((id) =>
          andThen({
            id,
            execute: async ({ signal }) => {
              signals.push(signal);
              return 1;
            },
          }),
        ),
      })
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
    const andante = bench.andante(workflow);
    await andante.ready();
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    for (let n = 0; n < 20; n++) {
      const { executionId } = await andante.execute(workflow.id, {});
      await andante.resume(workflow.id, executionId, 1);
    }
    const after = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    expect(after).toBeLessThanOrEqual(before);
    expect(signals.flatMap((signal) => EventEmitter.getEventListeners(signal, "abort"))).toEqual([]);
  });
});
