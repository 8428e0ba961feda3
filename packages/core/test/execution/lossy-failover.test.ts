// A failover to a replica that lacks the last commits: executions continue from the journal of the replica. Lost
// steps are done again; no value is taken for another one, and no execution is left without a process that runs it.

import { tool } from "ai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import type { AndanteOptions } from "../../src/andante/andante-options.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { ExecutionEvent } from "../../src/execution/stream/views.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { type ReplicatedStore, replicatedStore } from "../support/replicated-store.ts";
import { sharedStore } from "../support/shared-store.ts";
import { attach, flow, heldBody } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** Long enough to be kept once and referred to from then on. */
const long = (letter: string) => letter.repeat(1_000);

let replicated: ReplicatedStore;
let nodes: Andante[] = [];
const logger = new RecordingLogger();
beforeEach(async () => {
  replicated = await replicatedStore();
  nodes = [];
  logger.lines.length = 0;
});
afterEach(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await replicated.close();
});

/** `lease`: within it a node finds work that it lost without notice; it stops its own when it was held up for longer. */
function join(
  count: number,
  workflow: WorkflowDefinition,
  options: Partial<AndanteOptions> = {},
  lease = 2000,
): Andante[] {
  const joined = sharedStore(replicated.store, { lease });
  const workflows = { [workflow.id]: workflow };
  for (let made = 0; made < count; made++)
    nodes.push(createAndante({ store: joined(), logger, workflows, ...options }));
  return nodes;
}

const valuesIn = async (executionId: string) =>
  (await replicated.store.events({ executionId, after: 0, limit: 1_000 })).map(
    ({ sequence, value }, index) => {
      expect(sequence).toBe(index + 1);
      return value;
    },
  );
const statusOf = async (executionId: string) => (await replicated.store.state(executionId))?.execution.status;

test("a driver whose commits are lost is fenced, and the execution continues from the journal that is left", async () => {
  const runs = { first: 0, second: 0 };
  const held = heldBody(long("c"));
  const workflow = flow()
    .andThen({ id: "first", execute: () => long(`${++runs.first}`) })
    .andThen({
      id: "second",
      execute: ({ data }) => {
        if (++runs.second === 1) replicated.detach();
        return `${data}${long("b")}`;
      },
    })
    .andThen({ id: "third", execute: held.execute })
    .andThen({
      id: "all",
      execute: ({ getStepData, data }) => [getStepData("first")?.output, getStepData("second")?.output, data],
    });
  const [node] = join(1, workflow);
  const started = await node?.start(workflow.id, {});
  await held.started;
  replicated.promote();
  held.finish();
  const result = await inTime(started?.result() ?? Promise.reject(new Error("no node")), "the result");
  const expected = [long("1"), `${long("1")}${long("b")}`, long("c")];
  expect(result).toMatchObject({ status: "completed", result: expected });
  expect({ ...runs, third: held.runs }).toEqual({ first: 1, second: 2, third: 2 });
  const values = await valuesIn(result.executionId);
  expect(values.at(-1)).toBe(JSON.stringify(expected));
  expect(logger.messages.join("\n")).toContain("the store has lost commits of the execution");
});

test("an end that is lost is reached again", async () => {
  let ends = 0;
  const ending = flow().andThen({
    id: "end",
    execute: () => {
      if (++ends === 1) replicated.detach();
      return "done";
    },
  });
  const [node] = join(1, ending);
  const { executionId } = (await node?.execute(ending.id, {})) ?? { executionId: "" };
  replicated.promote();
  expect(await statusOf(executionId)).toBe("running");
  await expect.poll(() => statusOf(executionId)).toBe("completed");
  expect(ends).toBe(2);
  expect(logger.messages.join("\n")).toContain("that nothing here holds");
});

test("a suspension that is lost opens again, and is resumed", async () => {
  let asks = 0;
  const workflow = flow().andThen({
    id: "gate",
    execute: ({ resumeData, suspend }) => {
      if (++asks === 1) replicated.detach();
      return resumeData ?? suspend();
    },
  });
  const [node] = join(1, workflow);
  const { executionId } = (await node?.execute(workflow.id, {})) ?? { executionId: "" };
  replicated.promote();
  await expect.poll(() => statusOf(executionId)).toBe("suspended");
  const resumed = await node?.resume(workflow.id, executionId, "open");
  expect(resumed).toMatchObject({ status: "completed", result: "open" });
});

