// The budget of an execution: reached, it stops the loop of the agent, or waits for a person's word.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import type { ExecutionBudget } from "../../src/workflow/step.ts";
import { andAgent } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** An agent that calls its tool three times, 15 tokens each time, before its last reply. */
function looper(id = "a", wait?: (call: number) => unknown) {
  const ran: number[] = [];
  const model = controlledModel(({ prompt }, number) => {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    const hold = () => wait?.(number);
    return step < 3
      ? { text: [`step ${step}`], calls: [{ name: "work", id: `c${step}`, input: {} }], hold }
      : { text: ["done"], hold };
  });
  const work = tool({ inputSchema: z.object({}), execute: () => ran.push(1) });
  return { agent: new Agent({ id, model, tools: { work } }), model, ran };
}

/** Two steps side by side, each with an agent of its own, that share one budget. `hold`: before a call of the first. */
function pair(budget: ExecutionBudget, hold?: (call: number) => unknown) {
  const loopers = [looper("left", hold), looper("right")];
  const [left, right] = loopers.map(({ agent }, index) =>
    andAgent({ id: `ask-${index}`, agent, prompt: "go", budget }),
  );
  if (left === undefined || right === undefined) throw new Error("unreachable");
  const workflow = flow().andAll({ id: "both", steps: [left, right] });
  return { workflow, models: loopers.map(({ model }) => model) };
}

async function waitingPaths(andante: Andante, workflowId: string, executionId: string) {
  const { suspensions = [] } = await andante.state(workflowId, executionId);
  const [first, second, ...others] = suspensions.map(({ stepPath }) => stepPath);
  if (!first || !second || others.length > 0) throw new Error(`not two: ${JSON.stringify(suspensions)}`);
  return [first, second] as const;
}

const resumeAt = (andante: Andante, workflowId: string, executionId: string, stepId: string, data: object) =>
  andante.resume(workflowId, executionId, data, { stepId });

const asking = (budget: ExecutionBudget, fields: object = {}) => {
  const { agent, model, ran } = looper();
  const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", budget, ...fields });
  return { workflow, model, ran };
};

