// How the demo model calls tools, driven through the real AI SDK: arguments, loops, tool choice, approval.
import { generateText, isStepCount, Output, streamText, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

async function collect<Part>(parts: AsyncIterable<Part>): Promise<Part[]> {
  const collected: Part[] = [];
  for await (const part of parts) collected.push(part);
  return collected;
}

const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string(), days: z.int().min(1).max(7).optional() }),
  execute: async ({ city, days }) => ({ city, days, sky: "clear" }),
});
const roll = tool({
  inputSchema: z.object({ sides: z.int().min(2) }),
  execute: async ({ sides }) => `rolled ${sides}`,
});
const getTime = tool({
  inputSchema: z.object({ zone: z.enum(["utc", "cet"]) }),
  execute: async () => "noon",
});
const tools = { weather, roll, getTime };

describe("calls a tool that the message names", () => {
  test.each([
    ["Call the weather tool for Oslo", "weather", { city: "Oslo" }],
    ["use weather with city=Rome days=3", "weather", { city: "Rome", days: 3 }],
    ["What is the weather in New York?", "weather", { city: "New York" }],
    ['weather for "San José"', "weather", { city: "San José" }],
    ["weather please: city: Porto Alegre, days: 2", "weather", { city: "Porto Alegre", days: 2 }],
    ['weather {"city":"Lima","days":5}', "weather", { city: "Lima", days: 5 }],
    ["roll a die with 20 sides", "roll", { sides: 20 }],
    ["use the time tool for CET", "getTime", { zone: "cet" }],
    ["get time", "getTime", { zone: "utc" }],
  ])("%s", async (prompt, toolName, input) => {
    const { toolCalls, finishReason } = await generateText({ model: demoModel(), tools, prompt });
    expect(finishReason).toBe("tool-calls");
    expect(toolCalls).toHaveLength(1);
    expect(toolCalls[0]).toMatchObject({ toolName, input });
  });

  test("a value that the tool does not take is replaced by a valid one", async () => {
    const { toolCalls } = await generateText({ model: demoModel(), tools, prompt: "roll with sides = 1" });
    expect(toolCalls[0]).toMatchObject({ toolName: "roll", input: { sides: 2 } });
  });

  test("speaks about the result once it is there", async () => {
    const result = await generateText({
      model: demoModel(),
      tools,
      prompt: "weather in Oslo",
      stopWhen: isStepCount(5),
    });
    expect(result.steps).toHaveLength(2);
    expect(result.finishReason).toBe("stop");
    expect(result.text).toBe("According to the weather tool: city is Oslo, sky is clear.");
  });

  test("calls each of several named tools, in the order of the message", async () => {
    const agent = new ToolLoopAgent({ model: demoModel(), tools });
    const result = await agent.generate({ prompt: "First roll with sides=6, then the weather in Bergen." });
    expect(result.steps.flatMap((step) => step.toolCalls.map((call) => call.toolName))).toEqual([
      "roll",
      "weather",
    ]);
    expect(result.text).toContain("rolled 6");
    expect(result.text).toContain("Bergen");
  });

  test("calls again for the next user message, under another id", async () => {
    const first = await generateText({
      model: demoModel(),
      tools,
      prompt: "roll 6",
      stopWhen: isStepCount(5),
    });
    const second = await generateText({
      model: demoModel(),
      tools,
      messages: [
        { role: "user", content: "roll 6" },
        ...first.response.messages,
        { role: "user", content: "roll 6" },
      ],
    });
    expect(second.toolCalls).toHaveLength(1);
    expect(second.toolCalls[0]?.toolCallId).not.toBe(first.steps[0]?.toolCalls[0]?.toolCallId);
  });

  test("makes the same id for the same messages", async () => {
    const call = async () =>
      (await generateText({ model: demoModel(), tools, prompt: "roll 6" })).toolCalls[0]?.toolCallId;
    expect(await call()).toBe(await call());
  });

  test("streams a call with its input in pieces, then the reply", async () => {
    const result = streamText({
      model: demoModel(),
      tools,
      prompt: "weather with city=Rome days=2",
      stopWhen: isStepCount(5),
    });
    const parts = await collect(result.fullStream);
    const input = parts.flatMap((part) => (part.type === "tool-input-delta" ? [part.delta] : []));
    expect(input.length).toBeGreaterThan(2);
    expect(JSON.parse(input.join(""))).toEqual({ city: "Rome", days: 2 });
    expect(parts.filter((part) => part.type === "tool-call")).toHaveLength(1);
    expect(await result.text).toContain("clear");
  });

  test("replies with the error when the tool fails", async () => {
    const broken = tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new Error("out of order");
      },
    });
    const { text } = await generateText({
      model: demoModel(),
      tools: { broken },
      prompt: "use broken",
      stopWhen: isStepCount(5),
    });
    expect(text).toMatch(/^The broken tool failed: .*out of order\.$/);
  });

  test("does not call a tool that the message excludes or does not name", async () => {
    for (const prompt of [
      "Do not use the weather tool",
      "Answer without weather",
      "Hello",
      "Unweathered rolling stones",
    ]) {
      const { toolCalls, finishReason } = await generateText({ model: demoModel(), tools, prompt });
      expect([toolCalls.length, finishReason]).toEqual([0, "stop"]);
    }
  });
});

