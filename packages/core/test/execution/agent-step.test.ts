// andAgent: structured output, usage, live text, and when the model call is aborted.
import { type ModelMessage, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { LiveText } from "../../src/execution/stream/feed.ts";
import { LiveTexts } from "../../src/execution/stream/live-texts.ts";
import type { ExecutionEvent } from "../../src/execution/stream/views.ts";
import { andAgent, andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel, lastText, type Said } from "../support/controlled-model.ts";
import { attach, collect, flow, onMemory, onMemoryAndFile, until } from "../support/test-andante.ts";

const used = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };
const schema = z.object({ grade: z.int(), note: z.string().default("none") });
const textOf = (events: readonly ExecutionEvent[]) =>
  events
    .filter(({ type }) => type === "text-delta")
    .map(({ delta }) => delta)
    .join("");

/** A model that sends one word, waits until it is released, and sends the rest. */
function heldModel() {
  const begun = Promise.withResolvers<AbortSignal | undefined>();
  const gate = Promise.withResolvers<void>();
  const hold: Said["hold"] = (piece, signal) => {
    if (piece !== 1) return undefined;
    begun.resolve(signal);
    return gate.promise;
  };
  const model = controlledModel(() => ({ text: ["first ", "second"], hold }));
  return { model, begun: begun.promise, letGo: () => gate.resolve() };
}

