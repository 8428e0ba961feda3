// The budget of an execution where sub-agents use it: a decision counts for the whole step.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import type { ExecutionBudget } from "../../src/workflow/step.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

const stepOf = ({ prompt }: { prompt: readonly { role: string }[] }) =>
  prompt.filter(({ role }) => role === "assistant").length;

const look = () => tool({ inputSchema: z.object({}), execute: () => "seen" });

/** An agent that says this, step by step. */
function speaker(id: string, script: readonly Said[], subAgents: readonly Agent[] = [], tools = {}) {
  const model = controlledModel((asked) => script[stepOf(asked)] ?? { text: ["end"] });
  return { agent: new Agent({ id, model, subAgents, tools: { look: look(), ...tools } }), model };
}

const lookOnce = (text: string): Said => ({ text: [text], calls: [{ name: "look", input: {} }] });
const ask = (text: string, ...agents: string[]): Said => ({
  text: [text],
  calls: agents.map((name) => ({ name, input: { prompt: "find it" } })),
});

/** A sub-agent with three calls of its model. */
const researcher = (id = "researcher") =>
  speaker(id, [lookOnce(`${id} 0`), lookOnce(`${id} 1`), { text: [`${id} found`] }]);

type Speaker = ReturnType<typeof speaker>;

function asking({ agent }: Speaker, budget: ExecutionBudget, fields: object = {}) {
  return flow().andAgent({ id: "ask", agent, prompt: "go", budget, ...fields });
}

/** An editor with six calls of models: its own, and three of the researcher in the middle. */
function editorial() {
  const sub = researcher();
  const main = speaker(
    "editor",
    [lookOnce("editor 0"), ask("editor 1", "researcher"), { text: ["done"] }],
    [sub.agent],
  );
  const asked = () => main.model.asked.length + sub.model.asked.length;
  return { main, sub, asked };
}

const pathsOf = async (andante: Andante, workflowId: string, executionId: string) =>
  (await andante.state(workflowId, executionId)).suspensions?.map(({ stepPath }) => stepPath) ?? [];

const one = { calls: 1, onReached: "suspend" } as const;

onMemoryAndFile((bench) => {
  test.each([false, true])(
    "an approved amount counts for the sub-agents too (restart: %s)",
    async (restarts) => {
      const { main, asked } = editorial();
      const workflow = asking(main, one);
      let andante = bench.andante(workflow);
      const { executionId, suspension } = await andante.execute(workflow.id, 1);
      expect(suspension?.stepPath).toBe("ask#call[1]");
      if (restarts) {
        await andante.close();
        andante = bench.andante(workflow);
      }
      const ended = await andante.resume(workflow.id, executionId, { approved: true, calls: 5 });
      expect(ended).toMatchObject({ status: "completed", result: { text: "done" }, usage: { calls: 6 } });
      expect(asked()).toBe(6);
    },
  );
});

