// crashTest: a workflow that keeps its promise passes, one that does not is found.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "../workflow/create-workflow.ts";
import { andThen } from "../workflow/steps/free-steps.ts";
import { crashTest } from "./crash-test.ts";

/** A bank that takes the same charge once when it is given a key. */
function fakeBank() {
  const charges = new Map<string, number>();
  return {
    charge: (key: string, amount: number) => charges.set(key, amount),
    total: () => [...charges.values()].reduce((sum, amount) => sum + amount, 0),
    reset: () => charges.clear(),
  };
}

const order = z.object({ amount: z.number() });

describe("crashTest", () => {
  test("finds nothing wrong with steps that pass on their idempotency key", async () => {
    const bank = fakeBank();
    const pay = createWorkflow({ id: "pay", input: order })
      .andThen({
        id: "charge",
        execute: ({ data, idempotencyKey }) => {
          bank.charge(idempotencyKey, data.amount);
          return data;
        },
      })
      .andThen({ id: "receipt", execute: ({ data }) => ({ paid: data.amount }) });
    const { expected, runs, differences, bodyRuns } = await crashTest({
      workflow: pay,
      input: { amount: 20 },
      reset: bank.reset,
      observe: bank.total,
    });
    expect(expected).toMatchObject({ status: "completed", result: { paid: 20 }, observed: 20 });
    expect(differences).toEqual([]);
    expect(runs.map(({ write, variant, events }) => [write, variant, events])).toEqual([
      [1, "lost", "workflow-start, step-start charge"],
      [1, "unacknowledged", "workflow-start, step-start charge"],
      [2, "lost", "step-complete charge, step-start receipt"],
      [2, "unacknowledged", "step-complete charge, step-start receipt"],
      [3, "lost", "step-complete receipt, workflow-complete"],
      [3, "unacknowledged", "step-complete receipt, workflow-complete"],
    ]);
    // A crash between the charge and its commit runs the body again.
    expect(bodyRuns).toEqual({ charge: 2, receipt: 2 });
  });

  test("finds the crash after which a step that is not idempotent charges twice", async () => {
    let charged = 0;
    const pay = createWorkflow({ id: "pay", input: order }).andThen({
      id: "charge",
      execute: ({ data }) => {
        charged += data.amount;
        return data;
      },
    });
    const { differences } = await crashTest({
      workflow: pay,
      input: { amount: 20 },
      reset: () => (charged = 0),
      observe: () => charged,
    });
    expect(differences).toEqual([
      "A crash just before write 2 (step-complete charge, workflow-complete): observed is 40, undisturbed 20",
    ]);
  });

  test("goes through resumes, deadlines, sleeps, retries and branches", async () => {
    const workflow = createWorkflow({ id: "everything", input: order })
      .andThen({
        id: "approve",
        execute: ({ resumeData, suspend }) => resumeData ?? suspend("Approve?", { by: "a person" }),
      })
      .andThen({
        id: "remind",
        execute: ({ resumeData, suspend }) =>
          resumeData ?? suspend("nobody", null, { deadline: "2d", onDeadline: { resume: "too late" } }),
      })
      .andSleep({ id: "night", duration: "8h" })
      .andForEach({
        id: "each",
        concurrency: 2,
        items: () => [1, 2, 3],
        step: andThen({
          id: "double",
          retry: { attempts: 2, delay: "1m" },
          execute: ({ data, attempt, setState }) => {
            if (attempt === 1 && data === 2) throw new Error("once more");
            setState((state) => ({ sum: Number(state.sum ?? 0) + data }));
            return data * 2;
          },
        }),
      })
      .andThen({ id: "last", execute: ({ data, state }) => ({ data, sum: state.sum }) });
    const { expected, runs, differences, bodyRuns } = await crashTest({
      workflow,
      input: { amount: 1 },
      resume: ({ stepPath, data }) => (stepPath === "approve" ? { yes: data } : undefined),
    });
    expect(expected).toMatchObject({ status: "completed", result: { data: [2, 4, 6], sum: 6 } });
    expect(differences).toEqual([]);
    expect(runs.length).toBeGreaterThan(20);
    expect(bodyRuns["each[1]/double"]).toBe(3);
  });

  test("names the waiting step when it is given no resume data", async () => {
    const workflow = createWorkflow({ id: "gate", input: order }).andThen({
      id: "approve",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend("why"),
    });
    await expect(crashTest({ workflow, input: { amount: 1 } })).rejects.toThrow("waits at approve");
  });

  test("an execution that does not end is stuck, and the test continues", async () => {
    let runs = 0;
    const workflow = createWorkflow({ id: "hangs", input: order }).andThen({
      id: "once",
      execute: () => (++runs === 1 ? "done" : new Promise<string>(() => undefined)),
    });
    const { differences } = await crashTest({ workflow, input: { amount: 1 }, timeout: 200 });
    expect(differences[0]).toContain('status is "stuck", undisturbed "completed"');
  });

  test("an execution that does not end without a crash is stuck, and no crash is tried", async () => {
    const workflow = createWorkflow({ id: "hangs-always", input: order }).andThen({
      id: "never",
      execute: () => new Promise<string>(() => undefined),
    });
    const { expected, runs } = await crashTest({ workflow, input: { amount: 1 }, timeout: 200 });
    expect(expected.status).toBe("stuck");
    expect(runs).toEqual([]);
  });
});
