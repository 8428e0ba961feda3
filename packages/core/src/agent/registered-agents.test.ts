// The registered agents of one Andante: their list, their tools, and the replies that are attached to or stopped.
import type { UIMessageChunk } from "ai";
import { expect, test, vi } from "vitest";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../test/support/in-time.ts";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { TestClock } from "../test-kit/test-clock.ts";
import { Agent } from "./agent.ts";
import { Agents } from "./agents.ts";
import type { AgentOptions } from "./call/agent-options.ts";
import { FilePool } from "./call/file-budget.ts";

const model = controlledModel(() => ({ text: ["hello"] }));
const agentOf = (id: string, options: Partial<AgentOptions> = {}) => new Agent({ id, model, ...options });

function heldTools() {
  const [retain, release] = [vi.fn(), vi.fn(async () => undefined)];
  return { retain, release, tools: Object.assign(() => ({}), { retain, release }) };
}

function agentsForTest(given: readonly Agent[], fields: object = {}) {
  const logger = new RecordingLogger();
  const agents = new Agents(
    Object({
      agents: new Map(given.map((agent) => [agent.id, agent])),
      ...{ asked: [], approvals: {}, maxReplies: 10, conversations: {} },
      executions: { live: async () => undefined },
      ...{ clock: new TestClock(), files: new FilePool(), maxContext: 1e6, logger, ready: Promise.resolve() },
      ...fields,
    }),
  );
  return { agents, logger };
}

test("agents are listed in order, without their instructions", async () => {
  const { agents } = agentsForTest([agentOf("b", { instructions: "Be brief" }), agentOf("a")]);
  const summary = (id: string) => ({
    ...{ id, name: id, purpose: "", model: "scripted/scripted", tools: [], subAgents: [], status: "idle" },
  });
  expect(await agents.list()).toEqual([summary("b"), summary("a")]);
  expect(await agents.read("b")).toEqual({ ...summary("b"), instructions: "Be brief" });
  expect(agents.kept.agentIds).toEqual(["b", "a"]);
  const unknown = { code: "agent-not-found" };
  await expect(agents.read("c")).rejects.toMatchObject(unknown);
  expect(() => agents.check("c")).toThrow(expect.objectContaining(unknown));
  expect(() => agents.check("a")).not.toThrow();
});

test("an agent is running while it replies", async () => {
  const { agents } = agentsForTest([agentOf("a"), agentOf("b")]);
  const stream = await agents.stream("a", "hi");
  expect((await agents.list()).map(({ status }) => status)).toEqual(["running", "idle"]);
  await allInTime(stream, "the end of the reply");
  expect((await agents.read("a")).status).toBe("idle");
});

test("tools that are held open are retained once each, and released at the end", async () => {
  const [shared, below, asked] = [heldTools(), heldTools(), heldTools()];
  const inner = agentOf("inner", { tools: below.tools });
  const given = [
    agentOf("a", { tools: shared.tools, subAgents: [inner] }),
    agentOf("b", { tools: shared.tools }),
  ];
  const { agents } = agentsForTest(given, { asked: [agentOf("c", { tools: asked.tools }), {}] });
  for (const { retain, release } of [shared, below, asked])
    expect([retain.mock.calls.length, release.mock.calls.length]).toEqual([1, 0]);
  await agents.releaseTools();
  for (const { release } of [shared, below, asked]) expect(release).toHaveBeenCalledTimes(1);
});

test("the modules of replies are loaded once in a process, by the first that needs them", async () => {
  const [{ agents }, { agents: others }] = [agentsForTest([agentOf("a")]), agentsForTest([agentOf("b")])];
  const loading = agents.loadReplies();
  expect([others.areRepliesRequested, others.loadReplies() === loading]).toEqual([true, true]);
  expect((await loading).textReply).toBeTypeOf("function");
});

test("an unknown agent is refused by every way to ask", async () => {
  const { agents } = agentsForTest([]);
  const schema = { type: "object" };
  const unknown = { code: "agent-not-found" };
  for (const asked of [
    agents.text("a", "hi"),
    agents.object("a", "hi", schema),
    agents.stream("a", "hi"),
    agents.streamObject("a", "hi", schema),
    agents.chat("a", "hi"),
    agents.attach("a", "c"),
    agents.stop("a", "c"),
  ])
    await expect(asked).rejects.toMatchObject(unknown);
});