test("a resume that is lost after its driver has read it, and given again with other data, counts as given again", async () => {
  const other = heldBody("beside");
  const reads: unknown[] = [];
  const finish = Promise.withResolvers<void>();
  const workflow = flow().andAll({
    id: "both",
    steps: [
      andThen({
        id: "gate",
        execute: async ({ resumeData, suspend }) => {
          if (resumeData === undefined) return suspend();
          reads.push(resumeData);
          await finish.promise;
          return resumeData;
        },
      }),
      andThen({ id: "beside", execute: other.execute }),
    ],
  });
  const [node] = join(1, workflow);
  const started = await node?.start(workflow.id, {});
  const executionId = started?.executionId ?? "";
  await other.started;
  const openSuspensions = async () => (await replicated.store.state(executionId))?.suspensions.length;
  await expect.poll(openSuspensions).toBe(1);
  replicated.detach();
  await node?.startResume(workflow.id, executionId, "first", { stepId: "gate" });
  await expect.poll(() => reads).toEqual(["first"]);
  replicated.promote();
  expect(await openSuspensions()).toBe(1);
  // Two events at one number differ by their times.
  const now = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(now);
  await node?.startResume(workflow.id, executionId, "second", { stepId: "gate" });
  finish.resolve();
  other.finish();
  const result = await inTime(started?.result() ?? Promise.reject(new Error("no node")), "the result");
  expect(result).toMatchObject({ status: "completed", result: ["second", "beside"] });
  expect(reads).toEqual(["first", "second"]);
});

test("the outline of a definition that is lost is kept again, so that later definitions are compared with it", async () => {
  replicated.detach();
  const workflow = flow().andThen({ id: "one", execute: () => "done" });
  const [node] = join(1, workflow);
  await node?.ready();
  replicated.promote();
  await expect.poll(() => node?.execute(workflow.id, {}, { executionId: "e" })).toBeDefined();
  const { definition = null } = (await replicated.store.state("e"))?.execution ?? {};
  expect(await replicated.store.outline(definition ?? "")).toBeUndefined();
  const outline = () => replicated.store.outline(definition ?? "");
  await expect.poll(outline).toContain('"one"');
});

test("an execution that slept when its claim came back is released, sleeps again and wakes", async () => {
  let runs = 0;
  const workflow = flow()
    .andThen({
      id: "one",
      execute: () => {
        if (++runs === 1) replicated.detach();
        return "done";
      },
    })
    .andSleep({ id: "sleep", duration: "1h" });
  const clock = new TestClock({ skipSleeps: false });
  const [node] = join(1, workflow, { clock });
  const { executionId } = (await node?.start(workflow.id, {})) ?? { executionId: "" };
  const timers = async () => (await replicated.store.state(executionId))?.timers.length;
  await expect.poll(timers).toBe(1);
  replicated.promote();
  expect(await timers()).toBe(0);
  await expect.poll(timers).toBe(1);
  expect(logger.messages.join("\n")).toContain("that nothing here holds");
  clock.advance("1h");
  await expect.poll(() => statusOf(executionId)).toBe("completed");
  expect(runs).toBe(2);
});

/** An agent that looks something up and replies with it; the replica is detached or promoted at one of its two calls. */
function lookingClerk(at: { readonly detach: number; readonly promote?: number }) {
  let looks = 0;
  const look = tool({ inputSchema: z.object({}), execute: () => `seen ${++looks}` });
  const model = controlledModel(({ prompt }, count) => {
    if (count === at.detach) replicated.detach();
    if (count === at.promote) replicated.promote();
    const isSeen = prompt.some(({ role }) => role === "tool");
    return isSeen ? { text: ["hel", "lo"] } : { calls: [{ name: "look", input: {} }] };
  });
  return { model, looks: () => looks, clerk: new Agent({ id: "clerk", model, tools: { look } }) };
}

/** The messages of the conversation as the promoted replica has them. */
const talkMessages = async (node: Andante | undefined) => {
  const { messages = [] } = (await node?.conversations.messages("talk")) ?? {};
  return messages.map(({ role, parts, partial = false }) => ({
    role,
    partial,
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
  }));
};
const wholeTalk = [
  { role: "user", partial: false, text: "hi" },
  { role: "assistant", partial: false, text: "hello" },
];

