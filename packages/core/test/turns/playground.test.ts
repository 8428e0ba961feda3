// The playground: a reply with another model, temperature or instructions, also when another process continues it.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { PlaygroundSettings } from "../../src/agent/call/playground.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { controlledModel, type ScriptedModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { all, kept, openStore, type ProcessOptions, said, startProcess, userMessage } from "./processes.ts";

const talk = { conversationId: "talk", userId: "ada" };
const playground: PlaygroundSettings = {
  model: "other",
  temperature: 1.5,
  instructions: "Speak like a pirate.",
};

/** Calls `look` once, then says its own name. */
function named(name: string): ScriptedModel {
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { text: [`${name} says so`] } : { calls: [{ name: "look", input: {} }] },
  );
  return Object.assign(model, { modelId: name });
}

/** The agent with a tool; each process has models of its own. */
function start(store: Store, options: Partial<ProcessOptions> = {}) {
  const [own, other] = [named("own"), named("other")];
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const agent = {
    ...{ instructions: "Be plain.", temperature: 0.3, playground: { models: { other } } },
    ...options.agent,
  };
  return { own, other, ...startProcess(store, { model: own, tools: { look }, ...options, agent }) };
}

const chat = (andante: Andante, id: string, settings?: PlaygroundSettings) =>
  andante.agents.chat("clerk", [userMessage(id)], { ...talk, playground: settings });

/** What a model was asked for: its temperature and its system prompt. */
const asked = ({ asked }: ScriptedModel) =>
  asked.map(({ temperature, prompt }) => [temperature, prompt[0]?.role === "system" && prompt[0].content]);

/** The models of the recorded calls of the newest turn. */
async function recordedModels(store: Store, executionId: string): Promise<string[]> {
  const events = await store.events({ executionId, after: 0, limit: 100 });
  return events.flatMap(({ detail }) => detail?.match(/"model":"scripted\/(\w+)"/)?.[1] ?? []);
}

test("one reply has another model, temperature and instructions; the next one is the agent's again", async () => {
  const { andante, own, other } = start(await openStore());
  expect(said(await all(await chat(andante, "u1", playground)))).toBe("other says so");
  expect(asked(other)).toEqual([
    [1.5, "Speak like a pirate."],
    [1.5, "Speak like a pirate."],
  ]);
  expect(own.asked).toEqual([]);
  expect(said(await all(await chat(andante, "u2")))).toBe("own says so");
  expect(asked(own)[0]).toEqual([0.3, "Be plain."]);
  expect((await kept(andante)).map(([role, text]) => `${role}: ${text}`)).toEqual([
    ...["user: u1", "assistant: other says so", "user: u2", "assistant: own says so"],
  ]);
  expect((await andante.agents.read("clerk")).instructions, "the agent is not changed").toBe("Be plain.");
  expect(andante.agents.playground("clerk")).toEqual({ models: ["other"], temperature: 0.3 });
});

test("each setting by itself, and empty instructions are none", async () => {
  const { andante, own, other } = start(await openStore());
  await all(await chat(andante, "u1", { temperature: 0 }));
  await all(await chat(andante, "u2", { instructions: "" }));
  await all(await chat(andante, "u3", { model: "other" }));
  expect([asked(own)[0], asked(own)[2], asked(other)[0]]).toEqual([
    ...[
      [0, "Be plain."],
      [0.3, false],
      [0.3, "Be plain."],
    ],
  ]);
});

test.each<[string, object, object]>([
  ["a model that the host does not list", { model: "openai/gpt-5" }, { status: 400 }],
  ["a model that only looks like one", { model: "__proto__" }, { status: 400 }],
  ["a temperature out of range", { temperature: 3 }, { status: 400 }],
  ["instructions that are too long", { instructions: "x".repeat(100_001) }, { status: 400 }],
])("%s is refused, and nothing is kept", async (_, settings, error) => {
  const { andante, own } = start(await openStore());
  await expect(chat(andante, "u1", settings)).rejects.toMatchObject(error);
  await expect(andante.conversations.read("talk")).rejects.toMatchObject({ status: 404 });
  expect(own.asked).toEqual([]);
});

