// Turns that are left: by a process that stops as they begin, by one that died long ago, or by a model that fails.
import { setImmediate as turn } from "node:timers/promises";
import { ToolLoopAgent, tool } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { RunningStepContext } from "../../src/execution/body/running-step-context.ts";
import { maxRunsWithoutEvent } from "../../src/execution/run/reentry-guard.ts";
import { Observation } from "../../src/observe/observation.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel, type ScriptedModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";
import { heldModel, hello } from "./held-model.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

const talk = { conversationId: "talk", userId: "ada" };

test("a process that stops while a turn begins sends its caller an error, and does not wait for it", async () => {
  const store = await openStore();
  const begin = heldOperation(store.beginTurn);
  begin.hold();
  const { andante } = startProcess(wrapStore(store, { beginTurn: begin.run }), { model: hello });
  await andante.ready();
  const asked = expect(ask(andante, "u1")).rejects.toThrow("shutting down");
  await begin.asked;
  const closing = andante.close({ grace: 60_000 });
  begin.release();
  await inTime(asked, "the refusal");
  await inTime(closing, "the end of the process");
});

test("a tool whose output cannot be recorded while the process stops runs once and ends the turn", async () => {
  const store = await openStore();
  const asked = Promise.withResolvers<void>();
  const [model, write] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = () => {
    asked.resolve();
    return model.promise;
  };
  const note = tool({ inputSchema: z.object({}), execute: () => "noted" });
  const helper = new Agent({
    id: "helper",
    model: controlledModel(() => ({ calls: [{ name: "note", input: {} }], hold })),
    tools: { note },
  });
  let runs = 0;
  const tools = {
    write: tool({
      inputSchema: z.object({}),
      execute: async () => {
        runs++;
        await write.promise;
        return new Map();
      },
    }),
  };
  const calls = [
    { id: "call_0", name: "write", input: {} },
    { id: "call_1", name: "helper", input: { prompt: "go" } },
  ];
  const options = { model: controlledModel(() => ({ calls })), tools, agent: { subAgents: [helper] } };
  const first = startProcess(store, options);
  const chunks = all(await ask(first.andante, "u1"));
  await asked.promise;
  const executionId = (await store.liveTurn("talk"))?.executionId ?? "";
  const closed = first.andante.close({ grace: 60_000 });
  model.resolve();
  // Once the helper's call is recorded its tool is refused, and the loop is left.
  const recorded = async () => JSON.stringify(await store.events({ executionId, after: 0, limit: 100 }));
  await expect.poll(recorded).toContain("tool[1].call[0]");
  for (let turns = 0; turns < 20; turns++) await turn();
  write.resolve();
  await inTime(closed, "the end of the process");
  expect(JSON.stringify((await chunks).at(-1))).toContain("cannot be kept as JSON");
  const second = startProcess(store, options);
  await second.andante.ready();
  await expect.poll(() => store.liveTurn("talk")).toBeUndefined();
  expect(runs).toBe(1);
});

class OwnLoop extends ToolLoopAgent {}

test.each([
  ["a plain ToolLoopAgent", ToolLoopAgent],
  ["an agent that is not ours", OwnLoop],
])("%s is not asked again about a turn that began too long ago", async (_, Clerk) => {
  const store = await openStore();
  const clock = new TestClock();
  const start = (model: ScriptedModel) => {
    const clerk = new Clerk({ model });
    const andante = createAndante({
      agents: { clerk },
      store: wrapStore(store),
      clock,
      logger: new RecordingLogger(),
    });
    onTestFinished(() => andante.close({ grace: 0 }));
    return andante;
  };
  const held = heldModel();
  const first = start(held.model);
  await ask(first, "u1");
  await held.asked;
  await first.close({ grace: 0 });
  clock.advance("61m");
  const model = controlledModel(() => ({ text: ["spent"] }));
  const second = start(model);
  await second.ready();
  await expect.poll(() => store.liveTurn("talk")).toBeUndefined();
  expect(model.asked).toHaveLength(0);
});

