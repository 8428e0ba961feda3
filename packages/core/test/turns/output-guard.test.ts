// Guards of a model's output: no reader sees text that the host replaces or stops, in any way to ask, and after a crash.
import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Output, tool, type UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { OutputGuard } from "../../src/agent/call/output-guard.ts";
import { PublicError } from "../../src/errors/index.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { type ScriptedReply, scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { flow, onMemory } from "../support/test-andante.ts";

// The secret is in three deltas.
const pieces = ["It is fine. The key is s", "k-12", "34. Keep it", " safe."];
const redact: OutputGuard["check"] = (text) =>
  text.includes("sk-1234") ? { replace: text.replace("sk-1234", "[key]") } : "pass";
const redacted = "It is fine. The key is [key]. Keep it safe.";
const holds = ["sentence", "reply"] as const;

function agentWith(script: readonly ScriptedReply[], hold: OutputGuard["hold"], check: OutputGuard["check"]) {
  return new Agent({ id: "a", model: scriptedModel(script), guards: { output: { hold, check } } });
}

const guardsOf = (hold: OutputGuard["hold"]) => ({ output: { hold, check: redact } });

type Whole = Awaited<ReturnType<LanguageModelV4["doGenerate"]>>;

/** A model that says these parts, streamed or at once. */
function modelOf(
  parts: readonly LanguageModelV4StreamPart[],
  more: Pick<Whole, "structuredOutputText"> = {},
): LanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const finishReason = { unified: "stop", raw: undefined } as const;
  const content = parts.flatMap((part): LanguageModelV4Content[] => {
    if (part.type === "text-delta") return [{ type: "text", text: part.delta }];
    return part.type === "source" ? [part] : [];
  });
  return {
    ...{ specificationVersion: "v4", provider: "scripted", modelId: "parts", supportedUrls: {} },
    doGenerate: async () => ({ content, finishReason, usage, warnings: [], ...more }),
    doStream: async () => ({
      stream: ReadableStream.from<LanguageModelV4StreamPart>([
        ...parts,
        { type: "finish", finishReason, usage },
      ]),
    }),
  };
}

function textIn(parts: readonly { readonly type: string; readonly delta?: unknown }[]): string {
  return parts.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : [])).join("");
}

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