onMemory((bench) => {
  test("an agent that only generates gets the texts of all messages, with an empty line between them", async () => {
    const asked: unknown[] = [];
    const agent = {
      generate: async ({ prompt }: { prompt: string }) => {
        asked.push(prompt);
        return { text: "ok" };
      },
    };
    const prompt: ModelMessage[] = [
      { role: "user", content: "one" },
      { role: "assistant", content: [{ type: "text", text: "two" }] },
      { role: "user", content: "three" },
    ];
    const workflow = flow().andAgent({ id: "ask", agent, prompt: () => prompt });
    expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "completed" });
    expect(asked).toEqual(["one\n\ntwo\n\nthree"]);
  });

  test("an agent's answer is streamed as text deltas without a number, and whole in the outcome", async () => {
    const agent = new Agent({
      id: "a",
      model: controlledModel((call) => ({ text: ["You ", "said ", lastText(call)] })),
    });
    const workflow = flow(z.string()).andAgent({ id: "ask", agent, prompt: ({ data }) => data });
    const { events } = await bench.andante(workflow).stream(workflow.id, "hello");
    const all = await collect(events);
    const types = all.map(({ type }) => type);
    expect(types.indexOf("text-delta")).toBeGreaterThan(types.indexOf("step-start"));
    expect(types.lastIndexOf("text-delta")).toBeLessThan(types.indexOf("step-complete"));
    expect(textOf(all)).toBe("You said hello");
    const delta = all.find(({ type }) => type === "text-delta");
    expect(delta).toEqual({
      type: "text-delta",
      executionId: all[0]?.executionId,
      timestamp: expect.any(String),
      from: "ask",
      stepPath: "ask",
      stepIndex: 0,
      stepType: "andAgent",
      delta: expect.any(String),
    });
    const journaled = all.filter(({ sequence }) => sequence !== undefined).map(({ sequence }) => sequence);
    expect(journaled).toEqual(journaled.map((_, index) => index + 1));
    expect(all.at(-1)).toMatchObject({ type: "workflow-result", result: { text: "You said hello" } });
  });

  test("tool calls and results are in the stream as they happen, and a retry does not publish them again", async () => {
    const model = controlledModel((_, number) => {
      if (number === 1) return { calls: [{ name: "search", input: { at: "sea" } }] };
      return number === 2 ? { refuse: new Error("once") } : { text: ["done"] };
    });
    const search = tool({
      inputSchema: z.object({ at: z.string() }),
      async *execute() {
        yield "looking";
        yield "found";
      },
    });
    const agent = new Agent({ id: "a", model, tools: { search }, maxRetries: 0 });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "p", retry: { attempts: 2, delay: 0 } });
    const { events } = await bench.andante(workflow).stream(workflow.id, {});
    const tools = (await collect(events)).filter(({ type }) => type.startsWith("tool-"));
    const call = { toolCallId: "call-search", toolName: "search", input: { at: "sea" }, stepPath: "ask" };
    expect(tools).toMatchObject([
      { ...call, type: "tool-call" },
      { ...call, type: "tool-result", output: "looking", preliminary: true },
      { ...call, type: "tool-result", output: "found", preliminary: true },
      { ...call, type: "tool-result", output: "found" },
    ]);
    expect(tools.every(({ sequence }) => sequence === undefined)).toBe(true);
  });

  test("an agent is asked with messages and files as well as with a string", async () => {
    const model = controlledModel(() => ({ text: ["a cat"] }));
    const agent = new Agent({ id: "a", model });
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const messages = (data: Uint8Array): ModelMessage[] => [
      { role: "user", content: "Look at this." },
      { role: "assistant", content: "Show me." },
      { role: "user", content: [{ type: "file", mediaType: "image/png", data }] },
    ];
    const hello = [{ id: "u", role: "user" as const, parts: [{ type: "text" as const, text: "Hello" }] }];
    const workflow = flow()
      .andAgent({ id: "made", agent, prompt: () => messages(bytes) })
      .andAgent({ id: "fixed", agent, prompt: messages(bytes) })
      .andAgent({
        id: "chat",
        agent,
        prompt: hello,
      })
      // One of the AI SDK, which has no tools where it was given none.
      .andAgent({ id: "theirs", agent: new ToolLoopAgent({ id: "theirs", model }), prompt: hello });
    const result = await bench.andante(workflow).execute(workflow.id, {});
    expect(result).toMatchObject({ status: "completed", result: { text: "a cat" } });
    for (const call of model.asked.slice(0, 2)) {
      expect(call.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
      expect(JSON.stringify(call.prompt.at(-1))).toContain('"mediaType":"image/png"');
      expect(JSON.stringify(call.prompt.at(-1))).toContain(Buffer.from(bytes).toString("base64"));
    }
    expect(model.asked.slice(2).map(lastText)).toEqual(["Hello", "Hello"]);
    const wrong = flow(z.unknown()).andAgent({
      id: "wrong",
      agent,
      prompt: () => [{ role: "system", content: "x" }],
    });
    expect(await bench.andante(wrong).execute(wrong.id, 1)).toMatchObject({ status: "error" });
  });

  test("usage is on the event, and summed on result and state", async () => {
    const model = controlledModel(() => ({ text: ["ok"] }));
    const ours = new Agent({ id: "ours", model });
    const theirs = new ToolLoopAgent({ id: "theirs", model });
    const workflow = flow()
      .andAgent({ id: "one", agent: ours, prompt: "p" })
      .andAll({
        id: "both",
        steps: [andAgent({ id: "two", agent: theirs, prompt: "p" }), andThen({ id: "no", execute: () => 1 })],
      });
    const andante = bench.andante(workflow);
    const result = await andante.execute(workflow.id, {});
    const twice = { inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 };
    expect(result).toMatchObject({ status: "completed", usage: twice });
    expect((await andante.state(workflow.id, result.executionId)).usage).toEqual(twice);
    const events = await andante.events(workflow.id, result.executionId);
    const complete = events.filter(({ type }) => type === "step-complete");
    expect(complete.map(({ from, usage }) => [from, usage])).toEqual(
      expect.arrayContaining([
        ["one", used],
        ["two", used],
        ["no", undefined],
        ["both", undefined],
      ]),
    );
  });

  test("an execution without agents has no usage", async () => {
    const workflow = flow().andThen({ id: "a", execute: () => 1 });
    const andante = bench.andante(workflow);
    const { executionId, ...result } = await andante.execute(workflow.id, {});
    expect(result).not.toHaveProperty("usage");
    expect(await andante.state(workflow.id, executionId)).not.toHaveProperty("usage");
  });

  test("a schema is asked for as structured output of our agents, and in words of others", async () => {
    const model = controlledModel(() => ({ text: ['{"grade":', "3}"] }));
    const ours = flow().andAgent({
      id: "ask",
      agent: new Agent({ id: "a", model }),
      prompt: "judge",
      schema,
    });
    class Theirs extends ToolLoopAgent {}
    const theirs = flow().andAgent({
      id: "ask",
      agent: new Theirs({ model }),
      prompt: "judge",
      schema,
    });
    const andante = bench.andante(ours, theirs);
    expect((await andante.execute(ours.id, {})).result).toEqual({ grade: 3, note: "none" });
    expect(model.asked[0]?.responseFormat).toMatchObject({ type: "json", schema: { required: ["grade"] } });
    expect((await andante.execute(theirs.id, {})).result).toEqual({ grade: 3, note: "none" });
    expect(model.asked[1]?.responseFormat).toBeUndefined();
    expect(lastText(model.asked[1] ?? { prompt: [] })).toContain("Reply with nothing but JSON");
  });

  test("an answer that does not fit gets one more try, then it is a schema error; both tries are counted", async () => {
    const second = controlledModel((_, number) => ({
      text: [number === 1 ? '{"grade":"good"}' : '{"grade":1}'],
    }));
    const never = controlledModel(() => ({ text: ["no"] }));
    const repaired = flow().andAgent({
      id: "ask",
      agent: new Agent({ id: "a", model: second }),
      prompt: "p",
      schema,
    });
    const failed = flow().andAgent({
      id: "ask",
      agent: new Agent({ id: "b", model: never }),
      prompt: "p",
      schema,
    });
    const andante = bench.andante(repaired, failed);
    expect(await andante.execute(repaired.id, {})).toMatchObject({
      result: { grade: 1 },
      usage: { calls: 2 },
    });
    const { executionId, status } = await andante.execute(failed.id, {});
    expect([status, never.asked.length]).toEqual(["error", 2]);
    const events = await andante.events(failed.id, executionId);
    expect(events.find(({ type }) => type === "step-error")?.error).toMatchObject({
      name: "StepSchemaError",
      message: "Step ask: output validation failed: it is not JSON",
    });
  });

  test("a prompt that is neither a string nor messages fails the step before any model is asked", async () => {
    const model = controlledModel(() => ({ text: ["ok"] }));
    // The input of a caller can break the promise of a type.
    const prompt = ({ data }: { data: unknown }): string => Object(data).text;
    const workflow = flow(z.unknown()).andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt });
    const andante = bench.andante(workflow);
    const { executionId, status } = await andante.execute(workflow.id, { text: 7 });
    const events = await andante.events(workflow.id, executionId);
    expect([status, events.find(({ type }) => type === "step-error")?.error]).toMatchObject([
      "error",
      { message: "Step ask: prompt validation failed: expected a string or messages, received number" },
    ]);
    expect(model.asked).toEqual([]);
  });

  test("hooks and tools of the agent know the execution's user and context", async () => {
    const seen: unknown[] = [];
    const agent = new Agent({
      id: "a",
      model: controlledModel(() => ({ text: ["ok"] })),
      hooks: {
        onStart: ({ context }) =>
          seen.push(context.userId, context.conversationId, context.context.get("tier")),
      },
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
    const options = { userId: "ada", conversationId: "c", context: { tier: "gold" } };
    await bench.andante(workflow).execute(workflow.id, {}, options);
    expect(seen).toEqual(["ada", "c", "gold"]);
  });

  test("an answer that was journaled is not asked for again", async () => {
    const model = controlledModel(() => ({ text: ["once"] }));
    const workflow = flow()
      .andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "p" })
      .andThen({ id: "gate", execute: ({ data, suspend, resumeData }) => (resumeData ? data : suspend()) });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    expect(await andante.resume(workflow.id, executionId, true)).toMatchObject({
      result: { text: "once" },
      usage: used,
    });
    expect(model.asked).toHaveLength(1);
  });

  describe("the call of the model", () => {
    test("is aborted when the execution is cancelled", async () => {
      const { model, begun } = heldModel();
      const workflow = flow().andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "p" });
      const andante = bench.andante(workflow);
      const started = await andante.start(workflow.id, {});
      const signal = await begun;
      await andante.cancel(workflow.id, started.executionId);
      expect(signal?.aborted).toBe(true);
    });

    test("is aborted when its race is lost, and when a sibling fails", async () => {
      for (const kind of ["race", "all"] as const) {
        const { model, begun } = heldModel();
        const asking = andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "p" });
        const other = andThen({
          id: "other",
          execute: async () => {
            await begun;
            if (kind === "all") throw new Error("no");
            return 1;
          },
        });
        const workflow =
          kind === "race"
            ? flow().andRace({ id: "fork", steps: [asking, other] })
            : flow().andAll({ id: "fork", steps: [asking, other] });
        await bench.andante(workflow).execute(workflow.id, {});
        expect((await begun)?.aborted, kind).toBe(true);
      }
    });

    test("is not aborted by a suspension: its answer is recorded", async () => {
      const { model, begun, letGo } = heldModel();
      const workflow = flow().andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "p" });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      const signal = await begun;
      await andante.suspend(workflow.id, executionId);
      expect(signal?.aborted).toBe(false);
      letGo();
      const events = await attach(andante, workflow.id, executionId);
      expect(await until(events, "step-complete")).toMatchObject({ output: { text: "first second" } });
      await events.return?.();
      expect(await andante.resume(workflow.id, executionId)).toMatchObject({ status: "completed" });
      expect(model.asked).toHaveLength(1);
    });
  });

  test("a reader that is slow loses pieces of text, never an event", async () => {
    const pieces = Array.from({ length: 400 }, (_, n) => String(n % 10).repeat(1024));
    const agent = new Agent({ id: "a", model: controlledModel(() => ({ text: pieces })) });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
    const andante = bench.andante(workflow);
    const { executionId, events } = await andante.stream(workflow.id, {});
    // Nothing is read before the execution has ended.
    const ended = await collect(await attach(andante, workflow.id, executionId));
    expect(ended.at(-1)).toMatchObject({ status: "completed" });
    const all = await collect(events);
    expect(all.filter(({ sequence }) => sequence !== undefined).map(({ type }) => type)).toEqual([
      "workflow-start",
      "step-start",
      "checkpoint-complete",
      "step-complete",
      "workflow-complete",
    ]);
    expect(textOf(all).length).toBeLessThanOrEqual(256 * 1024);
    expect(all.find(({ type }) => type === "step-complete")?.output).toEqual({ text: pieces.join("") });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("the call of the model", () => {
    test("is aborted when the process stops and the grace period has ended, and asked again by the next", async () => {
      const { model, begun, letGo } = heldModel();
      const workflow = flow().andAgent({ id: "ask", agent: new Agent({ id: "a", model }), prompt: "p" });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      const signal = await begun;
      await andante.close({ grace: 0 });
      expect(signal?.aborted).toBe(true);
      letGo();
      const next = bench.andante(workflow);
      const all = await collect(await attach(next, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ status: "completed", result: { text: "first second" } });
      expect(model.asked).toHaveLength(2);
    });
  });
});

describe("texts that were not read", () => {
  const piece = (delta: string, path = "a"): LiveText => ({
    timestamp: 0,
    path,
    stepIndex: 0,
    stepType: "andAgent",
    delta,
  });

  test("neighbours of one answer are one, others stay apart", () => {
    const texts = new LiveTexts();
    for (const each of [piece("x"), piece("y"), piece("z", "b"), piece("w")]) texts.add(each, 1);
    expect(texts.take(0), "the reader is not there yet").toBeUndefined();
    expect([texts.take(1), texts.take(1), texts.take(1), texts.take(1)]).toEqual([
      piece("xy"),
      piece("z", "b"),
      piece("w"),
      undefined,
    ]);
  });

  test("the oldest go when there are too many, however long one is", () => {
    const texts = new LiveTexts(10);
    texts.add(piece("0123456789"), 1);
    texts.add(piece("abc"), 2);
    expect(texts.take(9)).toEqual(piece("abc"));
    texts.add(piece("x".repeat(11)), 3);
    expect(texts.take(9)).toBeUndefined();
    texts.add(piece("y"), 3);
    expect(texts.take(9)).toEqual(piece("y"));
  });
});
