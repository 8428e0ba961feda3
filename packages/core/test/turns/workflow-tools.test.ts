// Workflows as tools of a chat: the turn is idle while the workflow runs, and continues when it has ended.
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { workflowTool } from "../../src/agent/call/workflow-tool.ts";
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
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, kept, openStore, userMessage } from "./processes.ts";

const conversationId = "talk";

interface ProcessOptions {
  readonly crash?: Crash;
  readonly clock?: Clock;
  readonly tool?: Parameters<typeof workflowTool>[1];
  readonly agent?: Partial<AgentOptions>;
  /** Holds the reply to a message with the word "slow". */
  readonly hold?: Promise<void>;
}

/** What the workflow has done, in all processes. */
class Effects {
  readonly published: unknown[] = [];
}

const article = z.object({ title: z.string() });

function publishOf(effects: Effects) {
  return createWorkflow({ id: "publish", purpose: "Publishes an article", input: article })
    .andThen({
      id: "approve",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ data, suspend, resumeData }) =>
        resumeData === undefined
          ? suspend("Publish it?", data, { deadline: "30d", onDeadline: { resume: { approved: false } } })
          : { ...data, ...resumeData },
    })
    .andThen({
      id: "publish",
      execute: ({ data }) => {
        if (!data.approved) throw new Error("Not approved");
        effects.published.push(data.title);
        return { url: `/${data.title}` };
      },
    });
}

/** An agent that publishes, which waits for a person, and says the outcome. */
function start(store: Store, effects: Effects, { crash, clock, tool, agent, hold }: ProcessOptions = {}) {
  const life = crashingStore(store, crash);
  const logger = new RecordingLogger();
  const publish = publishOf(effects);
  const model = controlledModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return { text: [`After ${JSON.stringify(last.content)}`] };
    if (JSON.stringify(last).includes("else")) return { text: ["Something else."] };
    if (JSON.stringify(last).includes("slow")) return { text: ["Slowly."], hold: () => hold };
    const calls = [{ id: "call-1", name: "publish", input: { title: "tea" } }];
    return { text: ["Let me publish. "], calls };
  });
  const clerk = new Agent({
    id: "clerk",
    model,
    tools: { publish: workflowTool(publish, tool) },
    recoverWithin: "90d",
    ...agent,
  });
  const options = { agents: { clerk }, workflows: { publish }, store: life.store, logger };
  const andante = createAndante({ ...options, ...(clock && { clock }) });
  const end = async () => {
    await andante.close({ grace: 0 });
    await life.bury();
  };
  onTestFinished(end);
  return { andante, model, life, logger, end };
}

async function waits(andante: Andante) {
  await andante.ready();
  return (await andante.live.waiting({ limit: 10 })).items;
}

async function approve(andante: Andante, approved = true) {
  const [item] = await waits(andante);
  await andante.resume("publish", item?.executionId ?? "", { approved });
}

const replyOf = async (andante: Andante) => (await kept(andante)).at(-1)?.[1];
const finished = (andante: Andante) => expect.poll(() => replyOf(andante)).toContain("After");

test("the stream ends with a part for the workflow; its gate is in the inbox, the wait for it is not", async () => {
  const store = await openStore();
  const { andante, model } = start(store, new Effects());
  const chunks = await all(await ask(andante, "u1"));
  const stepPath = "reply#call[0].tool[0].child";
  const items = await waits(andante);
  expect(items).toMatchObject([
    { workflowId: "publish", userId: "ada", conversationId, suspension: { reason: "Publish it?" } },
  ]);
  const executionId = items[0]?.executionId;
  const reason = "The tool publish waits for the workflow publish";
  const data = { toolName: "publish", toolCallId: "call-1", reason, stepPath, executionId };
  expect(chunks.filter(({ type }) => type === "data-waiting")).toEqual([
    { type: "data-waiting", id: stepPath, data },
  ]);
  const [asked] = model.asked[0]?.tools ?? [];
  expect(asked).toMatchObject({
    ...{ name: "publish", description: "Publishes an article" },
    inputSchema: { properties: { title: { type: "string" } } },
  });
  const live = await store.liveTurn(conversationId);
  expect([live?.status, live?.owner], "the claim is released").toEqual(["suspended", null]);
  const turn = await store.state(live?.executionId ?? "");
  const { suspensionId = "" } = turn?.suspensions[0] ?? {};
  const forged = andante.agents.resume(conversationId, { suspensionId, resumeData: { url: "/forged" } });
  await expect(forged, "only the workflow ends the wait").rejects.toThrow(/not suspended/);
});