onMemory((bench) => {
  test("a budget that is not reached changes nothing", async () => {
    const { workflow, model } = asking({ tokens: 1000, calls: 10 });
    const andante = bench.andante(workflow);
    expect(await andante.execute(workflow.id, 1)).toMatchObject({ result: { text: "done" } });
    expect(model.asked).toHaveLength(4);
  });

  test("the usage so far is known without reading the journal", async () => {
    const { workflow } = asking({ tokens: 1000 });
    let reads = 0;
    const store = wrapStore(bench.store, {
      events: (query) => {
        reads++;
        return bench.store.events(query);
      },
    });
    expect(await bench.andanteWith({ store }, workflow).execute(workflow.id, 1)).toMatchObject({
      status: "completed",
      usage: { calls: 4 },
    });
    expect(reads).toBe(0);
  });

  test("reached, it stops the loop and fails the step, saying so", async () => {
    const { workflow, model } = asking({ tokens: 30 });
    const andante = bench.andante(workflow);
    const { executionId, status } = await andante.execute(workflow.id, 1);
    expect(status).toBe("error");
    expect(model.asked).toHaveLength(2);
    const events = await andante.events(workflow.id, executionId);
    expect(JSON.stringify(events)).toContain("the execution has used its budget");
  });

  test("with allowIncomplete the text so far counts", async () => {
    const { workflow, model } = asking({ calls: 2 }, { allowIncomplete: true });
    const andante = bench.andante(workflow);
    expect(await andante.execute(workflow.id, 1)).toMatchObject({ result: { text: "step 1" } });
    expect(model.asked).toHaveLength(2);
  });

  test("the usage of other steps counts; a step with no model call left fails", async () => {
    const { agent, model } = looper("second");
    const workflow = flow()
      .andAgent({ id: "first", agent: looper().agent, prompt: "go" })
      .andAgent({ id: "second", agent, prompt: "go", budget: { calls: 4 } });
    const andante = bench.andante(workflow);
    const { executionId, status } = await andante.execute(workflow.id, 1);
    expect(status).toBe("error");
    expect(model.asked).toHaveLength(0);
    const events = await andante.events(workflow.id, executionId);
    expect(JSON.stringify(events)).toContain("The execution has used its budget of 4 model calls");
  });

  test("it waits for a person, who allows more; finished calls of the model and of tools are not repeated", async () => {
    const { workflow, model, ran } = asking({ tokens: 30, onReached: "suspend" });
    const andante = bench.andante(workflow);
    const { executionId, status, suspension } = await andante.execute(workflow.id, 1);
    expect(status).toBe("suspended");
    expect(suspension).toMatchObject({
      stepPath: "ask#call[2]",
      reason: "The execution has used its budget of 30 tokens",
      data: { used: { totalTokens: 30, calls: 2 }, budget: { tokens: 30 } },
    });
    await expect(andante.resume(workflow.id, executionId, { approved: "yes" })).rejects.toThrow();
    const again = await andante.resume(workflow.id, executionId, { approved: true, tokens: 15 });
    expect(again).toMatchObject({ status: "suspended", suspension: { stepPath: "ask#call[3]" } });
    const ended = await andante.resume(workflow.id, executionId, { approved: true });
    expect(ended).toMatchObject({ status: "completed", result: { text: "done" }, usage: { calls: 4 } });
    expect([model.asked.length, ran.length]).toEqual([4, 3]);
  });

  test("a step with no model call left waits before the first call, and then keeps to its new allowance", async () => {
    const { workflow, model } = asking({ calls: 4, tokens: 1000, onReached: "suspend" });
    const first = flow().andAgent({ id: "ask", agent: looper().agent, prompt: "go" });
    const both = flow().andWorkflow({ id: "before", workflow: first }).andWorkflow({ id: "then", workflow });
    const andante = bench.andante(both);
    const { executionId, suspension } = await andante.execute(both.id, 1);
    expect(suspension).toMatchObject({ stepPath: "then/ask#call[0]" });
    expect(model.asked).toHaveLength(0);
    const again = await andante.resume(both.id, executionId, { approved: true, calls: 1 });
    expect(again).toMatchObject({
      suspension: { stepPath: "then/ask#call[1]", data: { used: { calls: 5 } } },
    });
    // Both limits stay in force: an allowance of the one does not change the other.
    const tokens = await andante.resume(both.id, executionId, { approved: true, calls: 10, tokens: 15 });
    expect(tokens).toMatchObject({
      suspension: {
        stepPath: "then/ask#call[2]",
        reason: expect.stringContaining("tokens"),
      },
    });
  });

  test("an approved amount counts from the decision, not from the moment when the call began to wait", async () => {
    const { workflow, models } = pair({ calls: 2, onReached: "suspend" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const [first, second] = await waitingPaths(andante, workflow.id, executionId);
    // The first step uses all that it is allowed, and ends.
    await resumeAt(andante, workflow.id, executionId, first, { approved: true, calls: 3 });
    const used = () => models.reduce((sum, { asked }) => sum + asked.length, 0);
    const before = used();
    const result = await resumeAt(andante, workflow.id, executionId, second, { approved: true, calls: 3 });
    expect(result.status).toBe("completed");
    expect(used()).toBeGreaterThan(before);
  });

  test("an approval that another step has used up before the call waits again", async () => {
    const [asked, answer, counted] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    if (!asked || !answer || !counted) throw new Error("unreachable");
    // The call that the first step makes once it is approved.
    const hold = (call: number) => {
      if (call !== 2) return undefined;
      asked.resolve();
      return answer.promise;
    };
    // Once the second step is approved it reads the usage only after the first one has used the whole amount.
    let [resumes, holds] = [0, false];
    const store = wrapStore(bench.store, {
      resume: async (argument) => {
        const result = await bench.store.resume(argument);
        holds = ++resumes === 2;
        return result;
      },
      state: async (id) => {
        if (holds) await counted.promise;
        return bench.store.state(id);
      },
      commit: async (commit) => {
        const result = await bench.store.commit(commit);
        if (holds && commit.usage !== null) counted.resolve();
        return result;
      },
    });
    const { workflow, models } = pair({ calls: 2, onReached: "suspend" }, hold);
    const andante = bench.andanteWith({ store }, workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const [first, second] = await waitingPaths(andante, workflow.id, executionId);
    const more = { approved: true, calls: 1 };
    const one = resumeAt(andante, workflow.id, executionId, first, more);
    await asked.promise;
    const two = resumeAt(andante, workflow.id, executionId, second, more);
    two.then(undefined, () => undefined);
    await expect.poll(() => holds).toBe(true);
    answer.resolve();
    await Promise.all([one, two]);
    const { suspensions } = await andante.state(workflow.id, executionId);
    const used = expect.objectContaining({ calls: 3 });
    expect(suspensions).toContainEqual(
      expect.objectContaining({ stepPath: second, data: expect.objectContaining({ used }) }),
    );
    await resumeAt(andante, workflow.id, executionId, second, { approved: true, calls: 10 });
    expect(models[1]?.asked).toHaveLength(4);
  });

  test("a person who does not allow more ends the reply", async () => {
    const { workflow, model } = asking({ calls: 1, onReached: "suspend" }, { allowIncomplete: true });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const ended = await andante.resume(workflow.id, executionId, { approved: false });
    expect(ended).toMatchObject({ status: "completed", result: { text: "step 0" } });
    expect(model.asked).toHaveLength(1);
  });

  test("a person who allows no call fails the step; the resume schema describes the possible answers", async () => {
    const { agent, model } = looper("second");
    const workflow = flow()
      .andAgent({ id: "first", agent: looper().agent, prompt: "go" })
      .andAgent({ id: "second", agent, prompt: "go", budget: { calls: 4, onReached: "suspend" } });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    expect(suspension).toMatchObject({
      stepPath: "second#call[0]",
      resumeSchema: {
        properties: {
          approved: { type: "boolean", description: "Whether the agent may go on." },
          tokens: { description: "How many more tokens; as many as before when left out." },
          calls: { description: "How many more model calls; as many as before when left out." },
        },
        required: ["approved"],
        additionalProperties: false,
      },
    });
    const ended = await andante.resume(workflow.id, executionId, { approved: false });
    expect(ended.status).toBe("error");
    expect(model.asked).toHaveLength(0);
  });
});

test("killed at every commit, a loop that its budget stops ends at the same place", {
  timeout: 60_000,
}, async () => {
  const { workflow, ran } = asking({ calls: 2 }, { allowIncomplete: true });
  const { expected, runs, differences } = await crashTest({
    workflow,
    input: 1,
    reset: () => ran.splice(0),
    observe: () => undefined,
  });
  expect(expected).toMatchObject({ status: "completed", result: { text: "step 1" } });
  for (const { ending } of runs)
    expect(ending).toMatchObject({ status: "completed", result: { text: "step 1" }, usage: { calls: 2 } });
  expect(differences).toEqual([]);
});

test("a budget that is not one is refused", () => {
  expect(() => asking({ tokens: 0 })).toThrow("whole number of 1 or more");
  const wrong: object = { onReached: "explode" };
  expect(() => asking(wrong)).toThrow("onReached");
});