test.each([
  [
    "in the middle of a turn",
    { detach: 1, promote: 2 },
    { lease: 60_000, asked: 4, looks: 2, line: "lost commits" },
  ],
  ["with the end of a turn", { detach: 2 }, { lease: 2000, asked: 3, looks: 1, line: "nothing here holds" }],
])(
  "commits that are lost %s are made again, and the conversation has one whole reply",
  async (_, at, done) => {
    const { clerk, model, looks } = lookingClerk(at);
    const none = flow().andThen({ id: "none", execute: () => 1 });
    const [node] = join(1, none, { agents: { clerk } }, done.lease);
    const asked = node?.agents.text("clerk", "hi", { conversationId: "talk", userId: "ada" });
    await inTime(asked?.catch(() => undefined) ?? Promise.reject(new Error("no node")), "the reply");
    replicated.promote();
    await expect.poll(() => replicated.store.liveTurn("talk")).toBeUndefined();
    expect(await talkMessages(node)).toEqual(wholeTalk);
    expect({ asked: model.asked.length, looks: looks() }).toEqual({ asked: done.asked, looks: done.looks });
    expect(logger.messages).toEqual([expect.stringContaining(done.line)]);
    // Calls whose record is lost are not counted.
    expect((await node?.conversations.read("talk"))?.usage).toMatchObject({ calls: 2, totalTokens: 30 });
  },
);

test("a node does not take its cached events for the journal after a failover that lost them", async () => {
  const workflow = flow()
    .andThen({ id: "one", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
    .andThen({
      id: "two",
      execute: ({ data, resumeData, suspend }) => (resumeData ? `${data} ${resumeData}` : suspend()),
    });
  const [a, b] = join(2, workflow);
  const { executionId } = (await a?.execute(workflow.id, {})) ?? { executionId: "" };
  replicated.detach();
  await a?.resume(workflow.id, executionId, "lost");
  replicated.promote();
  // The same number of events, of which one differs.
  await b?.resume(workflow.id, executionId, "kept");
  expect(await a?.resume(workflow.id, executionId, "on")).toMatchObject({
    status: "completed",
    result: "kept on",
  });
});

test("a failover between the read and the write of a resume is noticed by the write", async () => {
  const gate = (id: string) => andThen({ id, execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
  const workflow = flow().andAll({ id: "both", steps: [gate("one"), gate("two")] });
  const workflows: Record<string, WorkflowDefinition> = { [workflow.id]: workflow };
  const joined = sharedStore(replicated.store, { lease: 60_000 });
  const b = createAndante({ store: joined(), logger, workflows });
  const shared = joined();
  let failOver = async () => {};
  const store = wrapStore(shared, {
    resume: async (resume) => {
      await failOver();
      return shared.resume(resume);
    },
  });
  const a = createAndante({ store, logger, workflows });
  nodes.push(a, b);
  const { executionId } = await a.execute(workflow.id, {});
  replicated.detach();
  await a.resume(workflow.id, executionId, "lost", { stepId: "one" });
  failOver = async () => {
    failOver = async () => {};
    replicated.promote();
    // The same number of events, of which one differs.
    await b.resume(workflow.id, executionId, "kept", { stepId: "one" });
  };
  const result = await a.resume(workflow.id, executionId, "on", { stepId: "two" });
  expect(result).toMatchObject({ status: "completed", result: ["kept", "on"] });
});

test("a stream that has shown events that are lost shows the end all the same", async () => {
  let runs = 0;
  const held = heldBody("held");
  const workflow = flow()
    .andThen({
      id: "talk",
      execute: ({ emit }) => {
        if (++runs > 1) return runs;
        replicated.detach();
        for (let word = 0; word < 20; word++) emit("word", { word });
        return runs;
      },
    })
    .andThen({ id: "held", execute: held.execute });
  const [a, b] = join(2, workflow);
  const started = await a?.start(workflow.id, {});
  const { executionId = "" } = started ?? {};
  if (a === undefined || b === undefined) throw new Error("no nodes");
  const seen = await Promise.all([a, b].map((node) => attach(node, workflow.id, executionId)));
  const shown = seen.map(() => [] as ExecutionEvent[]);
  const followed = seen.map(async (stream, index) => {
    for await (const event of stream) shown[index]?.push(event);
  });
  await held.started;
  for (const events of shown)
    await expect.poll(() => events.filter(({ type }) => type === "word")).toHaveLength(20);
  replicated.promote();
  held.finish();
  await inTime(Promise.all(followed), "the end of the streams");
  for (const events of shown)
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed", result: "held" });
});