test("the end of the workflow continues the reply with its result, once", async () => {
  const store = await openStore();
  const effects = new Effects();
  const { andante, model } = start(store, effects);
  await all(await ask(andante, "u1"));
  const [item] = await waits(andante);
  await approve(andante);
  await finished(andante);
  expect(effects.published).toEqual(["tea"]);
  expect(await replyOf(andante)).toContain('"url":"/tea"');
  expect(model.asked).toHaveLength(2);
  const { messages } = await andante.conversations.messages(conversationId);
  const types = messages.at(-1)?.parts.map(({ type }) => type);
  expect(types).toEqual(["step-start", "text", "tool-publish", "step-start", "text"]);
  await expect
    .poll(() => store.due({ workflowIds: ["publish"], limit: 10 }), { message: "the end is handled" })
    .toEqual([]);
  const child = await store.state(item?.executionId ?? "");
  expect(child?.execution).toMatchObject({ status: "completed", userId: "ada", conversationId });
});

test("the error of the workflow, and its cancellation, are the error of the tool", async () => {
  const store = await openStore();
  const { andante } = start(store, new Effects());
  await all(await ask(andante, "u1"));
  await approve(andante, false);
  await finished(andante);
  expect(await replyOf(andante)).toContain("The workflow publish failed: Not approved");
  const other = { conversationId: "other", userId: "ada" };
  await all(await andante.agents.chat("clerk", [userMessage("u1")], other));
  const [item] = await waits(andante);
  await andante.cancel("publish", item?.executionId ?? "");
  await expect
    .poll(async () => (await kept(andante, "other")).at(-1)?.[1])
    .toContain("The workflow publish was cancelled");
});

test("another process continues the reply, whichever resumes the workflow", async () => {
  const store = await openStore();
  const join = sharedStore(store);
  const effects = new Effects();
  const first = start(join(), effects);
  await all(await ask(first.andante, "u1"));
  await first.end();
  const second = start(join(), effects);
  await approve(second.andante);
  await finished(second.andante);
  expect(effects.published).toEqual(["tea"]);
});

test("the deadline of the workflow continues the reply too", async () => {
  const store = await openStore();
  const clock = new TestClock();
  const { andante } = start(store, new Effects(), { clock });
  await all(await ask(andante, "u1"));
  await waits(andante);
  clock.advance("31d");
  await finished(andante);
  expect(await replyOf(andante)).toContain("Not approved");
});

test("a crash before or after any write starts the workflow once and loses no reply", async () => {
  for (const { write, variant } of crashPoints()) {
    const store = await openStore();
    const effects = new Effects();
    const first = start(store, effects, { crash: { write, variant } });
    const lived = async (andante: Andante) => {
      await andante.ready();
      const isAsked = (await kept(andante).catch(() => [])).length > 0;
      if (!isAsked) await all(await ask(andante, "u1"));
      for (let round = 0; !(await replyOf(andante))?.includes("After"); round++) {
        if (round > 500) throw new Error("the reply did not end");
        if ((await waits(andante)).length > 0) await approve(andante);
        await andante.settled();
      }
    };
    const life = lived(first.andante);
    life.catch(() => undefined);
    await Promise.race([life, first.life.crash]);
    const { crashed } = first.life;
    await first.end();
    const next = start(store, effects);
    await lived(next.andante);
    const { executions } = await next.andante.list({ workflowId: "publish" });
    expect(executions.length, `${variant} write ${write}: started once`).toBe(1);
    expect(effects.published.length, `${variant} write ${write}`).toBeLessThanOrEqual(2);
    expect(await replyOf(next.andante)).toContain('"url":"/tea"');
    await next.end();
    if (!crashed) return;
  }
}, 120_000);

test("the next message of the user ends the wait and cancels the workflow, unless it is to continue", async () => {
  for (const onParentEnd of ["cancel", "continue"] as const) {
    const store = await openStore();
    const { andante } = start(store, new Effects(), { tool: { onParentEnd } });
    await all(await ask(andante, "u1"));
    const [item] = await waits(andante);
    const state = () => andante.state("publish", item?.executionId ?? "");
    const said = [userMessage("u2", "else")];
    await all(await andante.agents.chat("clerk", said, { conversationId, userId: "ada" }));
    if (onParentEnd === "cancel") await expect.poll(async () => (await state()).status).toBe("cancelled");
    await andante.settled();
    expect((await state()).status).toBe(onParentEnd === "cancel" ? "cancelled" : "suspended");
    expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  }
});

test("a reply that is stopped cancels its workflow, and so does the removal of its conversation", async () => {
  const store = await openStore();
  const { andante } = start(store, new Effects());
  for (const end of ["remove", "stop"]) {
    await all(await ask(andante, "u1"));
    const [item] = await waits(andante);
    if (end === "remove") await andante.conversations.remove(conversationId);
    else expect(await andante.agents.stop("clerk", conversationId, { userId: "ada" })).toBe(true);
    const state = () => andante.state("publish", item?.executionId ?? "");
    await expect.poll(async () => (await state()).status).toBe("cancelled");
  }
});

