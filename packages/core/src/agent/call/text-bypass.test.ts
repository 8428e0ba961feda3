// Text that bypasses the AI SDK: the reader reads the same parts as without, and code that changes or bounds text sees it.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Output, type StepResult, type ToolSet, tool, wrapLanguageModel } from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { deltas, finish, modelOf, toolCalls, turnOfLoop } from "../../../test/support/parts-model.ts";
import { createRandom, type Random } from "../../../test/support/random.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { Agent } from "../agent.ts";
import type { ModelPart } from "../durable/model-parts.ts";
import type { StreamPart } from "../reply/stream-part.ts";
import type { Part } from "../reply/stream-parts.ts";
import type { AgentStreamCall } from "./call-model.ts";
import type { AgentStreamResult } from "./callable-agent.ts";
import { TextBypass } from "./text-bypass.ts";

function start(agent: Agent) {
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante;
}

async function partsOf(agent: Agent): Promise<StreamPart[]> {
  const { agents } = start(agent);
  return allInTime(await agents.stream(agent.id, "go"), "the end of the stream");
}

const said = (parts: readonly StreamPart[]) =>
  parts.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");

/** Parts of several texts at once, with everything that may come between two deltas. */
function randomCall(random: Random): LanguageModelV4StreamPart[] {
  const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  const open: { kind: "text" | "reasoning"; id: string }[] = [];
  for (let left = random.integer(1, 60); left > 0; left--) {
    const some = random.pick(open);
    const choice = some === undefined ? 0 : random.next();
    const kind = random.pick(["text", "reasoning"] as const);
    const id = String(random.integer(1, 3));
    if (some === undefined || choice < 0.1) {
      if (open.some((each) => each.kind === kind && each.id === id)) continue;
      open.push({ kind, id });
      parts.push({ type: `${kind}-start`, id });
    } else if (choice < 0.15) {
      open.splice(open.indexOf(some), 1);
      parts.push({ type: `${some.kind}-end`, id: some.id });
    } else if (choice < 0.2) parts.push({ type: "ping" });
    else if (choice < 0.25)
      parts.push({ type: "source", sourceType: "url", id: "s", url: "https://example.com" });
    else {
      for (let more = random.integer(1, 5); more > 0; more--) {
        const delta = random.chance(0.1) ? "" : `${parts.length} `;
        const metadata = random.chance(0.05) ? { providerMetadata: { some: { n: parts.length } } } : {};
        parts.push({ type: `${some.kind}-delta`, id: some.id, delta, ...metadata });
      }
    }
  }
  for (const { kind, id } of open) parts.push({ type: `${kind}-end`, id });
  return parts;
}

/** The fields that do not differ from run to run; ids that the AI SDK makes, by the order in which they come. */
function comparable(parts: readonly StreamPart[]): unknown {
  const ids: string[] = [];
  const withoutChance = (key: string, value: unknown) => {
    if (key === "performance" || key === "response") return undefined;
    if (typeof value !== "string" || !value.startsWith("aitxt-")) return value;
    if (!ids.includes(value)) ids.push(value);
    return ids.indexOf(value);
  };
  return JSON.parse(JSON.stringify(parts, withoutChance));
}

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });

