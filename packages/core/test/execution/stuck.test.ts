// An execution whose body runs again and again without a new event is parked, and stays so over a restart.
import { expect, test } from "vitest";
import { ControlFlowSignal } from "../../src/execution/body/control-flow-signal.ts";
import { maxRunsWithoutEvent } from "../../src/execution/run/reentry-guard.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { flow, onMemoryAndFile } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** A workflow whose second body is interrupted so often before it returns, as by a fault of the engine. */
function interrupted(times: number) {
  const body = { runs: 0 };
  const workflow = flow()
    .andThen({ id: "first", execute: () => 1 })
    .andThen({
      id: "spin",
      execute: async () => {
        body.runs++;
        if (body.runs <= times) throw new ControlFlowSignal({ kind: "interrupt" });
        return "done";
      },
    });
  return { workflow, body };
}

onMemoryAndFile((bench) => {
  test("it is parked with a reason and a line of the log", async () => {
    const { workflow, body } = interrupted(Number.POSITIVE_INFINITY);
    const andante = bench.andante(workflow);
    const reason = `Step spin was run ${maxRunsWithoutEvent} times without a new event`;
    const started = await andante.start(workflow.id, 1);
    await expect(started.result()).rejects.toMatchObject({ code: "execution-parked" });
    expect(await andante.state(workflow.id, started.executionId)).toMatchObject({
      status: "running",
      parked: { reason },
    });
    expect(body.runs).toBe(maxRunsWithoutEvent);
    expect(bench.logger.messages).toContain("execution parked: it makes no progress");

    // Another process with the same definition leaves it alone.
    const later = bench.andante(workflow);
    await later.ready();
    await later.settled();
    expect(body.runs).toBe(maxRunsWithoutEvent);
    await later.cancel(workflow.id, started.executionId);
    expect((await later.state(workflow.id, started.executionId)).status).toBe("cancelled");
  });

  test("it can be replayed, and continues with a definition that was changed after it", async () => {
    const { workflow, body } = interrupted(maxRunsWithoutEvent);
    const andante = bench.andante(workflow);
    const started = await andante.start(workflow.id, 1);
    await expect(started.result()).rejects.toMatchObject({ code: "execution-parked" });
    const replayed = await andante.replay(workflow.id, started.executionId, { stepId: "spin" });
    expect(replayed).toMatchObject({ status: "completed", result: "done" });
    const changed = workflow.andThen({ id: "added", execute: () => "continued" });
    const later = bench.andante(changed);
    await later.ready();
    await later.settled();
    expect(body.runs).toBe(maxRunsWithoutEvent + 2);
    expect(await later.state(workflow.id, started.executionId)).toMatchObject({
      status: "completed",
      result: "continued",
    });
  });

  test("one run less is no reason", async () => {
    const { workflow } = interrupted(maxRunsWithoutEvent - 1);
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "done" });
  });

  test("many bodies that are interrupted once are no reason", async () => {
    const count = 3 * maxRunsWithoutEvent;
    const seen = new Set<number>();
    const workflow = flow().andForEach({
      id: "each",
      items: () => Array.from({ length: count }, (_, index) => index),
      concurrency: count,
      step: (chain) =>
        chain.andThen({
          id: "work",
          execute: async ({ data }) => {
            if (seen.has(Number(data))) return data;
            seen.add(Number(data));
            throw new ControlFlowSignal({ kind: "interrupt" });
          },
        }),
    });
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "completed" });
  });

  /** A body that spins, and one beside it that returns when the other has run for the last time. */
  const beside = () => {
    let runs = 0;
    const spin = andThen({
      id: "spin",
      execute: (): never => {
        throw new ControlFlowSignal({ kind: "interrupt" });
      },
    });
    const ends = andThen({
      id: "ends",
      execute: () => {
        if (++runs < maxRunsWithoutEvent) throw new ControlFlowSignal({ kind: "interrupt" });
        return "done";
      },
    });
    return { steps: [spin, ends] as const, runs: () => runs };
  };

  test("an outcome that comes with its last run is recorded before it is parked", async () => {
    const { steps, runs } = beside();
    const workflow = flow().andAll({ id: "all", steps });
    const andante = bench.andante(workflow);
    const started = await andante.start(workflow.id, 1);
    await expect(started.result()).rejects.toMatchObject({ code: "execution-parked" });
    const { executionId } = started;
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    const ended = events.filter(({ type }) => type === "step-complete").map(({ path }) => path);
    expect(ended).toEqual(["all/ends"]);
    expect(runs()).toBe(maxRunsWithoutEvent);
  });

  test("one that has lost by then does not count", async () => {
    const { steps } = beside();
    const workflow = flow().andRace({ id: "race", steps });
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "done" });
  });

  test("so is one whose idle commit the store always refuses", async () => {
    const workflow = flow().andThen({ id: "gate", execute: ({ suspend }) => suspend("wait") });
    let asked = 0;
    const store = wrapStore(bench.store, {
      commit: (commit) => {
        if (commit.idle !== null) asked++;
        return bench.store.commit({ ...commit, idle: null });
      },
    });
    const andante = bench.andanteWith({ store }, workflow);
    const started = await andante.start(workflow.id, 1);
    const state = () => andante.state(workflow.id, started.executionId);
    await expect.poll(async () => (await state()).parked?.reason).toContain("without a new event");
    expect(asked).toBe(maxRunsWithoutEvent);
  });
});