test("without a conversation a workflow cannot be waited for, and none is started", async () => {
  const store = await openStore();
  const { andante } = start(store, new Effects());
  const { text } = await andante.agents.text("clerk", "hello");
  expect(text).toContain("cannot run a workflow here");
  expect((await andante.list({})).executions).toEqual([]);
});

test("work in the background returns at once, and its end is a message that the next reply reads", async () => {
  const store = await openStore();
  const effects = new Effects();
  const { andante, model } = start(store, effects, { tool: { mode: "background" } });
  const chunks = await all(await ask(andante, "u1"));
  expect(chunks.some(({ type }) => type === "data-waiting")).toBe(false);
  const [item] = await waits(andante);
  const executionId = item?.executionId ?? "";
  expect(await replyOf(andante), "the model has read the id").toContain(executionId);
  await approve(andante);
  await expect.poll(() => replyOf(andante)).toContain('has completed: {"url":"/tea"}');
  const { messages } = await andante.conversations.messages(conversationId);
  expect(messages.at(-1)).toMatchObject({
    id: `end-${executionId}`,
    metadata: {
      background: { executionId, workflowId: "publish", toolName: "publish", status: "completed" },
    },
  });
  expect(model.asked, "nobody is asked").toHaveLength(2);
  const said = [userMessage("u2", "else")];
  await all(await andante.agents.chat("clerk", said, { conversationId, userId: "ada" }));
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("has completed");
  expect(effects.published).toEqual(["tea"]);
});

test("with wake the agent replies to the end, once, also in another process after a crash", async () => {
  const store = await openStore();
  const join = sharedStore(store);
  const first = start(join(), new Effects(), { tool: { mode: "background", wake: true } });
  await all(await ask(first.andante, "u1"));
  await first.end();
  const second = start(join(), new Effects(), { tool: { mode: "background", wake: true } });
  await approve(second.andante, false);
  await expect.poll(async () => (await kept(second.andante)).length).toBe(4);
  const said = await kept(second.andante);
  expect(said.map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(said[2]?.[1]).toContain("has failed: Not approved");
  expect(said[3]?.[1]).toContain("Let me publish.");
});

const wake = { mode: "background", wake: true } as const;
const agentIds = ["clerk"];
const workflowIds = ["publish"];

test("an end to which no reply may be made is posted without one", async () => {
  const store = await openStore();
  const agent = { budget: { conversation: { calls: 2 } } };
  const { andante, logger } = start(store, new Effects(), { tool: wake, agent });
  await all(await ask(andante, "u1"));
  await approve(andante);
  await expect.poll(() => replyOf(andante)).toContain("has completed");
  await expect.poll(() => store.due({ workflowIds, agentIds, limit: 5 })).toEqual([]);
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user"]);
  expect(logger.messages).not.toContain("failed to process due timer");
});

test("an end that is taken back while it waits for its reply is not posted again", async () => {
  const store = await openStore();
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  const { andante } = start(store, new Effects(), { tool: wake, hold });
  await all(await ask(andante, "u1"));
  const slow = all(
    await andante.agents.chat("clerk", [userMessage("u2", "slow")], { conversationId, userId: "ada" }),
  );
  await approve(andante);
  const queue = async () => (await andante.agents.queue("clerk", conversationId)).map(({ id }) => id);
  await expect.poll(queue).toEqual([expect.stringMatching(/^end-/)]);
  const [end = ""] = await queue();
  await andante.agents.withdraw("clerk", conversationId, end);
  release();
  await slow;
  await expect.poll(() => store.due({ workflowIds, agentIds, limit: 5 })).toEqual([]);
  expect((await kept(andante)).map(([, text]) => text).slice(2)).toEqual(["slow", "Slowly."]);
});

test("work in the background has a time limit, and outlives its reply and its conversation", async () => {
  const store = await openStore();
  const clock = new TestClock();
  const { andante } = start(store, new Effects(), { clock, tool: { mode: "background", timeout: "1h" } });
  await all(await ask(andante, "u1"));
  const [item] = await waits(andante);
  const status = async () => (await andante.state("publish", item?.executionId ?? "")).status;
  await all(
    await andante.agents.chat("clerk", [userMessage("u2", "else")], { conversationId, userId: "ada" }),
  );
  await andante.conversations.remove(conversationId);
  expect(await status()).toBe("suspended");
  clock.advance("2h");
  await expect.poll(status).toBe("error");
  await andante.settled();
  await expect(andante.conversations.read(conversationId)).rejects.toThrow(/not found/);
});

test("options that contradict each other are refused when the tool is made", () => {
  const publish = publishOf(new Effects());
  expect(() => workflowTool(publish, { mode: "background", onParentEnd: "cancel" })).toThrow(/onParentEnd/);
  expect(() => workflowTool(publish, { wake: true })).toThrow(/wake is for the mode background/);
});