test("no playground: where the host has turned it off, and where the agent is not a plain one", async () => {
  class Own extends Agent {
    override async stream(...given: Parameters<Agent["stream"]>) {
      return super.stream(...given);
    }
  }
  const model = named("own");
  const agents = {
    off: new Agent({ id: "off", model, playground: false }),
    own: new Own({ id: "own", model }),
  };
  const andante = createAndante({ agents, store: memoryStore() });
  for (const id of ["off", "own"]) {
    const error = { status: 404, code: "playground-off" };
    expect(() => andante.agents.playground(id)).toThrow(expect.objectContaining(error));
    await expect(andante.agents.chat(id, "hello", { playground: {} })).rejects.toMatchObject(error);
  }
  expect(() => andante.agents.playground("none")).toThrow("not found");
  expect(model.asked).toEqual([]);
  await andante.close();
});

test("after a crash at any write the reply continues with the same model, temperature and instructions", async () => {
  const whole = start(await openStore());
  await whole.andante.ready();
  await all(await chat(whole.andante, "u1", playground));
  const { writes } = whole.life;
  // Message and turn, the call of the model, the tool, the last call with the end.
  expect(writes).toBeGreaterThanOrEqual(4);
  for (const { write, variant } of crashPoints({ last: writes })) {
    const where = `write ${write} ${variant}`;
    const store = await openStore();
    const first = start(store, { crash: { write, variant } });
    const read = chat(first.andante, "u1", playground)
      .then(all)
      .catch(() => undefined);
    await first.life.crash;
    await first.end();
    await read;
    const live = await store.liveTurn("talk");
    const second = start(store);
    await second.andante.ready();
    if (live === undefined && (await kept(second.andante).catch(() => [])).length < 2)
      await all(await chat(second.andante, "u1", playground));
    await expect
      .poll(async () => (await kept(second.andante)).at(-1), { message: where })
      .toEqual(["assistant", "other says so"]);
    expect([first.own.asked, second.own.asked], where).toEqual([[], []]);
    for (const call of asked(second.other)) expect(call, where).toEqual([1.5, "Speak like a pirate."]);
    if (live !== undefined)
      expect(await recordedModels(store, live.executionId), where).toEqual(["other", "other"]);
    await second.end();
  }
});

test("a model that the host no longer offers ends the reply that continues, with its text so far", async () => {
  const store = await openStore();
  const first = start(store, { crash: { write: 2, variant: "unacknowledged" } });
  const read = chat(first.andante, "u1", playground)
    .then(all)
    .catch(() => undefined);
  await first.life.crash;
  await first.end();
  await read;
  const second = start(store, { agent: { playground: {} } });
  await second.andante.ready();
  await expect.poll(() => store.liveTurn("talk")).toBeUndefined();
  expect([second.own.asked, second.other.asked]).toEqual([[], []]);
  await all(await chat(second.andante, "u1"));
  expect((await kept(second.andante)).at(-1)).toEqual(["assistant", "own says so"]);
});

test("a decision beside the chat continues the reply with the settings that it began with", async () => {
  const store = await openStore();
  const look = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "seen" });
  const { andante, own, other } = start(store, { tools: { look } });
  await all(await chat(andante, "u1", playground));
  const { items } = await andante.live.waiting({ limit: 10 });
  await andante.agents.decide("talk", { approvalId: items[0]?.approvalId ?? "", approved: true });
  await expect.poll(async () => (await kept(andante)).at(-1)?.[1]).toBe("other says so");
  expect([own.asked.length, asked(other)[1]]).toEqual([0, [1.5, "Speak like a pirate."]]);
});
