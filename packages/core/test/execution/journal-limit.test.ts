// The limit of a journal: it holds to the last batch, starts nothing more, and leaves no timer behind.
import { expect, test } from "vitest";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { flow, onMemory } from "../support/test-andante.ts";

onMemory((bench) => {
  const failureOf = async (andante: ReturnType<typeof bench.andante>, workflowId: string) =>
    (await andante.list({ workflowId })).executions[0]?.error;

  test("the batch that ends an execution counts as well", async () => {
    const workflow = flow().andThen({ id: "big", execute: () => "x".repeat(2000) });
    const andante = bench.andanteWith({ limits: { journal: { bytes: 1000 } } }, workflow);
    expect(await andante.execute(workflow.id, {})).toMatchObject({ status: "error", result: null });
    expect(await failureOf(andante, workflow.id)).toMatchObject({ name: "JournalLimitError" });
  });

  test("so do its events", async () => {
    const workflow = flow()
      .andThen({ id: "a", execute: () => 1 })
      .andThen({ id: "b", execute: () => 1 });
    // workflow-start, two starts, two outcomes, workflow-complete
    const run = async (events: number) => {
      const andante = bench.andanteWith({ limits: { journal: { events } } }, workflow);
      return (await andante.execute(workflow.id, {})).status;
    };
    expect([await run(6), await run(5)]).toEqual(["completed", "error"]);
  });

  test("nothing that follows an overfull batch is started", async () => {
    let runs = 0;
    const workflow = flow()
      .andThen({ id: "big", execute: () => "x".repeat(2000) })
      .andThen({ id: "after", execute: () => ++runs });
    const andante = bench.andanteWith({ limits: { journal: { bytes: 1000 } } }, workflow);
    expect(await andante.execute(workflow.id, {})).toMatchObject({ status: "error" });
    expect(runs).toBe(0);
  });

  test("a step that fails by itself keeps its own error", async () => {
    const workflow = flow().andThen({
      id: "fails",
      execute: () => {
        throw new Error("x".repeat(2000));
      },
    });
    const andante = bench.andanteWith({ limits: { journal: { bytes: 1000 } } }, workflow);
    await andante.execute(workflow.id, {});
    expect(await failureOf(andante, workflow.id)).toMatchObject({ name: "Error" });
  });

  test("the timers of an execution that it ends go with it", async () => {
    const workflow = flow().andAll({
      id: "all",
      steps: [
        andSleep({ id: "long", duration: "1h" }),
        (chain) =>
          chain
            .andThen({ id: "first", execute: async () => 1 })
            .andThen({ id: "big", execute: async () => "x".repeat(2000) })
            .andThen({ id: "after", execute: async () => 1 }),
      ],
    });
    const andante = bench.andanteWith({ limits: { journal: { bytes: 1000 } } }, workflow);
    const { executionId, status } = await andante.execute(workflow.id, {});
    expect(status).toBe("error");
    expect((await bench.store.state(executionId))?.timers).toEqual([]);
  });

  test("a branch of an overfull execution that waits for a time is not left waiting", async () => {
    const workflow = flow().andAll({
      id: "all",
      steps: [
        andSleep({ id: "long", duration: "1h" }),
        andThen({ id: "big", execute: async () => "x".repeat(2000) }),
      ],
    });
    const andante = bench.andanteWith({ limits: { journal: { bytes: 1000 } } }, workflow);
    const { executionId, status } = await andante.execute(workflow.id, {});
    expect(status).toBe("error");
    expect((await bench.store.state(executionId))?.timers).toEqual([]);
  });
});
