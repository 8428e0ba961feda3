// A step that waits: suspended, answered once, run again from its top; or taken back to an earlier step.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { flow, onMemory } from "../support/test-andante.ts";

onMemory((bench) => {
  const approval = () =>
    flow(z.object({ n: z.number() }))
      .andThen({ id: "draft", execute: ({ data }) => ({ n: data.n + 1 }) })
      .andThen({
        id: "approve",
        suspendSchema: z.object({ cost: z.number() }),
        resumeSchema: z.object({ approved: z.boolean(), note: z.string().default("none") }),
        execute: ({ data, suspend, resumeData, suspendData }) =>
          resumeData ? { ...data, ...resumeData, suspendData } : suspend("Please look", { cost: data.n }),
      });

  test("answers execute with where it waits and why", async () => {
    const workflow = approval();
    const andante = bench.andante(workflow);
    const result = await andante.execute(workflow.id, { n: 1 });
    expect(result).toMatchObject({ status: "suspended", result: null, endAt: null });
    expect(result.suspension).toMatchObject({
      reason: "Please look",
      suspendedStepIndex: 1,
      stepIndex: 1,
      stepId: "approve",
      stepPath: "approve",
      data: { cost: 2 },
      resumeSchema: { required: ["approved"] },
    });
    const state = await andante.state(workflow.id, result.executionId);
    expect(state).toMatchObject({ status: "suspended", input: { n: 1 }, suspension: result.suspension });
  });

  test("runs the body again from its top with answer and suspend data, and nothing before it", async () => {
    const workflow = approval();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    const result = await andante.resume(workflow.id, executionId, { approved: true });
    expect(result).toMatchObject({
      status: "completed",
      result: { n: 2, approved: true, note: "none", suspendData: { cost: 2 } },
    });
    const events = await andante.events(workflow.id, executionId);
    expect(events.filter(({ type, from }) => type === "step-start" && from === "draft")).toHaveLength(1);
  });

  test("refuses an answer that does not fit, and stays suspended", async () => {
    const workflow = approval();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    await expect(andante.resume(workflow.id, executionId, { approved: "yes" })).rejects.toMatchObject({
      status: 400,
      code: "resume-validation",
      message: expect.stringContaining("approved"),
    });
    await expect(andante.resume(workflow.id, executionId)).rejects.toMatchObject({ status: 400 });
    expect((await andante.state(workflow.id, executionId)).status).toBe("suspended");
  });

  test("of a hundred simultaneous answers takes one", async () => {
    const workflow = approval();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, () => andante.resume(workflow.id, executionId, { approved: true })),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === "rejected")
        expect(answer.reason).toMatchObject({ status: 404, code: "not-suspended" });
    }
  });

  test("is not there to be answered while running or after the end", async () => {
    const workflow = approval();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    await andante.resume(workflow.id, executionId, { approved: true });
    const again = andante.resume(workflow.id, executionId, { approved: true });
    await expect(again).rejects.toMatchObject({ status: 404, code: "not-suspended" });
  });

  test("takes the workflow's schemas where the step has none", async () => {
    const workflow = createWorkflow({
      id: flow().id,
      input: z.unknown(),
      suspendSchema: z.object({ cost: z.number() }),
      resumeSchema: z.object({ ok: z.boolean() }),
    }).andThen({
      id: "gate",
      execute: ({ resumeData, suspend, input }) => resumeData ?? suspend("", Object(input)),
    });
    const andante = bench.andante(workflow);
    const refused = await andante.execute(workflow.id, { cost: "much" });
    expect(refused.status).toBe("error");
    const events = await andante.events(workflow.id, refused.executionId);
    expect(events.find(({ type }) => type === "step-error")).toMatchObject({
      error: { message: expect.stringMatching(/^Step gate: suspend data validation failed: .*cost/) },
    });
    const { executionId } = await andante.execute(workflow.id, { cost: 1 });
    await expect(andante.resume(workflow.id, executionId, { ok: 1 })).rejects.toMatchObject({ status: 400 });
    expect((await andante.resume(workflow.id, executionId, { ok: true })).result).toEqual({ ok: true });
  });

  test("in a child workflow takes the child's schema", async () => {
    const child = createWorkflow({
      id: "child",
      input: z.unknown(),
      resumeSchema: z.literal("child"),
    }).andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
    });
    const workflow = createWorkflow({ id: flow().id, input: z.unknown(), resumeSchema: z.literal("parent") })
      .andThen({ id: "before", execute: () => 1 })
      .andWorkflow({ id: "sub", workflow: child });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, {});
    expect(suspension).toMatchObject({ stepId: "gate", stepPath: "sub/gate", stepIndex: 1, reason: "" });
    await expect(andante.resume(workflow.id, executionId, "parent")).rejects.toMatchObject({ status: 400 });
    expect((await andante.resume(workflow.id, executionId, "child")).result).toBe("child");
  });

  test("again after an answer is answered again; an absent answer arrives as null", async () => {
    const answers: unknown[] = [];
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => {
        answers.push(resumeData);
        return resumeData === "enough" ? answers.length : suspend(`round ${answers.length}`);
      },
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const second = await andante.resume(workflow.id, executionId, "more");
    expect(second).toMatchObject({ status: "suspended", suspension: { reason: "round 2" } });
    expect((await andante.resume(workflow.id, executionId)).suspension?.reason).toBe("round 3");
    expect((await andante.resume(workflow.id, executionId, "enough")).result).toBe(4);
    expect(answers).toEqual([undefined, "more", null, "enough"]);
  });

  test("gives the body that runs again its original data, though the first run changed it", async () => {
    const workflow = flow(z.object({ list: z.array(z.number()) })).andThen({
      id: "gate",
      execute: ({ data, input, resumeData, suspend }) => {
        data.list.push(1);
        input.list.push(2);
        return resumeData ? data.list : suspend();
      },
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, { list: [] });
    expect((await andante.resume(workflow.id, executionId, true)).result).toEqual([1]);
  });

  test("is named by id, by path, or pinned by its suspensionId", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => (resumeData === 3 ? 3 : suspend()),
    });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, {});
    const suspensionId = suspension?.suspensionId;
    const second = await andante.resume(workflow.id, executionId, 1, { suspensionId, stepId: "gate" });
    expect(second.status).toBe("suspended");
    const stale = andante.resume(workflow.id, executionId, 3, { suspensionId });
    await expect(stale).rejects.toMatchObject({ status: 404, code: "not-suspended" });
    const pinned = { suspensionId: second.suspension?.suspensionId };
    expect((await andante.resume(workflow.id, executionId, 3, pinned)).result).toBe(3);
  });

  test("pinned by its suspensionId is not taken for another step that waits", async () => {
    const gate = (id: string) =>
      andThen({ id, execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
    const workflow = flow().andAll({ id: "both", steps: [gate("a"), gate("b")] });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const { suspensions } = await andante.state(workflow.id, executionId);
    const suspensionId = suspensions?.find(({ stepId }) => stepId === "a")?.suspensionId;
    const wrong = andante.resume(workflow.id, executionId, 1, { suspensionId, stepId: "b" });
    await expect(wrong).rejects.toThrow('no waiting or earlier step "b"');
    expect((await andante.state(workflow.id, executionId)).suspensions).toHaveLength(2);
  });

  test("inside andTap waits like any other; the data passes", async () => {
    let answer: unknown;
    const workflow = flow(z.number()).andTap({
      id: "tap",
      execute: ({ resumeData, suspend }) => {
        answer = resumeData ?? suspend("tapped");
      },
    });
    const andante = bench.andante(workflow);
    const { executionId, status } = await andante.execute(workflow.id, 5);
    expect(status).toBe("suspended");
    expect((await andante.resume(workflow.id, executionId, "ok")).result).toBe(5);
    expect(answer).toBe("ok");
  });

  test.each(["returns", "throws another error"])(
    "suspends also when the body catches it and %s",
    async (what) => {
      const workflow = flow().andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) => {
          if (resumeData !== undefined) return resumeData;
          try {
            return suspend("caught");
          } catch {
            if (what === "returns") return "went on";
            throw new Error("something else");
          }
        },
      });
      const andante = bench.andante(workflow);
      const { executionId, suspension } = await andante.execute(workflow.id, {});
      expect(suspension?.reason).toBe("caught");
      expect(bench.logger.messages.join()).toContain(
        "the body swallowed what suspend() throws; suspending anyway",
      );
      expect((await andante.resume(workflow.id, executionId, "ok")).result).toBe("ok");
    },
  );

  test("needs a reason that is a text and data that JSON can hold", async () => {
    const bad = (reason: unknown, data: unknown) =>
      flow().andThen({
        id: "gate",
        execute: ({ suspend }) => Reflect.apply(suspend, undefined, [reason, data]),
      });
    const wrong = [
      [bad({ no: "text" }, 1), "Step gate: suspend reason validation failed: expected a string"],
      [bad(undefined, new Map()), "Suspend data of step gate cannot be kept as JSON: it is a Map"],
    ] as const;
    for (const [workflow, message] of wrong) {
      const andante = bench.andante(workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      expect(JSON.stringify(await andante.events(workflow.id, executionId))).toContain(message);
    }
  });

  describe("a resume that names an earlier step", () => {
    const workflow = () => {
      const runs: string[] = [];
      const definition = flow()
        .andThen({ id: "a", execute: () => runs.push("a") })
        .andThen({ id: "b", execute: ({ resumeData }) => runs.push(`b ${JSON.stringify(resumeData)}`) })
        .andAll({ id: "c", steps: [andThen({ id: "inner", execute: () => runs.push("inner") })] })
        .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
        .andThen({ id: "later", execute: ({ data }) => data });
      return { definition, runs };
    };

    test("goes back to it: later outcomes no longer count, and the data reaches it", async () => {
      const { definition, runs } = workflow();
      const andante = bench.andante(definition);
      const { executionId } = await andante.execute(definition.id, {});
      const again = await andante.resume(definition.id, executionId, { redo: 1 }, { stepId: "b" });
      expect(again).toMatchObject({ status: "suspended", suspension: { stepId: "gate", stepIndex: 3 } });
      expect(runs).toEqual(["a", "b undefined", "inner", 'b {"redo":1}', "inner"]);
      expect((await andante.resume(definition.id, executionId, "ok")).result).toBe("ok");
      const types = (await andante.events(definition.id, executionId)).map(({ type }) => type);
      expect(types.filter((type) => type === "execution-rewound")).toHaveLength(1);
    });

    test("is refused for an unknown, a later or an inner step", async () => {
      const { definition } = workflow();
      const andante = bench.andante(definition);
      const { executionId } = await andante.execute(definition.id, {});
      for (const stepId of ["nowhere", "later", "inner"]) {
        const resumed = andante.resume(definition.id, executionId, 1, { stepId });
        await expect(resumed).rejects.toMatchObject({ status: 400, code: "resume-target" });
      }
      expect((await andante.state(definition.id, executionId)).status).toBe("suspended");
    });
  });
});
