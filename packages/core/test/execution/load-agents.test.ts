// The modules of agents are loaded after the start has waited for the store, and before the service is ready.
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";

const model = controlledModel(() => ({ text: ["hello"], usage: { input: 1, output: 1 } }));

/** An Andante as a new process makes it, which has called no agent yet. The modules of agents are not loaded before `endPause`. */
async function newAndante() {
  vi.resetModules();
  let pause = Promise.withResolvers<void>();
  vi.doMock("node:timers/promises", () => ({ setTimeout: () => pause.promise }));
  onTestFinished(() => void vi.doUnmock("node:timers/promises"));
  const { Agent, createAndante, createWorkflow, memoryStore } = await import("../../src/index.ts");
  let requested = false;
  vi.doMock("../../src/agent/turn/replies.ts", (original) => {
    requested = true;
    return original();
  });
  onTestFinished(() => void vi.doUnmock("../../src/agent/turn/replies.ts"));
  const greeter = new Agent({ id: "greeter", model });
  const double = createWorkflow({ id: "double", input: z.number() }).andThen({
    id: "times-two",
    execute: ({ data }) => data * 2,
  });
  const greet = createWorkflow({ id: "greet", input: z.string() }).andAgent({
    id: "ask",
    agent: greeter,
    prompt: ({ data }) => data,
  });
  const andante = createAndante({
    store: memoryStore(),
    agents: { greeter },
    workflows: { double, greet },
  });
  onTestFinished(() => {
    pause.resolve();
    return andante.close();
  });
  const spanNames = async (entityId: string) => {
    const { traces } = await andante.traces.list({ entityId });
    const trace = await andante.traces.read(traces[0]?.traceId ?? "");
    return trace?.spans.map(({ name }) => name);
  };
  const endPause = () => pause.resolve();
  /** Another one, whose pauses do not end before the test. */
  const another = () => {
    pause = Promise.withResolvers();
    const second = createAndante({ store: memoryStore(), agents: { greeter } });
    onTestFinished(() => {
      endPause();
      return second.close();
    });
    return second;
  };
  return { andante, another, areRepliesRequested: () => requested, endPause, spanNames };
}

test("an execution does not wait for the AI SDK; ready() does", async () => {
  const { andante, areRepliesRequested, endPause } = await newAndante();
  expect(await andante.execute("double", 21)).toMatchObject({ result: 42 });
  expect(areRepliesRequested()).toBe(false);
  endPause();
  await andante.ready();
  expect(areRepliesRequested()).toBe(true);
});

test("the second one of a process does not wait before it finds what the first has loaded", async () => {
  const { andante, another, endPause } = await newAndante();
  endPause();
  await andante.ready();
  await inTime(another().ready(), "the second one");
});

test("an agent that is asked before all is ready has all its spans", async () => {
  const { andante, spanNames } = await newAndante();
  await andante.execute("double", 21);
  await andante.agents.text("greeter", "hi");
  expect(await spanNames("greeter")).toEqual(
    expect.arrayContaining(["invoke_agent greeter", "chat scripted"]),
  );
});

test("so has one that a step asks", async () => {
  const { andante, spanNames } = await newAndante();
  await andante.execute("greet", "hi");
  expect(await spanNames("greet")).toEqual(
    expect.arrayContaining(["invoke_workflow greet", "step ask", "invoke_agent greeter", "chat scripted"]),
  );
});

test("one that is closed meanwhile loads nothing", async () => {
  const { andante, areRepliesRequested, endPause } = await newAndante();
  await andante.execute("double", 21);
  await andante.close();
  endPause();
  await andante.ready();
  expect(areRepliesRequested()).toBe(false);
});
