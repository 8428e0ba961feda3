// The offline demo model, driven through the real AI SDK: text rules, streams, abort.
import { generateText, Output, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

async function ask(prompt: string, system?: string): Promise<string> {
  const { text } = await generateText({
    model: demoModel(),
    prompt,
    ...(system && { instructions: system }),
  });
  return text;
}

async function collect<Part>(parts: AsyncIterable<Part>): Promise<Part[]> {
  const collected: Part[] = [];
  for await (const part of parts) collected.push(part);
  return collected;
}

describe("who it is", () => {
  test("names itself the demo model of andante", () => {
    expect(demoModel()).toMatchObject({ specificationVersion: "v4", provider: "andante", modelId: "demo" });
  });

  test("gives the same reply to the same messages", async () => {
    expect(await ask("Surprise me")).toBe(await ask("Surprise me"));
  });

  test("refuses a delay that is not a sensible number, and the error names the range", () => {
    for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY, 60_001])
      expect(() => demoModel({ delay })).toThrow(/delay must be a number of milliseconds from 0 to 60000/);
  });
});

describe("introduces the agent", () => {
  test.each(["Hello! What can you do?", "hi", "Good morning!", "Who are you?", ""])("%j", async (message) => {
    const { text } = await generateText({
      model: demoModel(),
      instructions: "You are a patient gardener. Use metric units.",
      messages: [{ role: "user", content: message }],
    });
    expect(text).toMatch(
      /^Hello! I am a patient gardener\. My instructions: “Use metric units\.” I have no tools/,
    );
    expect(text.match(/offline demo model/g)).toHaveLength(1);
  });
});

describe("follows plain instructions", () => {
  test.each([
    ['Please say exactly "Hello, world!"', "Hello, world!"],
    ["Say exactly: It works.", "It works."],
    ["Reply with pong", "pong"],
    ["reply with exactly: PONG", "PONG"],
    ["I have a question. Respond with 'maybe' please", "maybe"],
    ["count to 5", "1 2 3 4 5"],
  ])("%s", async (prompt, reply) => {
    expect(await ask(prompt)).toBe(reply);
  });

  test("takes an exact reply from the system prompt, and the user's own instruction before it", async () => {
    expect(await ask("Hi", 'Always reply with "At your service."')).toBe("At your service.");
    expect(await ask("reply with yes", 'Reply with "no"')).toBe("yes");
  });

  test("remembers the user's name from earlier in the conversation", async () => {
    const { text } = await generateText({
      model: demoModel(),
      messages: [
        { role: "user", content: "Hello, my name is Ada." },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "What is my name?" },
      ],
    });
    expect(text).toBe("You told me that your name is Ada.");
  });
});

describe("writes text", () => {
  test.each([
    ["Write a short story about old trains.", "old trains"],
    ["What is the meaning of rivers?", "meaning of rivers"],
    ["Please explain photosynthesis", "photosynthesis"],
  ])("%s", async (prompt, topic) => {
    const reply = await ask(prompt);
    expect(reply).toMatch(new RegExp(`^There is more to ${topic} than`));
    expect(reply.match(/offline demo model/g)).toHaveLength(1);
  });

  test("repeats a message that asks for nothing", async () => {
    expect(await ask("I like this weather")).toContain("You said: “I like this weather”");
  });

  test("names a file and does not read it", async () => {
    const content = [
      { type: "file" as const, data: new URL("https://example.invalid/a.pdf"), mediaType: "application/pdf" },
    ];
    const { text } = await generateText({ model: demoModel(), messages: [{ role: "user", content }] });
    expect(text).toContain("application/pdf");
  });
});

describe("keeps any reply small and quick", () => {
  test("bounds counting", async () => {
    expect((await ask("count to 999999999999")).split(" ")).toHaveLength(1_000);
  });

  test.each([
    ["a huge message", "x".repeat(2_000_000)],
    ["a huge run of spaces", `say exactly "${" ".repeat(2_000_000)}"`],
    ["quotes that never close", "say “".repeat(50_000)],
    ["many brackets", "{[(".repeat(50_000)],
    ["many keys", "key: ".repeat(50_000)],
    ["many sentences", "say. reply with! summarize ".repeat(20_000)],
  ])(
    "%s",
    async (_name, prompt) => {
      expect((await ask(prompt)).length).toBeLessThan(30_000);
    },
    5_000,
  );
});