test("the reader gets the same parts as through the AI SDK", { timeout: 60_000 }, async () => {
  let next: () => LanguageModelV4 = () => modelOf([]);
  const options = { model: () => next(), tools: { look } };
  const logger = createLogger({ level: "silent" });
  const agents = {
    ahead: new Agent({ id: "ahead", ...options }),
    // With a limit for each piece every piece goes through the AI SDK.
    through: new Agent({ id: "through", ...options, timeout: { chunkMs: 60_000 } }),
  };
  const andante = createAndante({ agents, store: memoryStore(), logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" } as const;
  for (let seed = 1; seed <= 40; seed++) {
    const random = createRandom(seed);
    const calls = [
      [...randomCall(random), call, toolCalls],
      [...randomCall(random), finish],
    ];
    const pauses = random.chance(0.5);
    next = () => modelOf(calls, (index) => pauses && index % 3 === 0 && turnOfLoop());
    const read = async (id: keyof typeof agents) =>
      comparable(await allInTime(await andante.agents.stream(id, "go"), "the end of the stream"));
    expect(await read("ahead"), `seed ${seed}`).toEqual(await read("through"));
  }
});

const delta = (text: string) => ({ type: "text-delta", id: "1", delta: text }) as const;

/** Reads a reply through a bypass around a stand-in for the AI SDK, which may hold its first delta until the next one. */
async function readAround(said: readonly ModelPart[], holdsFirst = false) {
  const bypass = new TextBypass();
  const given: string[] = [];
  const held: Part[] = [];
  const { model } = bypass.settings({ model: modelOf([[...said]]) });
  const { stream } = await model.doStream({ prompt: [] });
  const sdk = new TransformStream<ModelPart, Part>({
    transform: (part, controller) => {
      if (part.type !== "text-delta") return;
      given.push(part.delta);
      held.push({ type: "text-delta", id: "x", text: part.delta });
      if (!holdsFirst || given.length > 1) for (const each of held.splice(0)) controller.enqueue(each);
    },
  });
  const read = await allInTime(bypass.join(stream.pipeThrough(sdk)), "the end of the stream");
  return { given, read: read.map((part) => (part.type === "text-delta" ? [part.id, part.text] : [])) };
}

test("the AI SDK gets the first delta alone and the others as one, the reader gets each", async () => {
  const said = ["a", "b", "c", "d"].map(delta);
  const read = ["a", "b", "c", "d"].map((text) => ["x", text]);
  expect(await readAround([...said, { type: "text-end", id: "1" }])).toEqual({ given: ["a", "bcd"], read });
  expect(await readAround(said)).toEqual({ given: ["a", "bcd"], read });
});

type Said = readonly (ModelPart | string)[];
const thought = (text: string, id = "1") => ({ type: "reasoning-delta", id, delta: text }) as const;
const noted = (text: string) => ({ ...delta(text), providerMetadata: { some: { n: 1 } } });
const source = { type: "source", sourceType: "url", id: "s", url: "https://example.com" } as const;

/** The deltas that the AI SDK receives of these parts; a string is a delta of the first text. */
async function givenOf(...said: Said) {
  const bypass = new TextBypass();
  const parts = said.map((part) => (typeof part === "string" ? delta(part) : part));
  const { model } = bypass.settings({ model: modelOf([parts]) });
  const { stream } = await model.doStream({ prompt: [] });
  const given: string[] = [];
  const sdk = new TransformStream<ModelPart, Part>({
    transform: (part, controller) => {
      if (part.type !== "text-delta" && part.type !== "reasoning-delta") return;
      given.push(part.delta);
      const { type, id, delta: text, providerMetadata } = part;
      controller.enqueue({ type, id, text, ...(providerMetadata && { providerMetadata }) });
    },
  });
  const read = await allInTime(bypass.join(stream.pipeThrough(sdk)), "the end of the stream");
  const texts = parts.flatMap((part) => ("delta" in part ? [part.delta] : []));
  expect(read.flatMap((part) => ("text" in part ? [part.text] : [])).join("")).toBe(texts.join(""));
  return given;
}

test.each<[string, Said, string[]]>([
  ["one text", ["a", "b", "c"], ["a", "bc"]],
  [
    "a text of another kind",
    ["a", "b", "c", thought("r"), thought("s"), thought("t")],
    ["a", "bc", "r", "st"],
  ],
  [
    "a text with another id",
    [thought("a"), thought("b"), thought("c", "2"), thought("d", "2")],
    ["a", "b", "c", "d"],
  ],
  ["one after an empty piece", ["a", "", "b", "c", "d"], ["a", "", "b", "cd"]],
  ["one after another part", ["a", "b", source, "c", "d", "e"], ["a", "b", "c", "de"]],
  [
    "one with metadata, which the next piece repeats",
    ["a", "b", noted("c"), "d", "e", "f"],
    ["a", "b", "c", "d", "ef"],
  ],
])("through the AI SDK go the first piece, and the rest at once: %s", async (_, said, given) => {
  expect(await givenOf(...said)).toEqual(given);
});

test("without a reader every piece goes through the AI SDK", async () => {
  const { model } = new TextBypass().settings({ model: modelOf([["a", "b", "c"].map(delta)]) });
  const { stream } = await model.doStream({ prompt: [] });
  expect(await allInTime(stream, "the end of the stream")).toEqual(["a", "b", "c"].map(delta));
});

test("a failure of the AI SDK's stream is the reader's", async () => {
  const broken = new ReadableStream<Part>({ pull: () => Promise.reject(new Error("broken")) });
  const reader = new TextBypass().join(broken).getReader();
  await expect(inTime(reader.read(), "the failure")).rejects.toThrow("broken");
});

test("models of other versions, and names of models, are refused", () => {
  const old = Object({ ...modelOf([]), specificationVersion: "v3" });
  for (const model of ["openai/gpt-5", old])
    expect(() => new TextBypass().settings({ model })).toThrow(
      new TypeError("expected a language model of version 4"),
    );
});

test("the model that the host chooses for a step is wrapped; other settings of a step stay", async () => {
  const model = modelOf([]);
  expect(new TextBypass().settings({ model })).not.toHaveProperty("prepareStep");
  const prepare = async (prepared: object | undefined) =>
    new TextBypass().settings({ model, prepareStep: () => Object([prepared])[0] }).prepareStep?.(Object({}));
  expect(await prepare(undefined)).toBeUndefined();
  const settings = { activeTools: [] };
  expect(await prepare(settings)).toBe(settings);
  const chosen = modelOf([]);
  const prepared = await prepare({ ...settings, model: chosen });
  expect(prepared).toEqual({ ...settings, model: expect.objectContaining({ specificationVersion: "v4" }) });
  expect(prepared?.model).not.toBe(chosen);
});

describe("the times between pieces of output", () => {
  /** The measurement after a call whose parts came at these times. */
  async function measured(...said: readonly (readonly [at: number, part: ModelPart])[]) {
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    const bypass = new TextBypass();
    const times = said.map(([at]) => at);
    const parts = said.map(([, part]) => part);
    const model = modelOf([parts], (index) => void now.mockReturnValue(times[index] ?? 0));
    const settings = bypass.settings({ model });
    const { stream } = await settings.model.doStream({ prompt: [] });
    const reader = stream.getReader();
    while (!(await reader.read()).done);
    const performed = { timeToFirstOutputMs: 1 };
    await settings.onLanguageModelCallEnd({ performance: performed });
    return performed;
  }

  test("have their least, greatest, middle and average, and the tenths at both ends", async () => {
    const times = [0, 10, 11, 13, 16, 20, 25, 31, 38, 46, 55];
    expect(await measured(...times.map((at) => [at, delta("a")] as const))).toEqual({
      timeToFirstOutputMs: 1,
      timeBetweenOutputChunksMs: { min: 1, p10: 1, median: 5, p90: 9, max: 10, avg: 5.5 },
    });
    expect(await measured([0, delta("a")], [2, delta("b")], [8, delta("c")])).toMatchObject({
      timeBetweenOutputChunksMs: { min: 2, p10: 2, median: 2, p90: 6, max: 6, avg: 4 },
    });
  });

  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" } as const;
  const file = { mediaType: "image/png", data: { type: "data", data: "AQID" } } as const;
  test.each<[boolean, ModelPart]>([
    [true, delta("b")],
    [true, thought("b")],
    [true, call],
    [true, { type: "file", ...file }],
    [true, { type: "reasoning-file", ...file }],
    [true, { type: "tool-input-delta", id: "c", delta: "{" }],
    [false, { type: "tool-input-delta", id: "c", delta: "" }],
    [false, delta("")],
    [false, { type: "tool-input-end", id: "c" }],
    [false, source],
  ])("count output: %s for %j", async (counts, part) => {
    const gaps = { min: 7, p10: 7, median: 7, p90: 7, max: 7, avg: 7 };
    expect(await measured([1, delta("a")], [8, part])).toEqual({
      timeToFirstOutputMs: 1,
      ...(counts && { timeBetweenOutputChunksMs: gaps }),
    });
  });
});

test("when the first delta does not come out of the AI SDK, the next one follows it there", async () => {
  const { given, read } = await readAround(["a", "b"].map(delta), true);
  expect(given).toEqual(["a", "b"]);
  expect(read.map(([, text]) => text)).toEqual(["a", "b"]);
});

test("a step has the whole text, and the times between the pieces as they came", async () => {
  const steps: StepResult<ToolSet>[] = [];
  const model = modelOf([[...deltas("a", "b", "c", "d", "e"), finish]], turnOfLoop);
  const parts = await partsOf(
    new Agent({ id: "a", model, hooks: { onStepEnd: ({ step }) => void steps.push(step) } }),
  );
  expect(steps.map(({ text }) => text)).toEqual(["abcde"]);
  const [step] = steps;
  const told = parts.find(({ type }) => type === "finish-step");
  expect(told?.performance).toEqual(step?.performance);
  const gaps = step?.performance.timeBetweenOutputChunksMs;
  const total = (step?.performance.responseTimeMs ?? 0) - (step?.performance.timeToFirstOutputMs ?? 0);
  // Four gaps between five pieces; as the AI SDK saw them there is one.
  expect(gaps?.avg).toBeLessThanOrEqual(total / 4 + 1);
  expect(gaps).toMatchObject({
    min: expect.any(Number),
    median: expect.any(Number),
    max: expect.any(Number),
  });
  expect(gaps?.min).toBeLessThanOrEqual(gaps?.p90 ?? 0);
});

test("a reader that does not read holds the model back", async () => {
  let sent = 0;
  const many = Array.from({ length: 100 }, (_, index) => `${index} `);
  const model = modelOf([[...deltas(...many), finish]], (index) => {
    sent = index;
  });
  const { agents } = start(new Agent({ id: "a", model }));
  const parts = await agents.stream("a", "go");
  const read: StreamPart[] = [];
  while (read.filter(({ type }) => type === "text-delta").length < 10) {
    const { value } = await inTime(parts.next(), "a part");
    read.push(value);
  }
  for (let turn = 0; turn < 20; turn++) await turnOfLoop();
  expect(sent).toBeLessThan(20);
  const rest = await allInTime(parts, "the end of the stream");
  expect(said([...read, ...rest])).toBe(many.join(""));
});

test.each([
  ["breaks", { breakAt: { piece: 3, error: new Error("cut") } }],
  ["ends too early", { cut: true }],
])("when the model's stream %s, its text comes before the error", async (_, how) => {
  const model = controlledModel(() => ({ text: ["a", "b", "c"], ...how }));
  const parts = await partsOf(new Agent({ id: "a", model }));
  expect(said(parts)).toBe("abc");
  expect(parts.at(-1)?.type).toBe("error");
});

test("a reader that leaves in the middle of a text stops the model", async () => {
  const stopped = Promise.withResolvers<void>();
  const hold = (piece: number, signal: AbortSignal | undefined) => {
    if (piece < 3) return undefined;
    return new Promise((resolve) => signal?.addEventListener("abort", resolve)).then(() => stopped.resolve());
  };
  const { agents } = start(
    new Agent({ id: "a", model: controlledModel(() => ({ text: ["a", "b", "c"], hold })) }),
  );
  const parts = await agents.stream("a", "go");
  let text = "";
  while (text !== "abc") text += said([(await inTime(parts.next(), "a part")).value]);
  await inTime(Promise.resolve(parts.return?.()), "the end of the stream");
  await inTime(stopped.promise, "the end of the model's call");
});

const loud = (text: string) => text.toUpperCase();

test("the reader gets the text that the host's model around ours returns", async () => {
  const model = modelOf([[...deltas("a", "b", "c"), finish]], turnOfLoop);
  const agent = new Agent({
    id: "a",
    model,
    prepareStep: ({ model: ours }) => {
      if (typeof ours === "string" || ours.specificationVersion !== "v4") return {};
      return {
        model: wrapLanguageModel({
          model: ours,
          middleware: {
            specificationVersion: "v4",
            wrapStream: async ({ doStream }) => {
              const { stream, ...rest } = await doStream();
              return {
                ...rest,
                stream: stream.pipeThrough(
                  changed((part) => ("delta" in part ? { ...part, delta: loud(part.delta) } : part)),
                ),
              };
            },
          },
        }),
      };
    },
  });
  expect(said(await partsOf(agent))).toBe("ABC");
});

test("the reader gets the stream that the host's own agent returns", async () => {
  class Loud extends Agent {
    override async stream(call: AgentStreamCall): Promise<AgentStreamResult> {
      const result = await super.stream(call);
      const stream = result.stream.pipeThrough(
        changed<Part>((part) => (part.type === "text-delta" ? { ...part, text: loud(part.text) } : part)),
      );
      return Object.create(result, { stream: { value: stream } });
    }
  }
  const model = modelOf([[...deltas("a", "b", "c"), finish]], turnOfLoop);
  expect(said(await partsOf(new Loud({ id: "a", model })))).toBe("ABC");
});

test("the host's own agent may ask twice, and watch each piece of the text", async () => {
  let watched: Promise<string[]> | undefined;
  class Careful extends Agent {
    override async stream(call: AgentStreamCall): Promise<AgentStreamResult> {
      await (await super.stream(call)).text;
      const result = await super.stream(call);
      watched = allInTime(result.textStream, "the end of the text");
      return result;
    }
  }
  const said = [...deltas("a", "b", "c"), finish];
  const parts = await partsOf(new Careful({ id: "a", model: modelOf([said, said], turnOfLoop) }));
  expect(parts.at(-1)?.type).toBe("finish");
  expect(await watched).toEqual(["a", "b", "c"]);
});

function changed<Each>(change: (part: Each) => Each): TransformStream<Each, Each> {
  return new TransformStream({ transform: (part, controller) => controller.enqueue(change(part)) });
}

test("of an agent with an output the AI SDK reads each piece", async () => {
  const model = modelOf([[...deltas('{"n":', " ", "1", "2}"), finish]], turnOfLoop);
  const output = Output.object({ schema: z.object({ n: z.number() }) });
  const parts = await partsOf(new Agent({ id: "a", model, output }));
  expect(said(parts)).toBe('{"n": 12}');
  expect(parts.at(-1)?.type).toBe("finish");
});