test("one that continues waits until tracing is loaded", async () => {
  const store = await openStore();
  const held = heldModel();
  const first = startProcess(store, { model: held.model });
  await ask(first.andante, "u1");
  await held.asked;
  await first.end();
  const loaded = Promise.withResolvers<void>();
  const open = vi.spyOn(Observation.prototype, "open").mockReturnValue(loaded.promise);
  onTestFinished(() => open.mockRestore());
  const model = controlledModel(() => ({ text: ["hello"] }));
  const { andante } = startProcess(store, { model });
  await expect.poll(() => open).toHaveBeenCalled();
  // Each is a round to the store and back: it would have been asked by then.
  for (let reads = 0; reads < 20; reads++) await kept(andante);
  expect(model.asked).toHaveLength(0);
  loaded.resolve();
  await expect.poll(() => kept(andante)).toHaveLength(2);
  expect(model.asked).toHaveLength(1);
});

test("a turn that began exactly as long ago as the agent allows is continued", async () => {
  const store = await openStore();
  const clock = new TestClock();
  const agent = { recoverWithin: "10m" } as const;
  const held = heldModel();
  const first = startProcess(store, { model: held.model, clock, agent });
  await ask(first.andante, "u1");
  await held.asked;
  await first.end();
  clock.advance("10m");
  const { andante } = startProcess(store, { model: hello, clock, agent });
  await andante.ready();
  await expect.poll(() => kept(andante)).toContainEqual(["assistant", "hello"]);
});

test("the time counts from the last recorded call, not from the beginning of the turn", async () => {
  const store = await openStore();
  const clock = new TestClock();
  const agent = { recoverWithin: "10m" } as const;
  const asked = Promise.withResolvers<void>();
  const work = tool({
    inputSchema: z.object({}),
    execute: () => {
      clock.advance("9m");
      return "done";
    },
  });
  const never = () => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const slow = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { text: [""], hold: never } : { calls: [{ name: "work", input: {} }] },
  );
  const first = startProcess(store, { model: slow, tools: { work }, clock, agent });
  await ask(first.andante, "u1");
  await inTime(asked.promise, "the second call");
  await first.end();
  clock.advance("9m");
  const second = startProcess(store, { model: hello, tools: { work }, clock, agent });
  await second.andante.ready();
  await expect.poll(() => kept(second.andante)).toContainEqual(["assistant", "hello"]);
});

test("a turn whose conversation is gone when it is continued is not a failure of the model", async () => {
  const store = await openStore();
  const held = heldModel();
  const first = startProcess(store, { model: held.model });
  await ask(first.andante, "u1");
  await held.asked;
  await first.end();
  const conversations = { ...store.conversations, recent: async () => undefined };
  const { andante, logger } = startProcess(wrapStore(store, { conversations }), { model: hello });
  await andante.ready();
  await expect.poll(() => store.liveTurn("talk")).toBeUndefined();
  expect(logger.messages).toEqual([]);
});

test("a turn of a missing agent makes room for another agent after its time to be continued has passed", async () => {
  const store = await openStore();
  const clock = new TestClock();
  const held = heldModel();
  const first = startProcess(store, { model: held.model, clock });
  await ask(first.andante, "u1");
  await held.asked;
  const abandoned = (await store.liveTurn("talk"))?.executionId ?? "";
  await first.end();
  const logger = new RecordingLogger();
  const heir = new Agent({ id: "heir", model: hello });
  let trouble: Error | undefined;
  const endTurn: Store["endTurn"] = (turn) =>
    trouble === undefined ? store.endTurn(turn) : Promise.reject(trouble);
  const andante = createAndante({ agents: { heir }, store: wrapStore(store, { endTurn }), clock, logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  const next = () => andante.agents.text("heir", [userMessage("u2")], talk);
  await expect(next()).rejects.toThrow("Another reply is under way");
  await inTime(andante.settled(), "the end of a turn that was refused");
  clock.advance("16m");
  // A turn that was claimed to be ended is released when that fails: the next caller tries again.
  trouble = new Error("the disk is full");
  await expect(next()).rejects.toThrow("the disk is full");
  trouble = undefined;
  expect((await next()).text).toBe("hello");
  expect(logger.messages).toContain("ending an abandoned reply of an unknown agent");
  expect((await store.state(abandoned))?.execution).toMatchObject({
    status: "error",
    error: expect.stringContaining("Agent clerk not found"),
  });
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "user", "assistant"]);
});

