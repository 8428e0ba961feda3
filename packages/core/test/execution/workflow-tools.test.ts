// Workflows as tools of an agent that a step of a workflow asks: nested, in sub-agents, with crashes at every write.
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { type WorkflowToolOptions, workflowTool } from "../../src/agent/call/workflow-tool.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { flow, onMemory } from "../support/test-andante.ts";

const anything = z.object({});

/** An agent that calls its only tool once, and says what that returned. */
function caller(id: string, workflow: WorkflowDefinition, options?: WorkflowToolOptions) {
  const model = controlledModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return { text: [`${id} read ${JSON.stringify(last.content)}`] };
    return { calls: [{ id: "call-1", name: "run", input: {} }] };
  });
  return { model, agent: new Agent({ id, model, tools: { run: workflowTool(workflow, options) } }) };
}

let gates = 0;
function gate() {
  return createWorkflow({ id: `gate-${++gates}`, input: anything }).andThen({
    id: "gate",
    execute: ({ suspend, resumeData }) => resumeData ?? suspend("Open?"),
  });
}

async function open(andante: Andante, workflowId: string): Promise<string> {
  const { items } = await andante.live.waiting({ workflowId, limit: 10 });
  const [item] = items;
  expect(items).toHaveLength(1);
  await andante.resume(workflowId, item?.executionId ?? "", "opened");
  return item?.executionId ?? "";
}

onMemory((bench) => {
  test("a workflow in an agent in a workflow, three deep: the innermost gate continues all of them", async () => {
    const inner = gate();
    const nested = (workflow: WorkflowDefinition, id: string) => {
      const { agent, model } = caller(id, workflow);
      const step = { id: "ask", agent, prompt: "go" };
      const above = createWorkflow({ id: `above-${workflow.id}`, input: anything }).andAgent(step);
      return { above, model };
    };
    const one = nested(inner, "one");
    const two = nested(one.above, "two");
    const three = nested(two.above, "three");
    const all = [inner, one.above, two.above, three.above];
    const andante = bench.andante(...all);
    const started = await andante.execute(three.above.id, {});
    expect(started).toMatchObject({
      status: "suspended",
      suspension: { stepPath: "ask#call[0].tool[0].child" },
    });
    await expect.poll(async () => (await andante.live.waiting({ limit: 10 })).items.length).toBe(1);
    await open(andante, inner.id);
    const state = () => andante.state(three.above.id, started.executionId);
    await expect.poll(async () => (await state()).status).toBe("completed");
    const text = JSON.stringify((await state()).result);
    expect(text).toMatch(/three read.*two read.*one read.*opened/);
    for (const { model } of [one, two, three]) expect(model.asked).toHaveLength(2);
  });

  test("in a sub-agent: the sub-agent reads the result, once", async () => {
    const inner = gate();
    const { agent: below, model } = caller("below", inner);
    const above = controlledModel(({ prompt }) => {
      const last = prompt.at(-1);
      if (last?.role === "tool") return { text: [`above read ${JSON.stringify(last.content)}`] };
      return { calls: [{ id: "call-1", name: "below", input: { prompt: "go" } }] };
    });
    const agent = new Agent({ id: "above", model: above, subAgents: [below] });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(inner, workflow);
    const started = await andante.execute(workflow.id, {});
    expect(started.suspension?.stepPath).toBe("ask#call[0].tool[0].call[0].tool[0].child");
    await open(andante, inner.id);
    const state = () => andante.state(workflow.id, started.executionId);
    await expect.poll(async () => (await state()).status).toBe("completed");
    expect(JSON.stringify((await state()).result)).toMatch(/above read.*below read.*opened/);
    expect(model.asked).toHaveLength(2);
  });

  test("a workflow that ends at once is read like one that waits", async () => {
    const quick = createWorkflow({ id: "quick", input: anything }).andThen({
      id: "do",
      execute: () => "done",
    });
    const { agent } = caller("hasty", quick);
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(quick, workflow);
    const { executionId } = await andante.start(workflow.id, {});
    const state = () => andante.state(workflow.id, executionId);
    await expect.poll(async () => (await state()).status).toBe("completed");
    expect(JSON.stringify((await state()).result)).toContain("done");
  });

  test("an execution that goes back to an earlier step starts the workflow again", async () => {
    let runs = 0;
    const quick = createWorkflow({ id: "counted", input: anything }).andThen({
      id: "do",
      execute: () => `run ${++runs}`,
    });
    const { agent } = caller("returning", quick);
    const workflow = flow()
      .andThen({ id: "first", execute: () => "go" })
      .andAgent({ id: "ask", agent, prompt: "go" })
      .andThen({ id: "check", execute: ({ data, suspend, resumeData }) => resumeData ?? suspend(data.text) });
    const andante = bench.andante(quick, workflow);
    const { executionId } = await andante.start(workflow.id, {});
    const reason = async () => (await andante.state(workflow.id, executionId)).suspension?.reason ?? "";
    await expect.poll(reason).toContain("run 1");
    await andante.resume(workflow.id, executionId, null, { stepId: "first" });
    await expect.poll(reason).toContain("run 2");
  });

  test("the caller cannot resume the wait for a workflow", async () => {
    const inner = gate();
    const { agent } = caller("guarded", inner);
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(inner, workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, {});
    const resumed = [
      andante.resume(workflow.id, executionId, "forged"),
      andante.resume(workflow.id, executionId, "forged", { suspensionId: suspension?.suspensionId ?? "" }),
    ];
    for (const each of resumed) await expect(each).rejects.toThrow(/not suspended/);
    expect((await andante.state(workflow.id, executionId)).status).toBe("suspended");
  });

  test("a workflow that takes longer than the tool allows fails, and its error is the tool's", async () => {
    const clock = new TestClock();
    const inner = gate();
    const { agent } = caller("patient", inner, { timeout: "1h" });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andanteWith({ clock, workflows: { [inner.id]: inner, [workflow.id]: workflow } });
    const { executionId } = await andante.execute(workflow.id, {});
    clock.advance("2h");
    const state = () => andante.state(workflow.id, executionId);
    await expect.poll(async () => (await state()).status).toBe("completed");
    expect(JSON.stringify((await state()).result)).toMatch(/gate-\d+ failed: .*3600000/);
  });

  test("the end of an execution cancels its workflows, however it ends", async () => {
    const inner = gate();
    const { agent } = caller("short", inner);
    const asking = { id: "ask", agent, prompt: "go" };
    const cancelled = flow().andAgent(asking);
    const bailed = flow().andAll({
      id: "both",
      steps: [(chain) => chain.andAgent(asking), (chain) => chain.andThen({ id: "fail", execute: failed })],
    });
    const andante = bench.andante(inner, cancelled, bailed);
    const one = await andante.execute(cancelled.id, {});
    await andante.cancel(cancelled.id, one.executionId);
    await expect
      .poll(async () => (await childrenOf(andante)).map(({ status }) => status))
      .toEqual(["cancelled"]);
    expect((await andante.execute(bailed.id, {})).status).toBe("error");
    await expect
      .poll(async () => (await childrenOf(andante)).map(({ status }) => status))
      .toEqual(["cancelled", "cancelled"]);

    async function failed(): Promise<never> {
      await expect.poll(async () => (await childrenOf(andante)).length).toBe(2);
      throw new Error("The other one fails");
    }
    async function childrenOf(of: Andante) {
      return (await of.list({ workflowId: inner.id })).executions;
    }
  });
});
