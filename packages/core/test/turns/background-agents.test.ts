// Sub-agents that work in the background of a chat: each task is an execution of its own, whose end is a message.
import { tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { Store } from "../../src/store/store.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Clock } from "../../src/values/clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { all, ask, kept, openStore } from "./processes.ts";

interface ProcessOptions {
  readonly crash?: Crash;
  readonly clock?: Clock;
  readonly below?: Partial<Exclude<NonNullable<AgentOptions["subAgents"]>[number], { generate: unknown }>>;
}

/** An agent that hands one task to a researcher, who looks something up, and thanks for its report. */
function start(store: Store, { crash, clock, below }: ProcessOptions = {}) {
  const life = crashingStore(store, crash);
  const looked: string[] = [];
  const look = tool({
    inputSchema: z.object({}),
    execute: () => {
      looked.push("tea");
      return "green";
    },
  });
  const researching = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { text: ["It is green."] } : { calls: [{ name: "look", input: {} }] },
  );
  const researcher = new Agent({
    ...{ id: "researcher", purpose: "Finds facts", model: researching, tools: { look } },
    toolApproval: { look: "user-approval" },
  });
  const model = controlledModel(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("has completed")) return { text: [`Thanks: ${last.includes("It is green.")}`] };
    if (prompt.at(-1)?.role === "tool") return { text: ["It is being looked up."] };
    return { calls: [{ name: "researcher", input: { prompt: "Which colour has tea?" } }] };
  });
  const clerk = new Agent({
    ...{ id: "clerk", model, subAgents: [{ agent: researcher, background: true, ...below }] },
  });
  const logger = new RecordingLogger();
  const options = { agents: { clerk }, store: life.store, logger };
  const andante: Andante = createAndante({ ...options, ...(clock && { clock }) });
  const end = async () => {
    await andante.close({ grace: 0 });
    await life.bury();
  };
  onTestFinished(end);
  const approve = async () => {
    const [item] = (await andante.live.waiting({ limit: 10 })).items;
    if (item === undefined) return undefined;
    await andante.resume(item.workflowId, item.executionId, { approved: true });
    return item;
  };
  return { andante, life, model, researching, looked, approve, end };
}

test("the call returns at once, the task is an execution, and its end is a message", async () => {
  const { andante, model, researching, looked, approve } = start(await openStore());
  await all(await ask(andante, "u1"));
  expect((await kept(andante)).at(-1)?.[1]).toBe("It is being looked up.");
  expect(model.asked[0]?.tools?.[0]).toMatchObject({
    name: "researcher",
    description: expect.stringMatching(/^Finds facts It works in the background/),
    inputSchema: { required: ["prompt"] },
  });
  await expect
    .poll(approve)
    .toMatchObject({ workflowId: "researcher-task", userId: "ada", conversationId: "talk" });
  await expect.poll(async () => (await kept(andante)).at(-1)?.[1]).toContain("It is green.");
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user"]);
  expect(looked).toEqual(["tea"]);
  expect(JSON.stringify(researching.asked[0]?.prompt)).toContain("Which colour has tea?");
  expect(model.asked).toHaveLength(2);
});

test("after a crash at any write the agent that is woken replies once, and the work was done once", {
  timeout: 240_000,
}, async () => {
  for (const crash of crashPoints({ variants: ["unacknowledged"] })) {
    const store = await openStore();
    const below = { wake: true };
    const lived = async ({ andante, approve }: ReturnType<typeof start>) => {
      await andante.ready();
      if ((await kept(andante).catch(() => [])).length === 0) await all(await ask(andante, "u1"));
      await expect
        .poll(async () => {
          await approve().catch(() => undefined);
          return (await kept(andante)).at(-1)?.[1];
        })
        .toBe("Thanks: true");
    };
    const first = start(store, { below, crash });
    const life = lived(first);
    life.catch(() => undefined);
    await Promise.race([life, first.life.crash]);
    const { crashed } = first.life;
    await first.end();
    const next = start(store, { below });
    await lived(next);
    const said = await kept(next.andante);
    expect(
      said.map(([role]) => role),
      `write ${crash.write}`,
    ).toEqual(["user", "assistant", "user", "assistant"]);
    const { executions } = await next.andante.list({ workflowId: "researcher-task" });
    expect(executions.map(({ status }) => status)).toEqual(["completed"]);
    expect([...first.looked, ...next.looked], `write ${crash.write}`).toEqual(["tea"]);
    await next.end();
    if (!crashed) return;
  }
});

test("a task has a time limit", async () => {
  const clock = new TestClock();
  const { andante } = start(await openStore(), { clock, below: { timeout: "1h" } });
  await all(await ask(andante, "u1"));
  await expect.poll(async () => (await andante.live.waiting({ limit: 1 })).items.length).toBe(1);
  clock.advance("2h");
  await expect.poll(async () => (await kept(andante)).at(-1)?.[1]).toContain("has failed");
});

test("only agents start it: for a caller who would, the workflow does not exist", async () => {
  const { andante } = start(await openStore());
  await expect(andante.execute("researcher-task", { prompt: "Mine" })).rejects.toMatchObject({
    code: "workflow-not-found",
  });
});

test("several agents may share one; another one of its id, and options without a background, are refused", async () => {
  const model = controlledModel(() => ({ text: ["hi"] }));
  const helper = new Agent({ id: "helper", model });
  const below = { agent: helper, background: true };
  const one = new Agent({ id: "one", model, subAgents: [below] });
  const two = new Agent({ id: "two", model, subAgents: [below, one] });
  const store = await openStore();
  const andante = createAndante({ agents: { two, one }, store: crashingStore(store).store });
  onTestFinished(() => andante.close());
  expect(andante.workflows().map(({ id }) => id)).toEqual(["helper-task"]);
  expect(two.subAgents).toEqual([helper, one]);
  const other = new Agent({
    id: "three",
    model,
    subAgents: [{ ...below, agent: new Agent({ id: "helper", model }) }],
  });
  expect(() => createAndante({ agents: { one, other }, store })).toThrow(/there is another one with this id/);
  const own = createWorkflow({ id: "helper-task", input: z.object({}) }).andThen({
    id: "a",
    execute: () => 1,
  });
  expect(() => createAndante({ agents: { one }, workflows: { own }, store })).toThrow(
    /another one with this id/,
  );
  const make = (subAgent: object) => new Agent({ id: "a", model, subAgents: [Object(subAgent)] });
  expect(() => make({ agent: helper, wake: true })).toThrow("are for background: true");
  expect(() => make({ agent: helper, background: true, wakes: true })).toThrow(/wakes/);
});