test("a turn that runs again and again without a new event fails, and its conversation is free", async () => {
  const store = await openStore();
  // Each run of the body is interrupted, as by a fault of the engine.
  const { recorder } = RunningStepContext.prototype;
  let runs = 0;
  const spin = vi.spyOn(RunningStepContext.prototype, "recorder").mockImplementation(function (
    this: RunningStepContext,
  ) {
    runs++;
    this.controlFlow = { kind: "interrupt" };
    return recorder.call(this);
  });
  onTestFinished(() => spin.mockRestore());
  let executionId = "";
  const beginTurn: Store["beginTurn"] = (begin) => {
    executionId = begin.turn.executionId;
    return store.beginTurn(begin);
  };
  const { andante } = startProcess(wrapStore(store, { beginTurn }), { model: hello });
  await ask(andante, "u1");
  await expect.poll(() => store.liveTurn("talk")).toBeUndefined();
  expect((await store.state(executionId))?.execution).toMatchObject({
    status: "error",
    error: expect.stringContaining(`was run ${maxRunsWithoutEvent} times without a new event`),
  });
  expect(runs).toBeGreaterThanOrEqual(maxRunsWithoutEvent);
  spin.mockRestore();
  expect(said(await all(await ask(andante, "u2")))).toBe("hello");
});

/** An Andante whose journals hold so many events at most. */
function startWithin(events: number, model: ScriptedModel) {
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const agents = { clerk: new Agent({ id: "clerk", model, tools: { look } }) };
  const limits = { journal: { events } };
  const andante = createAndante({ agents, store: memoryStore(), limits, logger: new RecordingLogger() });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante;
}

test("a turn whose journal is full ends with its text and tool results, and names the limit", async () => {
  const model = controlledModel(() => ({ text: ["looking"], calls: [{ name: "look", input: {} }] }));
  const andante = startWithin(6, model);
  const chunks = await all(await ask(andante, "u1"));
  expect(JSON.stringify(chunks.at(-1))).toContain("limits.journal.events");
  const { messages } = await andante.conversations.messages("talk");
  expect(messages[1]).toMatchObject({ role: "assistant", partial: true });
  expect(JSON.stringify(messages[1]?.parts)).toContain('"seen"');
  expect((await andante.conversations.read("talk")).usage.calls).toBe(model.asked.length);
});

test("a reply whose end fills the journal is complete", async () => {
  // workflow-start and step-start, then the call, step-complete and workflow-complete
  const andante = startWithin(4, hello);
  expect((await all(await ask(andante, "u1"))).at(-1)?.type).toBe("finish");
  expect(await kept(andante)).toEqual([
    ["user", "u1"],
    ["assistant", "hello"],
  ]);
});

test("an object that fails after a tool keeps the result of the tool", async () => {
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const model = controlledModel((_, count) =>
    count === 1 ? { calls: [{ name: "look", input: {} }] } : { refuse: new Error("broken") },
  );
  const { andante } = startProcess(await openStore(), { model, tools: { look } });
  await expect(andante.agents.object("clerk", "go", z.object({ a: z.number() }), talk)).rejects.toThrow();
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant"]);
  const { messages } = await andante.conversations.messages("talk", { userId: "ada" });
  expect(JSON.stringify(messages[1]?.parts)).toContain('"seen"');
});
