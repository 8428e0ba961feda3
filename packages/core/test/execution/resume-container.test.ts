// Resuming with the id of a container: the step that waits inside it is meant, and nothing is ever repeated by accident.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andAll, andThen, andWorkflow } from "../../src/workflow/steps/free-steps.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";

const gate = (id: string) => andThen({ id, execute: ({ resumeData, suspend }) => resumeData ?? suspend(id) });

onMemory((bench) => {
  const rewinds = async (executionId: string) =>
    (await bench.store.events({ executionId, after: 0, limit: 100 })).filter(
      ({ type }) => type === "execution-rewound",
    ).length;

  /** A finished sibling beside a gate, two levels down. */
  const nested = () => {
    const runs: string[] = [];
    const child = createWorkflow({ id: "child", input: z.unknown() }).andForEach({
      id: "each",
      items: () => [1],
      step: gate("approve"),
    });
    const workflow = flow().andAll({
      id: "fan-out",
      steps: [
        andThen({ id: "paid", execute: () => runs.push("paid") }),
        andAll({ id: "inner", steps: [andWorkflow({ id: "sub", workflow: child })] }),
      ],
    });
    return { workflow, runs };
  };

  test.each([
    "fan-out",
    "inner",
    "fan-out/inner",
    "sub",
    "each",
    "fan-out/inner/sub/each",
    "fan-out/inner/sub/each[0]",
    "approve",
  ])("the id or path %s resumes the one step that waits inside", async (stepId) => {
    const { workflow, runs } = nested();
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, {});
    const suspensionId = stepId === "inner" ? suspension?.suspensionId : undefined;
    const resumed = await andante.resume(workflow.id, executionId, "yes", { stepId, suspensionId });
    expect(resumed).toMatchObject({ status: "completed", result: [1, [["yes"]]] });
    expect([runs, await rewinds(executionId)]).toEqual([["paid"], 0]);
  });

  test("is 400 for a step that has not been reached, and for a container in which nothing waits", async () => {
    const held = heldBody("x");
    const steps = [andThen({ id: "held", execute: held.execute })];
    const workflow = flow()
      .andAll({ id: "fan-out", steps })
      .andThen({ id: "later", execute: () => 1 });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await andante.suspend(workflow.id, executionId);
    const refused = (stepId: string, problem: string) =>
      expect(andante.resume(workflow.id, executionId, 1, { stepId })).rejects.toMatchObject({
        status: 400,
        message: `Cannot resume: ${problem}`,
      });
    await refused("later", 'the step "later" has not been reached yet');
    await refused("fan-out", 'nothing inside "fan-out" waits');
    held.finish();
  });

  test("is 400 naming the several that wait inside", async () => {
    const workflow = flow().andAll({ id: "fan-out", steps: [gate("left"), gate("right")] });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await expect(andante.resume(workflow.id, executionId, 1, { stepId: "fan-out" })).rejects.toMatchObject({
      status: 400,
      code: "resume-target",
      message:
        'Cannot resume: several steps inside "fan-out" are waiting: name one with stepId (fan-out/left, fan-out/right)',
    });
    expect(await rewinds(executionId)).toBe(0);
  });

  test("checks the data against the schema of the step inside", async () => {
    const workflow = flow().andAll({
      id: "fan-out",
      steps: [
        andThen({
          id: "gate",
          resumeSchema: z.object({ ok: z.boolean() }),
          execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
        }),
      ],
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const resume = (data: unknown) => andante.resume(workflow.id, executionId, data, { stepId: "fan-out" });
    await expect(resume("yes")).rejects.toMatchObject({ status: 400, code: "resume-validation" });
    expect(await resume({ ok: true })).toMatchObject({ result: [{ ok: true }] });
  });

  describe("of a paused execution", () => {
    test("lifts the pause together with the one that waits inside", async () => {
      const held = heldBody(null);
      const waiting = andThen({
        id: "gate",
        execute: async (context) => {
          if (context.resumeData === undefined) await held.execute(context);
          return context.resumeData ?? context.suspend();
        },
      });
      const workflow = flow().andAll({ id: "fan-out", steps: [andAll({ id: "inner", steps: [waiting] })] });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      await andante.suspend(workflow.id, executionId);
      held.finish();
      await andante.settled();
      expect((await bench.store.state(executionId))?.suspensions).toHaveLength(2);
      const resumed = await andante.resume(workflow.id, executionId, "yes", { stepId: "fan-out" });
      expect(resumed).toMatchObject({ status: "completed", result: [["yes"]] });
      expect(await rewinds(executionId)).toBe(0);
    });

    test("is 400 when nothing inside the container that it has reached waits", async () => {
      const held = heldBody("held");
      const runs: string[] = [];
      const workflow = flow().andAll({
        id: "fan-out",
        steps: [
          andThen({ id: "paid", execute: () => runs.push("paid") }),
          andThen({ id: "held", execute: held.execute }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      await andante.suspend(workflow.id, executionId);
      await expect(andante.resume(workflow.id, executionId, 1, { stepId: "fan-out" })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('nothing inside "fan-out" waits'),
      });
      held.finish();
      expect(await andante.resume(workflow.id, executionId)).toMatchObject({ result: [1, "held"] });
      expect([runs, await rewinds(executionId)]).toEqual([["paid"], 0]);
    });
  });

  test("an earlier container is gone back to when it is named", async () => {
    let runs = 0;
    const workflow = flow()
      .andAll({ id: "fan-out", steps: [andThen({ id: "a", execute: () => ++runs })] })
      .andAll({ id: "gates", steps: [gate("gate")] });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await andante.resume(workflow.id, executionId, 1, { stepId: "fan-out" });
    expect([runs, await rewinds(executionId)]).toEqual([2, 1]);
  });
});
