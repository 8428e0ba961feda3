// bail: ends the innermost workflow at once, from any depth.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isControlFlow } from "../../src/execution/body/control-flow-signal.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { collect, flow, heldBody, onMemory } from "../support/test-andante.ts";

const never = {
  id: "never",
  execute: () => {
    throw new Error("must not run");
  },
};

onMemory((bench) => {
  describe("bail", () => {
    test("ends the workflow with its result; later steps do not run", async () => {
      const workflow = flow()
        .andThen({ id: "leave", execute: ({ bail }) => bail({ early: true }) })
        .andThen(never);
      const { events } = await bench.andante(workflow).stream(workflow.id, 1);
      const all = await collect(events);
      expect(all.map(({ type }) => type)).toEqual([
        "workflow-start",
        "step-start",
        "step-bailed",
        "workflow-complete",
        "workflow-result",
      ]);
      expect(all.at(-1)).toMatchObject({ status: "completed", result: { early: true } });
    });

    test("throws a value that isControlFlow recognises, unlike an error of the body", async () => {
      const seen: boolean[] = [];
      const workflow = flow().andThen({
        id: "leave",
        execute: ({ bail }) => {
          try {
            return bail("left");
          } catch (error) {
            seen.push(
              isControlFlow(error),
              isControlFlow(new Error("ControlFlowSignal")),
              isControlFlow(null),
            );
            throw error;
          }
        },
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "left" });
      expect(seen).toEqual([true, false, false]);
    });

    test("is held against the workflow's result schema", async () => {
      const workflow = createWorkflow({ id: flow().id, input: z.unknown(), result: z.string() }).andThen({
        id: "leave",
        execute: ({ bail }) => bail(7),
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "error" });
    });

    test("in a child is held against the child's result schema, and leaves as the schema returns it", async () => {
      const run = async (result: unknown) => {
        const child = createWorkflow({
          id: "child",
          input: z.unknown(),
          result: z.object({ n: z.number(), more: z.string().default("filled in") }),
        })
          .andThen({ id: "leave", execute: ({ bail }) => bail(result) })
          .andThen({ id: "late", execute: () => ({ n: 0 }) });
        const workflow = flow().andWorkflow({ id: "sub", workflow: child });
        const andante = bench.andante(workflow);
        const ended = await andante.execute(workflow.id, 1);
        return { ...ended, failure: (await andante.list({ workflowId: workflow.id })).executions[0]?.error };
      };
      expect(await run({ n: 1 })).toMatchObject({ status: "completed", result: { n: 1, more: "filled in" } });
      expect(await run({ n: "one" })).toMatchObject({
        status: "error",
        failure: {
          name: "StepSchemaError",
          step: "sub",
          message: expect.stringContaining("result of workflow child"),
        },
      });
    });

    test("ends the innermost workflow only", async () => {
      const child = createWorkflow({ id: "child", input: z.unknown() })
        .andThen({ id: "leave", execute: ({ bail }) => bail("from the child") })
        .andThen(never);
      const workflow = flow()
        .andWorkflow({ id: "child", workflow: child })
        .andThen({ id: "after", execute: ({ data }) => ({ after: data }) });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({
        result: { after: "from the child" },
      });
    });

    test.each(["andAll", "andRace"] as const)(
      "inside %s aborts and closes the other branches",
      async (kind) => {
        const slow = heldBody("slow");
        const steps = [
          andThen({ id: "slow", execute: slow.execute }),
          andThen({ id: "gate", execute: ({ suspend }) => suspend("please") }),
          andThen({
            id: "leave",
            execute: async ({ bail }) => {
              await slow.started;
              return bail("gone");
            },
          }),
        ];
        const workflow = (
          kind === "andAll" ? flow().andAll({ id: "c", steps }) : flow().andRace({ id: "c", steps })
        ).andThen(never);
        const { executionId, result } = await bench.andante(workflow).execute(workflow.id, 1);
        expect(result).toBe("gone");
        expect((await slow.started).aborted).toBe(true);
        slow.finish();
        expect((await bench.store.state(executionId))?.suspensions).toEqual([]);
      },
    );

    test("leaves a list, a loop, a condition's step and a tap", async () => {
      const leave = andThen({ id: "leave", execute: ({ bail }) => bail("gone") });
      const workflows = [
        flow(z.array(z.number())).andForEach({ id: "each", step: leave }).andThen(never),
        flow()
          .andDoWhile({ id: "loop", step: leave, condition: () => true })
          .andThen(never),
        flow()
          .andWhen({ id: "when", condition: () => true, step: leave })
          .andThen(never),
        flow()
          .andBranch({ id: "branch", branches: [{ condition: () => true, step: leave }] })
          .andThen(never),
        flow()
          .andTap({ id: "tap", execute: ({ bail }) => bail("gone") })
          .andThen(never),
      ];
      for (const workflow of workflows) {
        const { status, result } = await bench.andante(workflow).execute(workflow.id, [1, 2]);
        expect([workflow.steps[0]?.type, status, result]).toEqual([
          workflow.steps[0]?.type,
          "completed",
          "gone",
        ]);
      }
    });

    test("counts also when the body catches it, and is never retried", async () => {
      let runs = 0;
      const workflow = flow().andThen({
        id: "leave",
        retry: { attempts: 3 },
        execute: ({ bail }) => {
          runs++;
          try {
            return bail("gone");
          } catch {
            return "stayed";
          }
        },
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: "gone" });
      expect(runs).toBe(1);
      expect(bench.logger.of("warn")).toMatchObject([
        { stepPath: "leave", msg: "the body swallowed what bail() throws; bailing anyway" },
      ]);
    });

    test("is refused in a condition", async () => {
      const workflow = flow().andWhen({
        id: "when",
        condition: (context) => Reflect.get(context, "bail")("gone"),
        step: andThen(never),
      });
      const { executionId, status } = await bench.andante(workflow).execute(workflow.id, 1);
      expect(status).toBe("error");
      expect((await bench.store.state(executionId))?.execution.error).toContain("cannot bail");
    });
  });
});