onMemory((bench) => {
  test("it counts from the decision, once for the agent and its sub-agents, and waits where it is used up", async () => {
    const { main, asked } = editorial();
    const workflow = asking(main, one);
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const places: (string | null | undefined)[] = [];
    for (const calls of [2, 1, 2]) {
      const result = await andante.resume(workflow.id, executionId, { approved: true, calls });
      places.push(result.suspension?.stepPath ?? result.status);
    }
    // 1 + 2 calls, then 1 more, and 2 more: the last is that of the editor.
    expect(places).toEqual(["ask#call[1].tool[0].call[1]", "ask#call[1].tool[0].call[2]", "completed"]);
    expect(asked()).toBe(6);
  });

  test("an amount that was approved inside a sub-agent counts for the agent above it", async () => {
    const { main, sub, asked } = editorial();
    const workflow = asking(main, { calls: 2, onReached: "suspend" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    expect(suspension?.stepPath).toBe("ask#call[1].tool[0].call[0]");
    expect(sub.model.asked).toHaveLength(0);
    const ended = await andante.resume(workflow.id, executionId, { approved: true, calls: 4 });
    expect(ended).toMatchObject({ status: "completed", result: { text: "done" } });
    expect(asked()).toBe(6);
  });

  test.each([
    ["before its first call", 2, 0],
    ["in the middle", 3, 1],
  ])("a denial inside a sub-agent, %s, ends the reply with its text so far", async (_, calls, subCalls) => {
    for (const allowIncomplete of [true, false]) {
      const { main, sub } = editorial();
      const workflow = asking(main, { calls, onReached: "suspend" }, { allowIncomplete });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const ended = await andante.resume(workflow.id, executionId, { approved: false });
      expect([main.model.asked.length, sub.model.asked.length]).toEqual([2, subCalls]);
      if (allowIncomplete) expect(ended).toMatchObject({ status: "completed", result: { text: "editor 1" } });
      else {
        expect(ended.status).toBe("error");
        const events = await andante.events(workflow.id, executionId);
        expect(JSON.stringify(events)).toContain(
          "the execution has used its budget, and the last reply asks",
        );
      }
    }
  });

  test("two levels deep an approval counts for all, and a denial ends all", async () => {
    for (const approved of [true, false]) {
      const clerk = speaker("clerk", [lookOnce("clerk 0"), { text: ["clerk found"] }]);
      const sub = speaker("researcher", [ask("researcher 0", "clerk"), { text: ["found"] }], [clerk.agent]);
      const main = speaker("editor", [ask("editor 0", "researcher"), { text: ["done"] }], [sub.agent]);
      const workflow = asking(main, { calls: 3, onReached: "suspend" }, { allowIncomplete: true });
      const andante = bench.andante(workflow);
      const { executionId, suspension } = await andante.execute(workflow.id, 1);
      expect(suspension?.stepPath).toBe("ask#call[0].tool[0].call[0].tool[0].call[1]");
      const ended = await andante.resume(workflow.id, executionId, { approved });
      expect(ended).toMatchObject({ status: "completed", result: { text: approved ? "done" : "editor 0" } });
      const asked = [main, sub, clerk].map(({ model }) => model.asked.length);
      expect(asked).toEqual(approved ? [2, 2, 2] : [1, 1, 1]);
    }
  });

  const parallel = (tools = {}, ...more: string[]) => {
    const subs = [researcher("left"), researcher("right")];
    const main = speaker(
      "editor",
      [
        { text: ["editor 0"], calls: [...["left", "right"].map(task), ...more.map(plain)] },
        { text: ["done"] },
      ],
      subs.map(({ agent }) => agent),
      tools,
    );
    return { main, asked: () => [main, ...subs].map(({ model }) => model.asked.length) };
  };
  const task = (name: string) => ({ name, input: { prompt: "find it" } });
  const plain = (name: string) => ({ name, input: {} });

  test("one approval counts for all sub-agents that wait side by side", async () => {
    const { main, asked } = parallel();
    const workflow = asking(main, one);
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const waiting = await pathsOf(andante, workflow.id, executionId);
    expect(waiting).toEqual(["ask#call[0].tool[0].call[0]", "ask#call[0].tool[1].call[0]"]);
    const [stepId] = waiting;
    const ended = await andante.resume(workflow.id, executionId, { approved: true, calls: 7 }, { stepId });
    expect(ended).toMatchObject({ status: "completed", usage: { calls: 8 } });
    expect(asked()).toEqual([2, 3, 3]);
  });

  test("a sub-agent that continues with the amount of another one does not wait any more", async () => {
    const refund = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "refunded" });
    const { main, asked } = parallel({ refund }, "refund");
    const workflow = asking(main, one);
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const waiting = await pathsOf(andante, workflow.id, executionId);
    const [first, second] = ["ask#call[0].tool[0].call[0]", "ask#call[0].tool[1].call[0]"];
    expect(waiting.toSorted()).toEqual([first, second, "ask#call[0].tool[2]"]);
    const more = { approved: true, calls: 7 };
    await andante.resume(workflow.id, executionId, more, { stepId: first });
    expect(await pathsOf(andante, workflow.id, executionId)).toEqual(["ask#call[0].tool[2]"]);
    const late = andante.resume(workflow.id, executionId, { approved: false }, { stepId: second });
    await expect(late).rejects.toMatchObject({ name: "ResumeTargetError" });
    const ended = await andante.resume(workflow.id, executionId, { approved: true });
    expect(ended).toMatchObject({ status: "completed", result: { text: "done" } });
    expect(asked()).toEqual([2, 3, 3]);
  });

  test("a denial ends the sub-agents beside it, also those that an approval would allow", async () => {
    const refund = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "refunded" });
    const { main, asked } = parallel({ refund }, "refund");
    const workflow = asking(main, one, { allowIncomplete: true });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    // Both go on, one call each at the same time, and wait again.
    const [left, right] = ["ask#call[0].tool[0]", "ask#call[0].tool[1]"];
    const decide = (stepId: string, approved: boolean) =>
      andante.resume(workflow.id, executionId, { approved }, { stepId });
    await decide(`${left}.call[0]`, true);
    const again = [`${left}.call[1]`, `${right}.call[1]`, "ask#call[0].tool[2]"];
    expect((await pathsOf(andante, workflow.id, executionId)).toSorted()).toEqual(again);
    await decide(`${right}.call[1]`, false);
    // The tool was asked for before, and still waits; the sub-agents do not.
    expect(await pathsOf(andante, workflow.id, executionId)).toEqual(["ask#call[0].tool[2]"]);
    const ended = await decide("ask#call[0].tool[2]", true);
    expect(ended).toMatchObject({ status: "completed", result: { text: "editor 0" } });
    expect(asked()).toEqual([1, 1, 1]);
  });

  test("the agent's own budget counts the calls of sub-agents that are recorded and not read again", async () => {
    const refund = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "refunded" });
    const sub = researcher();
    const script = [ask("editor 0", "researcher"), { calls: [plain("refund")] }, lookOnce("editor 2")];
    const model = controlledModel((asked) => script[stepOf(asked)] ?? { text: ["end"] });
    const [tools, budget] = [{ refund, look: look() }, { calls: 6 }];
    const agent = new Agent({ id: "editor", model, subAgents: [sub.agent], tools, budget });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", allowIncomplete: true });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const ended = await andante.resume(workflow.id, executionId, { approved: true });
    expect(ended).toMatchObject({ result: { text: "editor 2" }, usage: { calls: 6 } });
  });

  test("each step has its own decisions, and a rewind forgets those of the step", async () => {
    const first = editorial();
    const workflow = asking(first.main, one).andThen({
      id: "again",
      execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend("again?") : 1),
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const waiting = await andante.resume(workflow.id, executionId, { approved: true, calls: 5 });
    expect(waiting.suspension?.stepPath).toBe("again");
    const rewound = await andante.resume(workflow.id, executionId, {}, { stepId: "ask" });
    expect(rewound.suspension?.stepPath).toBe("ask#call[0]");
  });
});

test("killed at every commit, sub-agents that a budget stops end at the same place", {
  timeout: 60_000,
}, async () => {
  const { main } = editorial();
  const workflow = asking(main, { calls: 3 }, { allowIncomplete: true });
  const { expected, differences } = await crashTest({
    ...{ workflow, input: 1, reset: () => undefined, observe: () => undefined },
  });
  expect(expected).toMatchObject({ status: "completed", result: { text: "editor 1" }, usage: { calls: 3 } });
  expect(differences).toEqual([]);
});
