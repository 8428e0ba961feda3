// Cancelling: one conditional write that aborts signals and answers everyone, in every state.
import { describe, expect, test } from "vitest";
import { AndanteService } from "../../src/andante/andante-service.ts";
import { attach, collect, flow, heldBody, onMemory } from "../support/test-andante.ts";
import { behindUntilResume, heldOperation, wrapStore } from "../support/wrapped-store.ts";

onMemory((bench) => {
  test("ends a running execution: signals abort, waiting callers are answered, streams end", async () => {
    const held = heldBody("never");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.start(workflow.id, {});
    const stream = await attach(andante, workflow.id, executionId);
    const signal = await held.started;
    const cancelled = await andante.cancel(workflow.id, executionId, {
      reason: "changed my mind",
      userId: "ada",
    });
    expect(cancelled).toMatchObject({ executionId, status: "cancelled", result: null });
    expect(cancelled.endAt).not.toBeNull();
    expect(await result()).toEqual(cancelled);
    expect(signal.reason).toMatchObject({ message: "The execution was cancelled" });
    const events = await collect(stream);
    expect(events.slice(-2)).toMatchObject([
      { type: "workflow-cancelled", reason: "changed my mind", userId: "ada" },
      { type: "workflow-result", status: "cancelled" },
    ]);
    held.finish();
    expect((await andante.state(workflow.id, executionId)).status).toBe("cancelled");
  });

  test("ends a suspended and a paused execution, and closes their suspensions", async () => {
    const gate = flow().andThen({ id: "gate", execute: ({ suspend }) => suspend() });
    const held = heldBody(1);
    const pausable = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(gate, pausable);
    const suspended = await andante.execute(gate.id, {});
    const paused = await andante.start(pausable.id, {});
    const signal = await held.started;
    await andante.suspend(pausable.id, paused.executionId);
    for (const [id, executionId] of [
      [gate.id, suspended.executionId],
      [pausable.id, paused.executionId],
    ] as const) {
      const cancelled = await andante.cancel(id, executionId);
      expect(cancelled.status).toBe("cancelled");
      expect(cancelled).not.toHaveProperty("suspension");
      await expect(andante.resume(id, executionId)).rejects.toMatchObject({ status: 404 });
    }
    expect(signal.aborted).toBe(true);
  });

  test("while the execution is being loaded aborts the bodies that start then", async () => {
    const signals: AbortSignal[] = [];
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend, signal }) => {
        if (resumeData === undefined) return suspend();
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const reading = heldOperation(bench.store.events);
    const behind = behindUntilResume(bench.store);
    const resume: typeof bench.store.resume = (argument) => {
      // From now on the journal is read to load the execution.
      reading.hold();
      return behind.resume(argument);
    };
    const store = wrapStore(bench.store, { events: reading.run, state: behind.state, resume });
    // Nothing is held in memory, so that loading reads it.
    const options = { store, logger: bench.logger, workflows: { workflow } };
    const andante = new AndanteService(options, { memory: 0 });
    const { executionId } = await andante.execute(workflow.id, {});
    const resumed = andante.resume(workflow.id, executionId, 1);
    await reading.asked;
    const cancelled = andante.cancel(workflow.id, executionId);
    reading.release();
    expect((await cancelled).status).toBe("cancelled");
    expect((await resumed).status).toBe("cancelled");
    expect(signals.map(({ aborted }) => aborted)).not.toContain(false);
    await andante.close();
  });

  test("is refused after the end, saying how it ended", async () => {
    const fine = flow();
    const fails = flow().andThen({ id: "a", execute: () => Promise.reject(new Error("x")) });
    const andante = bench.andante(fine, fails);
    const refusal = async (id: string) => {
      const { executionId } = await andante.execute(id, {});
      const error: unknown = await andante.cancel(id, executionId).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 400, code: "not-cancellable" });
      return String(Object(error).message);
    };
    expect(await refusal(fine.id)).toContain("it is already completed");
    expect(await refusal(fails.id)).toContain("it is already ended with an error");
    await expect(andante.cancel(fine.id, "nobody")).rejects.toMatchObject({ status: 404 });
  });

  test("against completion: the first wins, and every caller gets the same status", async () => {
    const workflow = flow().andThen({ id: "a", execute: async () => 1 });
    const andante = bench.andante(workflow);
    const statuses = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const { executionId, result } = await andante.start(workflow.id, {});
      const [cancelled, executed] = await Promise.all([
        andante.cancel(workflow.id, executionId).then(
          () => "cancelled",
          () => "completed",
        ),
        result(),
      ]);
      const { status } = await andante.state(workflow.id, executionId);
      expect([cancelled, executed.status]).toEqual([status, status]);
      statuses.add(status);
    }
    expect(statuses.size).toBeGreaterThan(0);
  });

  describe("signals", () => {
    test("stay quiet when an execution completes or rests", async () => {
      const signals: AbortSignal[] = [];
      const workflow = flow()
        .andThen({ id: "a", execute: ({ signal }) => signals.push(signal) })
        .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      await andante.resume(workflow.id, executionId, 1);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    });
  });
});