test("without a conversation each way to ask has its reply", async () => {
  const counting = controlledModel(() => ({ text: ['{"n":1}'] }));
  const { agents } = agentsForTest([new Agent({ id: "a", model: counting })]);
  const schema = { type: "object", required: ["n"] };
  const end = <T>(items: AsyncIterable<T>) => allInTime(items, "the end of the reply");
  expect(await agents.text("a", "hi")).toMatchObject({ text: '{"n":1}' });
  expect(await agents.object("a", "hi", schema)).toEqual({ n: 1 });
  expect((await end(await agents.stream("a", "hi"))).at(-1)).toMatchObject({ type: "finish" });
  expect((await end(await agents.streamObject("a", "hi", schema))).at(-1)).toEqual({
    ...{ type: "object", object: { n: 1 } },
  });
  expect((await end(await agents.chat("a", "hi"))).at(-1)).toMatchObject({ type: "finish" });
  await expect(agents.chat("a", "hi", { resumable: true })).rejects.toThrow("Invalid option resumable");
  await agents.close(0);
  await expect(agents.text("a", "hi")).rejects.toMatchObject({ code: "shutting-down" });
});

/** Agents beside another process, in which this turn is live. */
function besideOthers(live: object | undefined) {
  const ended = vi.fn(async () => undefined);
  const askToStop = vi.fn();
  const others = { running: vi.fn(async () => live), ended, askToStop };
  const body = JSON.stringify({ id: "m", role: "assistant", parts: [{ type: "text", text: "hi" }] });
  const recent = async () => [{ messageId: "m", body, partial: false }];
  const endWait = vi.fn(async () => true);
  const executions = { others, endWait, live: async () => live };
  return {
    ...agentsForTest([agentOf("a"), agentOf("b")], { executions, conversations: { recent } }),
    others,
    endWait,
  };
}

const live = {
  ...{ executionId: "e", agentId: "a", userId: "ada", input: { agentId: "a", messageId: "m" } },
  ...{ waitsSince: undefined, waitsForTools: false },
};

test("the reply of another process is attached to and stopped by its agent and user", async () => {
  const { agents, others, endWait } = besideOthers(live);
  const chunks = await agents.attach("a", "c", { userId: "ada" });
  if (chunks === undefined) throw new Error("no reply runs");
  const types = (await allInTime<UIMessageChunk>(chunks, "the reply")).map(({ type }) => type);
  expect(types).toEqual(["start", "text-start", "text-delta", "text-end", "finish"]);
  expect(others.running.mock.calls).toEqual([["c"]]);
  for (const [agentId, userId] of [
    ["b", "ada"],
    ["a", "eve"],
  ] as const) {
    expect(await agents.attach(agentId, "c", { userId })).toBeUndefined();
    expect(await agents.stop(agentId, "c", { userId })).toBe(false);
  }
  expect(others.askToStop).not.toHaveBeenCalled();
  expect(await inTime(agents.stop("a", "c"), "the end of the turn")).toBe(true);
  expect(others.askToStop.mock.calls).toEqual([["e"]]);
  expect(endWait).not.toHaveBeenCalled();
});

test("a reply whose tools wait is ended by its agent and user, and no process is asked to stop it", async () => {
  const waits = { ...live, waitsSince: 1, waitsForTools: true };
  const { agents, others, endWait } = besideOthers(waits);
  others.running.mockResolvedValue(undefined);
  for (const [agentId, userId] of [
    ["b", "ada"],
    ["a", "eve"],
  ] as const)
    expect(await agents.stop(agentId, "c", { userId })).toBe(false);
  expect(endWait).not.toHaveBeenCalled();
  expect(await agents.stop("a", "c", { userId: "ada" })).toBe(true);
  expect(endWait.mock.calls).toEqual([[waits]]);
  expect(others.askToStop).not.toHaveBeenCalled();
});

test("a turn that runs here and cannot be attached to is its caller's alone", async () => {
  const { agents } = besideOthers(live);
  vi.spyOn(agents.kept, "has").mockImplementation((id) => id === "e");
  expect(await agents.attach("a", "c")).toBeUndefined();
  expect(await agents.stop("a", "c")).toBe(false);
});

test("where no turn is live, or no other process is there, nothing is attached to or stopped", async () => {
  for (const { agents } of [besideOthers(undefined), agentsForTest([agentOf("a")])]) {
    expect(await agents.attach("a", "c")).toBeUndefined();
    expect(await agents.stop("a", "c")).toBe(false);
  }
});

test("a turn that this process has is stopped by its execution", () => {
  const { agents } = agentsForTest([agentOf("a")]);
  const stop = vi.spyOn(agents.kept, "stop");
  agents.stopTurn("e");
  expect(stop.mock.calls).toEqual([["e"]]);
});
