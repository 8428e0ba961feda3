// An agent in a workflow, killed and walked again: no recorded call is made twice, and the model reads the same words.
import { setImmediate as turn } from "node:timers/promises";
import { APICallError, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { OperationContext } from "../../src/agent/call/operation.ts";
import { operationContext } from "../../src/agent/call/operation.ts";
import { PublicError } from "../../src/errors/index.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel, lastText, type Said } from "../support/controlled-model.ts";
import { collect, flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

/** Tools that write down each time they run. */
function ledger() {
  const ran: string[] = [];
  const entry = (name: string, run: (context: OperationContext) => unknown = () => `${name} done`) =>
    tool({
      inputSchema: z.object({}),
      contextSchema: operationContext,
      execute: (_, { context }) => {
        ran.push(name);
        return run(context);
      },
    });
  return { ran, entry };
}

/** Which call of the loop it is: the number of the assistant's messages before it. */
const stepOf = ({ prompt }: { prompt: readonly { role: string }[] }) =>
  prompt.filter(({ role }) => role === "assistant").length;

const call = (name: string, id = "call_0") => ({ name, id, input: {} });

/** A model that follows its script at each step, however often it is called. */
const stepwise = (...script: Said[]) =>
  controlledModel((asked) => script[stepOf(asked)] ?? { text: ["end"] });

onMemory((bench) => {
  test("each call of the model and of a tool is a checkpoint at its place, with its usage", async () => {
    const { entry } = ledger();
    const agent = new Agent({
      id: "a",
      model: stepwise(
        { text: ["Let ", "me ", "see"], calls: [call("one"), call("two", "call_1")] },
        { text: ["All ", "done"] },
      ),
      tools: {
        one: entry("one", () => ({ at: new Date(0) })),
        two: entry("two", () => Promise.reject(new TypeError("no"))),
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, result, usage } = await andante.execute(workflow.id, 1);
    expect(result).toEqual({ text: "All done" });
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 });
    const events = await andante.events(workflow.id, executionId);
    const calls = events.filter(({ type }) => type === "checkpoint-complete");
    const asked = { kind: "model", model: "scripted/scripted", agentId: "a", prompt: expect.any(String) };
    expect(calls.map(({ stepPath, call }) => [stepPath, call])).toEqual([
      ["ask#call[0]", asked],
      ["ask#call[0].tool[0]", { kind: "tool", toolName: "one", toolCallId: "call_0" }],
      ["ask#call[0].tool[1]", { kind: "tool", toolName: "two", toolCallId: "call_1" }],
      ["ask#call[1]", asked],
    ]);
    expect(calls[1]).toMatchObject({ output: { output: { at: "1970-01-01T00:00:00.000Z" } } });
    expect(calls[2]).toMatchObject({ output: { error: { name: "TypeError", message: "no" } } });
    const said = z.object({ parts: z.array(z.looseObject({ type: z.string() })) }).parse(calls[0]?.output);
    expect(said.parts.filter(({ type }) => type === "text-delta")).toMatchObject([{ delta: "Let me see" }]);
    expect(said.parts.map(({ type }) => type).slice(-3)).toEqual(["tool-call", "tool-call", "finish"]);
    expect(calls[0]).toMatchObject({ usage: { inputTokens: 10, calls: 1 } });
    const complete = events.find(({ type }) => type === "step-complete");
    expect(complete).toMatchObject({ usage: { totalTokens: 30, calls: 2 } });
  });

  test("the next attempt of the step repeats no call, tool, hook or text delta of the recorded loop", async () => {
    const { ran, entry } = ledger();
    const told: string[] = [];
    const script: Said[] = [
      { text: ["a "], calls: [call("one")] },
      { text: ["b "], calls: [call("one")] },
    ];
    let refusals = 0;
    const model = controlledModel(
      (asked) =>
        script[stepOf(asked)] ?? (++refusals === 1 ? { refuse: new Error("gone") } : { text: ["c"] }),
    );
    const agent = new Agent({
      id: "a",
      model,
      tools: { one: entry("one") },
      hooks: {
        onStart: () => told.push("start"),
        onToolStart: () => told.push("tool start"),
        onToolEnd: () => told.push("tool end"),
        onStepEnd: () => told.push("step end"),
        onError: () => told.push("error"),
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", retry: { attempts: 2, delay: 1 } });
    const andante = bench.andante(workflow);
    const { executionId, events } = await andante.stream(workflow.id, 1);
    const all = await collect(events);
    expect(all.at(-1)).toMatchObject({ result: { text: "c" }, usage: { calls: 3, totalTokens: 45 } });
    expect(ran).toEqual(["one", "one"]);
    expect(model.asked.map(stepOf)).toEqual([0, 1, 2, 2]);
    const step = ["tool start", "tool end", "step end"];
    expect(told).toEqual(["start", ...step, ...step, "error", "step end"]);
    const deltas = all.filter(({ type }) => type === "text-delta").map(({ delta }) => delta);
    expect(deltas).toEqual(["a ", "b ", "c"]);
    const { traces } = await andante.traces.list({ executionId });
    const trace = await andante.traces.read(traces[0]?.traceId ?? "");
    const names = trace?.spans.map(({ name }) => name) ?? [];
    const spans = (name: string) => names.filter((each) => each === name).length;
    expect([spans("execute_tool one"), spans("chat scripted"), spans("step 1"), spans("step 3")]).toEqual([
      2, 4, 1, 2,
    ]);
  });

  test("prepareStep and stopWhen are asked again as the loop is walked, with the steps as they were", async () => {
    const { entry } = ledger();
    const prepared: string[] = [];
    const stops: number[] = [];
    let refusals = 0;
    const model = controlledModel((asked) => {
      if (stepOf(asked) === 0) return { calls: [call("one")] };
      return ++refusals === 1 ? { refuse: new Error("gone") } : { text: ["end"] };
    });
    const agent = new Agent({
      id: "a",
      model,
      tools: { one: entry("one") },
      prepareStep: ({ stepNumber, steps }) => {
        prepared.push(`${stepNumber} after ${steps.map(({ toolResults }) => toolResults.length)}`);
        return undefined;
      },
      stopWhen: ({ steps }) => {
        stops.push(steps.length);
        return false;
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", retry: { attempts: 2, delay: 1 } });
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "completed" });
    expect(prepared).toEqual(["0 after ", "1 after 1", "0 after ", "1 after 1"]);
    expect(stops).toEqual([1, 1]);
    expect(model.asked.map(stepOf)).toEqual([0, 1, 1]);
  });

  test("a tool gets its place, its key and the step's events beside the operation", async () => {
    const seen: unknown[] = [];
    const { entry } = ledger();
    const agent = new Agent({
      id: "a",
      model: stepwise({ calls: [call("one")] }, { calls: [call("one")] }),
      tools: {
        one: entry("one", ({ executionId, stepPath, attempt, idempotencyKey, signal, emit, userId }) => {
          emit?.("looked", { stepPath });
          seen.push({ executionId, stepPath, attempt, idempotencyKey, aborted: signal.aborted, userId });
        }),
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1, { userId: "ada" });
    expect(seen).toEqual(
      [0, 1].map((step) => ({
        executionId,
        stepPath: `ask#call[${step}].tool[0]`,
        attempt: 1,
        idempotencyKey: `${executionId}:ask#call[${step}].tool[0]`,
        aborted: false,
        userId: "ada",
      })),
    );
    const events = await andante.events(workflow.id, executionId);
    expect(events.filter(({ type }) => type === "looked")).toHaveLength(2);
  });

  test("a call that the AI SDK tries again keeps its number", async () => {
    let refusals = 0;
    const busy = new APICallError({
      message: "busy",
      url: "https://model.example",
      requestBodyValues: {},
      isRetryable: true,
      responseHeaders: { "retry-after-ms": "1" },
    });
    const model = controlledModel(() => (++refusals === 1 ? { refuse: busy } : { text: ["ok"] }));
    const workflow = flow().andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.execute(workflow.id, 1);
    expect(result).toEqual({ text: "ok" });
    const events = await andante.events(workflow.id, executionId);
    const paths = events.filter(({ type }) => type === "checkpoint-complete").map(({ stepPath }) => stepPath);
    expect({ paths, asked: model.asked.length }).toEqual({ paths: ["ask#call[0]"], asked: 2 });
  });

  test("an agent that is not ours is one call as a whole", async () => {
    let asked = 0;
    const agent = { id: "other", generate: async () => ({ text: `reply ${++asked}` }) };
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.execute(workflow.id, 1);
    expect(result).toEqual({ text: "reply 1" });
    const events = await andante.events(workflow.id, executionId);
    expect(events.find(({ type }) => type === "checkpoint-complete")).toMatchObject({
      stepPath: "ask#call[0]",
      output: "reply 1",
      call: { kind: "agent" },
    });
  });

  test("a sub-agent's calls are below its tool", async () => {
    const { entry } = ledger();
    const helper = new Agent({
      id: "helper",
      model: stepwise({ calls: [call("one")] }, { text: ["helped"] }),
      tools: { one: entry("one") },
    });
    const agent = new Agent({
      id: "a",
      model: stepwise(
        { calls: [{ name: "helper", id: "call_0", input: { prompt: "help" } }] },
        { text: ["end"] },
      ),
      subAgents: [helper],
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, usage } = await andante.execute(workflow.id, 1);
    const events = await andante.events(workflow.id, executionId);
    const calls = events.filter(({ type }) => type === "checkpoint-complete");
    expect(calls.map(({ stepPath }) => stepPath)).toEqual([
      "ask#call[0]",
      "ask#call[0].tool[0].call[0]",
      "ask#call[0].tool[0].call[0].tool[0]",
      "ask#call[0].tool[0].call[1]",
      "ask#call[0].tool[0]",
      "ask#call[1]",
    ]);
    expect(usage).toMatchObject({ calls: 4 });
  });

  test.each<[string, Said, string]>([
    ["its length", { text: ["half"], finish: "length" }, "the number of tokens"],
    ["a content filter", { text: ["half"], finish: "content-filter" }, "content filter stopped it"],
    ["maxSteps", { text: ["half"], calls: [call("one")] }, "called the model 2 times"],
  ])("a reply that stopped because of %s fails the step, unless it is allowed", async (_, said, why) => {
    const { entry } = ledger();
    const model = controlledModel(() => said);
    const agent = new Agent({ id: "a", model, tools: { one: entry("one") }, maxSteps: 2 });
    const strict = flow().andAgent({ id: "ask", agent, prompt: "go", retry: { attempts: 3, delay: 1 } });
    const lax = flow().andAgent({ id: "ask", agent, prompt: "go", allowIncomplete: true });
    const andante = bench.andante(strict, lax);
    const { status, executionId } = await andante.execute(strict.id, 1);
    expect(status).toBe("error");
    const error = (await bench.store.state(executionId))?.execution.error;
    expect(error).toContain("ReplyIncompleteError");
    expect(error).toContain(why);
    expect(await andante.execute(lax.id, 1)).toMatchObject({ result: { text: "half" } });
  });

  test("a tool that the step's timeout has stopped runs again: that is not its outcome", async () => {
    const clock = new TestClock({ skipSleeps: false });
    const begun = Promise.withResolvers<void>();
    let tries = 0;
    const slow = tool({
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => {
        if (++tries > 1) return "done";
        begun.resolve();
        await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
        throw new Error("stopped");
      },
    });
    const agent = new Agent({ id: "a", model: stepwise({ calls: [call("slow")] }), tools: { slow } });
    const retry = { attempts: 2, delay: 0 };
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", timeout: "1m", retry });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun.promise;
    clock.advance("1m");
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
    expect(tries).toBe(2);
  });

  test("a reply that is whole at its last step is not incomplete", async () => {
    const agent = new Agent({ id: "a", model: stepwise({ text: ["whole"] }), maxSteps: 1 });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({
      status: "completed",
      result: { text: "whole" },
    });
  });

  test("a tool's output that JSON cannot hold fails the step and names the place", async () => {
    const { entry } = ledger();
    const agent = new Agent({
      id: "a",
      model: stepwise({ calls: [call("one")] }),
      tools: { one: entry("one", () => new Map()) },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const { executionId } = await bench.andante(workflow).execute(workflow.id, 1);
    expect((await bench.store.state(executionId))?.execution.error).toContain(
      "Output of tool ask#call[0].tool[0] cannot be kept as JSON",
    );
  });
});

onMemoryAndFile((bench) => {
  /** An agent whose first tool is held open. */
  function held() {
    const { ran, entry } = ledger();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const model = stepwise(
      { text: ["first "], calls: [call("slow"), call("fast", "call_1")] },
      { text: ["second"] },
    );
    const agent = new Agent({
      id: "a",
      model,
      tools: {
        slow: entry("slow", async () => {
          begun.resolve();
          await gate.promise;
          throw new PublicError("too slow");
        }),
        fast: entry("fast"),
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    return { workflow, model, ran, begun: begun.promise, finish: () => gate.resolve() };
  }

  test("under a pause the loop is left: tools in flight are recorded, and the walk continues after it", async () => {
    const { workflow, model, ran, begun, finish } = held();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun;
    await andante.suspend(workflow.id, executionId, {});
    finish();
    await andante.settled();
    expect(model.asked).toHaveLength(1);
    expect(await andante.resume(workflow.id, executionId)).toMatchObject({
      status: "completed",
      result: { text: "second" },
      usage: { calls: 2, totalTokens: 30 },
    });
    expect(ran).toEqual(["slow", "fast"]);
    expect(model.asked).toHaveLength(2);
    expect(JSON.stringify(model.asked[1]?.prompt)).toContain("too slow");
  });

  test("a shut-down leaves the loop too, and the next process walks on", async () => {
    const { workflow, model, ran, begun, finish } = held();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun;
    const closed = andante.close({ grace: 5000 });
    finish();
    await closed;
    const next = bench.andante(workflow);
    await next.ready();
    const state = async () => (await next.state(workflow.id, executionId)).status;
    await expect.poll(state).toBe("completed");
    expect(ran).toEqual(["slow", "fast"]);
    expect(model.asked).toHaveLength(2);
    expect(lastText(model.asked[0] ?? { prompt: [] })).toBe("go");
  });

  /** An agent with a tool whose output cannot be recorded, beside a sub-agent that has more to do. */
  function unrecordable() {
    const { ran, entry } = ledger();
    const [model, write] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [begun, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hold = () => {
      asked.resolve();
      return model.promise;
    };
    const helper = new Agent({
      id: "helper",
      model: stepwise({ calls: [call("note")], hold }),
      tools: { note: entry("note") },
    });
    const agent = new Agent({
      id: "a",
      model: stepwise({
        calls: [call("write"), { id: "call_1", name: "helper", input: { prompt: "go" } }],
      }),
      tools: {
        write: entry("write", async () => {
          begun.resolve();
          await write.promise;
          return new Map();
        }),
      },
      subAgents: [helper],
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go", retry: { attempts: 3, delay: 1 } });
    const finish = { model: () => model.resolve(), write: () => write.resolve() };
    return { workflow, ran, begun: Promise.all([begun.promise, asked.promise]), finish };
  }

  const recordedIn = async (executionId: string) =>
    (await bench.store.events({ executionId, after: 0, limit: 100 }))
      .filter(({ type }) => type === "checkpoint-complete")
      .map(({ path }) => path);

  describe.each(["pause", "shut-down"])("during a %s", (what) => {
    test.each([
      ["before", ["write", "model"]],
      ["after", ["model", "write"]],
    ] as const)(
      "a tool whose output cannot be recorded %s the loop is left runs once and fails the step",
      async (_, order) => {
        const { workflow, ran, begun, finish } = unrecordable();
        const andante = bench.andante(workflow);
        const { executionId } = await andante.start(workflow.id, 1);
        await begun;
        const closed =
          what === "pause"
            ? andante.suspend(workflow.id, executionId, {}).then(() => undefined)
            : andante.close({ grace: 60_000 });
        if (what === "pause") await closed;
        for (const part of order) {
          finish[part]();
          // Once the helper's call is recorded its tool is refused, and the loop is left.
          if (part === "model")
            await expect.poll(() => recordedIn(executionId)).toContain("ask#call[0].tool[1].call[0]");
          for (let turns = 0; turns < 20; turns++) await turn();
        }
        await closed;
        const next = what === "pause" ? andante : bench.andante(workflow);
        await next.ready();
        await next.settled();
        if (what === "pause") await andante.resume(workflow.id, executionId).catch(() => undefined);
        const status = async () => (await next.state(workflow.id, executionId)).status;
        await expect.poll(status).toBe("error");
        expect((await bench.store.state(executionId))?.execution.error).toContain("cannot be kept as JSON");
        expect(ran).toEqual(["write"]);
      },
    );
  });

  test("a prompt that differs after a restart is logged once, and the record is used", async () => {
    const { model, begun, finish, workflow: first } = held();
    const andante = bench.andante(first);
    const { executionId } = await andante.start(first.id, 1);
    await begun;
    const closed = andante.close({ grace: 5000 });
    finish();
    await closed;
    const agent = new Agent({ id: "a", model, instructions: "new ones", tools: {} });
    const [step] = first.steps;
    if (step?.type !== "andAgent") throw new Error("the flow has changed");
    const changed = { ...first, steps: [{ ...step, agent }] };
    const next = bench.andante(changed);
    await next.ready();
    const state = async () => (await next.state(first.id, executionId)).status;
    await expect.poll(state).toBe("completed");
    const lines = bench.logger.messages.filter((line) => line.includes("the prompt differs"));
    expect(lines).toHaveLength(1);
  });
});

describe("crashTest", { timeout: 60_000 }, () => {
  test("five tools, two of them at once, killed at every write: each ran once once recorded, usage counted once", async () => {
    const { ran, entry } = ledger();
    const agent = new Agent({
      id: "a",
      model: stepwise(
        { text: ["one"], calls: [call("reserve")] },
        { calls: [call("charge"), call("mail", "call_1")] },
        { calls: [call("refuse")] },
        { calls: [call("ship")] },
        { text: ["the ", "end"] },
      ),
      tools: {
        reserve: entry("reserve"),
        charge: entry("charge"),
        mail: entry("mail"),
        refuse: entry("refuse", () => Promise.reject(new Error("no"))),
        ship: entry("ship"),
      },
    });
    const workflow = flow()
      .andAgent({ id: "ask", agent, prompt: "go" })
      .andThen({ id: "last", execute: ({ data }) => data });
    const { expected, runs, differences } = await crashTest({
      workflow,
      input: {},
      reset: () => ran.splice(0),
      observe: () => ran.toSorted(),
    });
    const all = ["charge", "mail", "refuse", "reserve", "ship"];
    expect(expected).toMatchObject({ status: "completed", result: { text: "the end" }, observed: all });
    const usage = { inputTokens: 50, outputTokens: 25, totalTokens: 75, calls: 5 };
    for (const { ending } of runs) {
      expect(ending).toMatchObject({ status: "completed", result: { text: "the end" }, usage });
    }
    // A tool runs again only when its own record was lost.
    const lost = runs.filter(({ variant, events }) => variant === "lost" && events.includes(".tool["));
    expect(differences).toHaveLength(lost.length);
    for (const run of runs) {
      const again = run.ending.observed as string[];
      const tools = run.variant === "lost" ? (run.events.match(/\.tool\[/g)?.length ?? 0) : 0;
      expect(again).toHaveLength(all.length + tools);
    }
    expect(runs.length).toBeGreaterThan(20);
  });

  test("a model that is not asked again after its reply was recorded", async () => {
    const asked: number[] = [];
    const workflow = flow().andAgent({
      id: "ask",
      agent: new Agent({
        id: "a",
        model: scriptedModel(
          Array.from({ length: 50 }, () => (given) => {
            asked.push(stepOf(given));
            return "ok";
          }),
        ),
      }),
      prompt: "go",
    });
    const { runs } = await crashTest({
      workflow,
      input: {},
      reset: () => asked.splice(0),
      observe: () => asked.length,
    });
    expect(runs.map(({ events, variant, ending }) => [events, variant, ending.observed])).toEqual([
      ["workflow-start, step-start ask", "lost", 1],
      ["workflow-start, step-start ask", "unacknowledged", 1],
      ["checkpoint-complete ask#call[0]", "lost", 2],
      ["checkpoint-complete ask#call[0]", "unacknowledged", 1],
      ["step-complete ask, workflow-complete", "lost", 1],
      ["step-complete ask, workflow-complete", "unacknowledged", 1],
    ]);
  });
});