onMemory((bench) => {
  describe.each(holds)("a secret that is split over deltas is caught, held by %s", (hold) => {
    const ask = () =>
      bench.andanteWith({ agents: { a: agentWith([{ text: pieces }], hold, redact) } }).agents;

    test("in a text, with and without a conversation", async () => {
      expect((await ask().text("a", "hi")).text).toBe(redacted);
      expect((await ask().text("a", "hi", { conversationId: `text-${hold}` })).text).toBe(redacted);
    });

    test("in a stream", async () => {
      const parts = await all(await ask().stream("a", "hi"));
      const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
      expect(deltas.join("")).toBe(redacted);
      expect(JSON.stringify(parts)).not.toContain("sk-1");
    });

    test("in a chat, and in the kept message", async () => {
      const andante = bench.andanteWith({ agents: { a: agentWith([{ text: pieces }], hold, redact) } });
      const conversationId = `chat-${hold}`;
      const message = [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }];
      const chunks: UIMessageChunk[] = await all(await andante.agents.chat("a", message, { conversationId }));
      expect(JSON.stringify(chunks)).not.toContain("sk-1");
      const { messages } = await andante.conversations.messages(conversationId);
      expect(messages.at(-1)?.parts).toMatchObject([
        { type: "step-start" },
        { type: "text", text: redacted },
      ]);
    });
  });

  test("sentences are shown as they come, each with the text before it", async () => {
    const seen: unknown[] = [];
    const check: OutputGuard["check"] = (text, { before, kind }) => void seen.push([kind, before, text]);
    const { agents } = bench.andanteWith({ agents: { a: agentWith([{ text: pieces }], "sentence", check) } });
    const parts = await all(await agents.stream("a", "hi"));
    const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(deltas).toEqual(["It is fine. ", "The key is sk-1234. ", "Keep it safe."]);
    expect(seen).toEqual([
      ["text", "", "It is fine. "],
      ["text", "It is fine. ", "The key is sk-1234. "],
      ["text", "It is fine. The key is sk-1234. ", "Keep it safe."],
    ]);
  });

  const source: LanguageModelV4Content = {
    type: "source",
    sourceType: "url",
    id: "s",
    url: "https://example.com/",
  };
  const chunk = { type: "raw", rawValue: { text: "sk-1234" } } as const;

  test.each(holds)("a source between two deltas shows no half of a secret, held by %s", async (hold) => {
    const model = modelOf([
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "The key is sk-12" },
      chunk,
      source,
      { type: "text-delta", id: "1", delta: "34. Keep it safe." },
      { type: "text-end", id: "1" },
    ]);
    const agent = new Agent({ id: "a", model, include: { rawChunks: true }, guards: guardsOf(hold) });
    const parts = await all(await bench.andanteWith({ agents: { a: agent } }).agents.stream("a", "hi"));
    expect(textIn(parts)).toBe("The key is [key]. Keep it safe.");
    expect(parts.filter(({ type }) => type === "source")).toHaveLength(1);
    const { stream } = await agent.stream({ prompt: "hi" });
    expect(JSON.stringify([parts, await all(stream)])).not.toContain("sk-1");
  });

  test("a reply of several texts is checked as one, streamed or not", async () => {
    const model = modelOf([
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "The key is sk-12" },
      { type: "text-end", id: "1" },
      source,
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "34." },
      { type: "text-end", id: "2" },
    ]);
    const seen: string[] = [];
    const check: OutputGuard["check"] = (text, context) => {
      seen.push(text);
      return redact(text, context);
    };
    const agent = new Agent({ id: "a", model, guards: { output: { hold: "reply", check } } });
    const { agents } = bench.andanteWith({ agents: { a: agent } });
    expect(textIn(await all(await agents.stream("a", "hi")))).toBe("The key is [key].");
    expect((await agents.text("a", "hi")).text).toBe("The key is [key].");
    expect(seen).toEqual(["The key is sk-1234.", "The key is sk-1234."]);
  });

  test.each(holds)("reasoning is checked by itself, held by %s", async (hold) => {
    const model = modelOf([
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "They want sk-1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "I will not say it" },
      { type: "reasoning-delta", id: "1", delta: "234. No" },
      { type: "reasoning-end", id: "1" },
      { type: "text-delta", id: "1", delta: "." },
      { type: "text-end", id: "1" },
    ]);
    const agent = new Agent({ id: "a", model, guards: guardsOf(hold) });
    const parts = await all(await bench.andanteWith({ agents: { a: agent } }).agents.stream("a", "hi"));
    expect(textIn(parts)).toBe("I will not say it.");
    const reasoning = parts.flatMap((part) => (part.type === "reasoning-delta" ? [part.delta] : []));
    expect(reasoning.join("")).toBe("They want [key]. No");
  });

  test("the text of an object that a provider reports beside its reply is checked, too", async () => {
    const note = JSON.stringify({ note: "The key is sk-1234" });
    const model = modelOf([{ type: "text-delta", id: "1", delta: "Here it is." }], {
      structuredOutputText: note,
    });
    const output = Output.object({ schema: z.object({ note: z.string() }) });
    const agent = new Agent({ id: "a", model, output, guards: guardsOf("sentence") });
    expect((await agent.generate({ prompt: "hi" })).output).toEqual({ note: "The key is [key]" });
  });

  test("an object is checked as a whole", async () => {
    const object = { note: "One. The key is sk-1234. Two." };
    const agent = agentWith([{ object }, { object }], "sentence", redact);
    const { agents } = bench.andanteWith({ agents: { a: agent } });
    expect(await agents.object("a", "hi", z.object({ note: z.string() }))).toEqual({
      note: "One. The key is [key]. Two.",
    });
    const parts = await all(await agents.streamObject("a", "hi", z.object({ note: z.string() })));
    expect(JSON.stringify(parts)).not.toContain("sk-1");
    expect(parts.at(-1)).toMatchObject({ type: "object", object: { note: "One. The key is [key]. Two." } });
  });

  const stops: [string, OutputGuard["check"]][] = [
    ["a decision", (text) => (text.includes("sk-") ? { stop: "Not that" } : undefined)],
    [
      "a PublicError",
      (text) => {
        if (text.includes("sk-")) throw new PublicError("Not that");
        return undefined;
      },
    ],
  ];
  test.each(stops)(
    "%s stops the reply: the caller reads the words, and nothing is kept",
    async (name, check) => {
      const agent = agentWith([{ text: pieces }, { text: pieces }], "sentence", check);
      const { agents, conversations } = bench.andanteWith({ agents: { a: agent } });
      const conversationId = name.replaceAll(" ", "-");
      await expect(agents.text("a", "hi", { conversationId })).rejects.toMatchObject({
        ...{ code: "reply-refused", status: 403, message: "Not that" },
      });
      expect((await conversations.messages(conversationId)).messages).toHaveLength(1);
      const parts = await all(await agents.stream("a", "hi"));
      expect(JSON.stringify(parts)).toContain("It is fine. ");
      expect(JSON.stringify(parts)).not.toContain("sk-");
      expect(parts.at(-1)).toMatchObject({ type: "error" });
    },
  );

  test("one that throws fails the reply: unchecked text is not shown", async () => {
    const check = () => {
      throw new TypeError("oops");
    };
    const agent = agentWith([{ text: pieces }], "reply", check);
    const { agents } = bench.andanteWith({ agents: { a: agent } });
    await expect(agents.text("a", "hi")).rejects.toThrow("The agent's guards.output failed");
  });
});

test.each(holds)(
  "a reply that continues after a crash has the same text, checked once, held by %s",
  async (hold) => {
    const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
    let checked = 0;
    const check: OutputGuard["check"] = (text, context) => {
      checked++;
      return redact(text, context);
    };
    const script = ({ prompt }: { prompt: readonly { role: string }[] }) =>
      prompt.at(-1)?.role === "tool"
        ? { text: pieces }
        : { text: "Look. ", toolCalls: [{ toolName: "look" }] };
    const model = scriptedModel(Array.from({ length: 100 }, () => script));
    const agent = new Agent({ id: "a", model, tools: { look }, guards: { output: { hold, check } } });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
    const reset = () => {
      checked = 0;
    };
    const report = await crashTest({ workflow, input: {}, timeout: 30_000, reset, observe: () => checked });
    const { expected, runs } = report;
    expect(expected.result).toEqual({ text: redacted });
    expect(runs.map(({ ending }) => ending.result)).toEqual(runs.map(() => expected.result));
    const recorded = runs.filter(
      ({ events, variant }) => variant === "unacknowledged" && events.includes("ask#call["),
    );
    expect(recorded.length).toBeGreaterThan(1);
    for (const { ending } of recorded) expect(ending.observed).toBe(expected.observed);
  },
);

test.each([
  [{ output: { hold: "word", check: () => undefined } }, 'guards.output.hold must be "sentence" or "reply"'],
  [{ output: { hold: "reply" } }, "guards.output.check must be a function"],
  [{ input: {} }, 'unknown option "input"'],
])("%j is refused", (guards, problem) => {
  expect(() => new Agent({ id: "a", model: "a/b", guards: Object(guards) })).toThrow(problem);
});