describe("counts and limits words as tokens", () => {
  test("usage is about the words of the messages, and the words of the reply", async () => {
    const { usage } = await generateText({
      model: demoModel(),
      instructions: "Be kind.",
      prompt: "reply with one two three",
    });
    expect(usage).toMatchObject({ inputTokens: 6, outputTokens: 3, totalTokens: 9 });
  });

  test("stops at maxOutputTokens with the reason length", async () => {
    const result = await generateText({ model: demoModel(), prompt: "count to 9", maxOutputTokens: 4 });
    expect(result).toMatchObject({ text: "1 2 3 4", finishReason: "length" });
  });

  test("stops before a stop sequence", async () => {
    const { text } = await generateText({ model: demoModel(), prompt: "count to 9", stopSequences: [" 5"] });
    expect(text).toBe("1 2 3 4");
  });
});

describe("streams", () => {
  test("text, word by word", async () => {
    const result = streamText({ model: demoModel(), prompt: "reply with one two three" });
    expect(await collect(result.textStream)).toEqual(["one", " two", " three"]);
    expect(await result.finishReason).toBe("stop");
    expect(await result.usage).toMatchObject({ outputTokens: 3 });
  });

  test("the parts of the specification, in order", async () => {
    const { stream } = await demoModel().doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "say hi you" }] }],
    });
    const types = (await collect(stream)).map((part) => part.type);
    expect(types).toEqual([
      "stream-start",
      "response-metadata",
      "text-start",
      "text-delta",
      "text-delta",
      "text-end",
      "finish",
    ]);
  });

  test("JSON in small pieces that grow into the object", async () => {
    const schema = z.object({ title: z.string(), tags: z.array(z.string()), size: z.int() });
    const result = streamText({
      model: demoModel(),
      output: Output.object({ schema }),
      prompt: "About rivers",
    });
    const partials = await collect(result.partialOutputStream);
    expect(partials.length).toBeGreaterThan(3);
    expect(partials.at(-1)).toEqual(await result.output);
  });

  test("the same text as generate, with and without a delay", async () => {
    const prompt = "Write about  spaced\n\twords and rivers";
    const result = streamText({ model: demoModel({ delay: 1 }), prompt: `say exactly "${prompt} "` });
    expect(await result.text).toBe(`${prompt} `);
    expect((await generateText({ model: demoModel({ delay: 1 }), prompt: "count to 3" })).text).toBe("1 2 3");
  });
});

describe("abort", () => {
  const slow = demoModel({ delay: 60_000 });

  test("ends a call that was aborted before it began", async () => {
    const call = { model: demoModel(), prompt: "count to 5", abortSignal: AbortSignal.abort() };
    await expect(generateText(call)).rejects.toMatchObject({ name: "AbortError" });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    await expect(demoModel().doStream({ prompt, abortSignal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  test("ends generate in the middle of a wait, with the reason of the signal", async () => {
    const controller = new AbortController();
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "count to 5" }] }];
    const call = slow.doGenerate({ prompt, abortSignal: controller.signal });
    const reason = new Error("changed my mind");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test("ends a stream in the middle of a wait", async () => {
    const controller = new AbortController();
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "count to 5" }] }];
    const { stream } = await slow.doStream({ prompt, abortSignal: controller.signal });
    const read = collect(stream);
    controller.abort();
    await expect(read).rejects.toMatchObject({ name: "AbortError" });
  });

  test("ends a stream between two words when there is no delay", async () => {
    const controller = new AbortController();
    const result = streamText({
      model: demoModel(),
      prompt: "count to 1000",
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const part of result.fullStream) {
      types.push(part.type);
      if (part.type === "text-delta") controller.abort();
    }
    expect(types).toContain("abort");
    expect(types.filter((type) => type === "text-delta").length).toBeLessThan(1_000);
  });

  test("a reader that leaves ends the stream", async () => {
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "count to 5" }] }];
    const { stream } = await demoModel().doStream({ prompt });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });
});
