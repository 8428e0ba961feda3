// Guards of a model's output: no reader sees text that the host replaces or stops, in any way to ask, and after a crash.
import { tool, type UIMessageChunk } from "ai";
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