describe("calls a tool whose description the question fits", () => {
  const add = tool({
    description: "Adds two numbers",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => a + b,
  });
  const lookUp = tool({
    description: "Finds a customer's orders",
    inputSchema: z.object({ customer: z.string() }),
    execute: async () => ["tea"],
  });
  const described = { add, lookUp };

  test.each([
    ["Please add 3 and 4", "add", { a: 3, b: 4 }],
    ["Which orders are open? customer: Ada", "lookUp", { customer: "Ada" }],
  ])("%s", async (prompt, toolName, input) => {
    const { toolCalls } = await generateText({ model: demoModel(), tools: described, prompt });
    expect(toolCalls).toMatchObject([{ toolName, input }]);
  });

  test.each(["Write about the sea", "Say exactly: two numbers", "What can you do?"])(
    "not for: %s",
    async (prompt) => {
      const { toolCalls } = await generateText({ model: demoModel(), tools: described, prompt });
      expect(toolCalls).toEqual([]);
    },
  );

  test("once, and then replies", async () => {
    const prompt = "Sum up the numbers 1 and 2";
    const result = await generateText({
      model: demoModel(),
      tools: described,
      prompt,
      stopWhen: isStepCount(9),
    });
    expect(result.steps).toHaveLength(2);
    expect(result.text).toBe("According to the add tool: 3.");
  });
});

describe("respects the tool choice", () => {
  test("none: replies with text", async () => {
    const { toolCalls, text } = await generateText({
      model: demoModel(),
      tools,
      toolChoice: "none",
      prompt: "weather in Oslo",
    });
    expect(toolCalls).toEqual([]);
    expect(text).toContain("weather in Oslo");
  });

  test("required: calls a tool that no one named", async () => {
    const { toolCalls } = await generateText({
      model: demoModel(),
      tools,
      toolChoice: "required",
      prompt: "Hello",
    });
    expect(toolCalls.map((call) => call.toolName)).toEqual(["weather"]);
  });

  test("required: a loop calls the other tools too, and a call is made in every step", async () => {
    const result = await generateText({
      model: demoModel(),
      tools,
      toolChoice: "required",
      prompt: "roll",
      stopWhen: isStepCount(4),
    });
    const names = result.steps.flatMap((step) => step.toolCalls.map((call) => call.toolName));
    expect(names).toEqual(["roll", "weather", "getTime", "weather"]);
    expect(new Set(result.steps.flatMap((step) => step.toolCalls.map((call) => call.toolCallId))).size).toBe(
      4,
    );
  });

  test("a given tool: calls that one, though the message names another", async () => {
    const { toolCalls } = await generateText({
      model: demoModel(),
      tools,
      toolChoice: { type: "tool", toolName: "roll" },
      prompt: "weather in Oslo",
    });
    expect(toolCalls.map((call) => call.toolName)).toEqual(["roll"]);
  });
});

describe("tool approval", () => {
  const removed: string[] = [];
  const remove = tool({
    inputSchema: z.object({ file: z.string() }),
    execute: async ({ file }) => {
      removed.push(file);
      return "removed";
    },
  });
  const agent = new ToolLoopAgent({
    model: demoModel(),
    tools: { remove },
    toolApproval: { remove: "user-approval" },
  });

  async function decide(approved: boolean, file: string) {
    const question = { role: "user" as const, content: `remove file=${file}` };
    const first = await agent.generate({ messages: [question] });
    const request = first.content.find((part) => part.type === "tool-approval-request");
    if (request === undefined) throw new Error("no approval was asked for");
    const response = {
      type: "tool-approval-response" as const,
      approvalId: request.approvalId,
      approved,
      reason: "too risky",
    };
    return agent.generate({
      messages: [question, ...first.response.messages, { role: "tool", content: [response] }],
    });
  }

  test("a denied call leads to a text that gives the reason, not to another call", async () => {
    const { text, toolCalls } = await decide(false, "a.txt");
    expect(toolCalls).toEqual([]);
    expect(text).toContain("denied: too risky");
    expect(removed).toEqual([]);
  });

  test("an approved call runs and its result is in the reply", async () => {
    const { text } = await decide(true, "b.txt");
    expect(text).toContain("removed");
    expect(removed).toEqual(["b.txt"]);
  });
});

describe("tools together with JSON", () => {
  test("calls the named tool first, then fills the schema with its result", async () => {
    const { output, steps } = await generateText({
      model: demoModel(),
      tools,
      output: Output.object({ schema: z.object({ city: z.string(), sky: z.string(), sure: z.boolean() }) }),
      prompt: "weather in Oslo",
      stopWhen: isStepCount(5),
    });
    expect(steps).toHaveLength(2);
    expect(output).toEqual({ city: "Oslo", sky: "clear", sure: true });
  });
});
