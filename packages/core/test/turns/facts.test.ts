// Facts: kept by the model's tool with its call, merged over chats, and seen by later replies; also in workflows.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { MemoryOptions } from "../../src/agent/call/message-options.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { uuid } from "../../src/values/uuid.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { all, ask, kept, openStore, type ProcessOptions, startProcess, userMessage } from "./processes.ts";

const schema = z.object({
  name: z.string().optional(),
  diet: z.enum(["vegan", "vegetarian"]).optional(),
  home: z.object({ city: z.string().optional(), zip: z.string().optional() }).optional(),
});
const ofUser = { facts: { schema, scope: "user" } } as const satisfies MemoryOptions;

/** Remembers the patches of a question, which is JSON, in one call of the model each. */
function rememberer(): ReturnType<typeof controlledModel> {
  return controlledModel(({ prompt }): Said => {
    const asked = prompt.findLastIndex(({ role }) => role === "user");
    const question = prompt[asked]?.content;
    const text = typeof question === "object" && question[0]?.type === "text" ? question[0].text : "[]";
    const done = prompt.slice(asked).filter(({ role }) => role === "tool").length;
    const input = text.startsWith("[") ? JSON.parse(text)[done] : undefined;
    return input === undefined
      ? { text: ["Noted."] }
      : { calls: [{ id: `t${done}`, name: "remember", input }] };
  });
}

function start(store: Store, options: Partial<ProcessOptions> = {}) {
  const { model = rememberer(), agent, ...others } = options;
  return { model, store, ...startProcess(store, { model, agent: { memory: ofUser, ...agent }, ...others }) };
}

const factsOf = async ({ andante }: Pick<ReturnType<typeof start>, "andante">, userId = "ada") =>
  (await andante.facts.read({ userId }))[0];
const remember = ({ andante }: Pick<ReturnType<typeof start>, "andante">, ...patches: object[]) =>
  andante.agents
    .chat("clerk", [userMessage(uuid(), JSON.stringify(patches))], { conversationId: uuid(), userId: "ada" })
    .then(all);

test("a fact is kept by a merge patch, and is in the instructions of the next reply", async () => {
  const process = start(await openStore());
  const home = { city: "Ulm" };
  await remember(
    process,
    { name: "Ada", home: { ...home, zip: "1" } },
    { diet: "vegan", home: { zip: null } },
    { name: null },
  );
  expect(await factsOf(process)).toMatchObject({
    agentId: "clerk",
    facts: { diet: "vegan", home },
    version: 3,
    updatedAt: expect.stringMatching(/Z$/),
    history: [{ patch: { name: null }, by: null, changes: 1 }, {}, { patch: { name: "Ada" } }],
  });
  const results = process.model.asked.at(-1)?.prompt.filter(({ role }) => role === "tool");
  expect(JSON.stringify(results?.at(-1))).toContain('"value":{"home":{"city":"Ulm"},"diet":"vegan"}');
  // The reply that has learned them keeps its instructions: its prompt is cached.
  expect(new Set(process.model.asked.map(({ prompt }) => JSON.stringify(prompt[0])))).toHaveLength(1);
  await all(await ask(process.andante, "u", "another talk"));
  expect(JSON.stringify(process.model.asked.at(-1)?.prompt[0])).toContain(
    JSON.stringify(JSON.stringify({ home, diet: "vegan" })).slice(1, -1),
  );
  expect((await factsOf(process, "bob"))?.facts).toEqual({});
  expect(process.logger.messages).toEqual([]);
});

test("facts that do not fit their schema are an error of the tool, and nothing is kept", async () => {
  const process = start(await openStore());
  await remember(process, { diet: "steak" }, { name: "x".repeat(16_001) }, { name: "Ada" });
  const prompt = JSON.stringify(process.model.asked.at(-1)?.prompt);
  expect(prompt).toContain("The facts are not kept: diet: ");
  expect(prompt).toContain("The facts are not kept: they have more than 16000 characters");
  expect(await factsOf(process)).toMatchObject({ facts: { name: "Ada" }, version: 1 });
});

test("a change that removes thousands of facts is refused, since each change is read by every reply", async () => {
  const process = start(await openStore());
  const removals = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field ${index}`, null]));
  await expect(process.andante.facts.change({ userId: "ada" }, removals)).rejects.toMatchObject({
    code: "invalid-facts",
    message: expect.stringContaining("the change has more than 16000 characters"),
  });
  expect(await factsOf(process)).toMatchObject({ version: 0, history: [] });
});

test("the model sees a schema in which every field may be left out or be null", async () => {
  const process = start(await openStore());
  await all(await ask(process.andante, "u"));
  const [tool] = process.model.asked[0]?.tools ?? [];
  expect(tool).toMatchObject({
    name: "remember",
    inputSchema: {
      type: "object",
      properties: { diet: { anyOf: [{ enum: ["vegan", "vegetarian"] }, { type: "null" }] } },
    },
  });
  expect(JSON.stringify(tool)).not.toContain("required");
});

test("facts of two chats at once merge", async () => {
  const process = start(await openStore());
  await Promise.all([
    remember(process, { name: "Ada" }, { home: { city: "Ulm" } }),
    remember(process, { diet: "vegan" }, { home: { zip: "89073" } }),
  ]);
  expect((await factsOf(process))?.facts).toEqual({
    name: "Ada",
    diet: "vegan",
    home: { city: "Ulm", zip: "89073" },
  });
});

test("without a user there is no tool; facts of a conversation end with it", async () => {
  const store = await openStore();
  const anonymous = start(store);
  await all(await anonymous.andante.agents.chat("clerk", "hi", { conversationId: "anonymous" }));
  expect(anonymous.model.asked[0]?.tools ?? []).toEqual([]);
  expect(anonymous.model.asked[0]?.prompt[0]?.role).toBe("user");

  const memory = { facts: { schema, scope: "conversation" } } as const;
  const process = start(store, { agent: { memory } });
  await all(await ask(process.andante, '[{"name":"Ada"}]', "one"));
  await all(await ask(process.andante, "u", "two"));
  expect(JSON.stringify(process.model.asked.at(-1)?.prompt[0])).toContain("{}");
  const read = async () => (await process.andante.facts.read({ conversationId: "one" }))[0]?.facts;
  expect(await read()).toEqual({ name: "Ada" });
  expect(await process.andante.facts.read({ userId: "ada" })).toEqual([]);
  await process.andante.conversations.remove("one");
  expect(await read()).toEqual({});
});

test("the history is bounded, and its first change replaces those before", async () => {
  const process = start(await openStore());
  for (let turn = 0; turn < 160; turn++)
    await process.andante.facts.change({ userId: "ada" }, { name: `name ${turn}` }, { by: "ada" });
  const view = await factsOf(process);
  expect(view).toMatchObject({ version: 160, facts: { name: "name 159" } });
  expect(view?.history.length).toBeLessThanOrEqual(101);
  expect(view?.history[0]).toMatchObject({ patch: { name: "name 159" }, by: "ada", changes: 1 });
  expect(view?.history.at(-1)?.changes).toBeGreaterThan(1);
});

test("facts are changed and removed from outside", async () => {
  const second = new Agent({ id: "second", model: scriptedModel([]), memory: ofUser });
  const agents = { clerk: new Agent({ id: "clerk", model: scriptedModel([]), memory: ofUser }), second };
  const andante = createAndante({ store: memoryStore(), agents });
  await using _ = { [Symbol.asyncDispose]: () => andante.close({ grace: 0 }) };
  const owner = { userId: "ada" };
  await expect(andante.facts.change(owner, { name: "Ada" })).rejects.toMatchObject({
    code: "invalid-option",
  });
  await expect(andante.facts.change(owner, { name: 7 }, { agentId: "clerk" })).rejects.toMatchObject({
    ...{ code: "invalid-facts", status: 400 },
  });
  for (const agentId of ["clerk", "second"])
    await andante.facts.change(owner, { name: agentId }, { agentId });
  await expect(andante.facts.change(owner, {}, { agentId: "none" })).rejects.toMatchObject({
    code: "invalid-option",
  });
  expect((await andante.facts.read(owner)).map(({ facts }) => facts)).toEqual([
    { name: "clerk" },
    { name: "second" },
  ]);
  await andante.facts.remove(owner);
  expect((await andante.facts.read(owner)).map(({ version }) => version)).toEqual([0, 0]);
});

test("after a crash at any write a fact is kept exactly when its call is recorded, once", {
  timeout: 120_000,
}, async () => {
  const question = '[{"name":"Ada"},{"diet":"vegan"}]';
  const undisturbed = start(await openStore());
  await all(await ask(undisturbed.andante, question));
  for (const { write, variant } of crashPoints({ last: undisturbed.life.writes })) {
    const where = `write ${write} ${variant}`;
    const store = await openStore();
    const first = start(store, { crash: { write, variant } });
    await first.andante.ready();
    const read = ask(first.andante, question)
      .then(all)
      .catch(() => undefined);
    await first.life.crash;
    await first.end();
    await read;
    const live = await store.liveTurn("talk");
    const events =
      live === undefined ? [] : await store.events({ executionId: live.executionId, after: 0, limit: 99 });
    const recorded = events.filter(({ path }) => path?.includes(".tool[")).length;
    const facts = await store.facts.read({ agentId: "clerk", scope: "user", subject: "ada" });
    if (live !== undefined) expect(facts.length, where).toBe(recorded);
    const second = start(store);
    await second.andante.ready();
    await expect.poll(async () => (await store.liveTurn("talk")) === undefined).toBe(true);
    if ((await kept(second.andante).catch(() => [])).length < 2)
      await all(await ask(second.andante, question));
    expect(await factsOf(second), where).toMatchObject({
      facts: { name: "Ada", diet: "vegan" },
      version: 2,
    });
    // The instructions are those of the beginning, so the recorded prompts fit.
    expect(second.logger.messages, where).toEqual([]);
    await second.end();
  }
});

onMemory((bench) => {
  test("in a workflow a step sees the facts that an earlier one has kept", async () => {
    const seen: string[] = [];
    const call = { toolCalls: [{ toolName: "remember", input: { name: "Ada" } }] };
    const agent = () => new Agent({ id: "a", model: scriptedModel([call, "Noted."]), memory: ofUser });
    const reader = controlledModel(({ prompt }) => {
      seen.push(String(prompt[0]?.content));
      return { text: ["Read."] };
    });
    const memory = ofUser;
    const same = new Agent({ id: "a", model: reader, memory });
    const workflow = flow()
      .andAgent({ id: "learn", agent: agent(), prompt: () => "I am Ada" })
      .andAgent({ id: "use", agent: same, prompt: () => "Who am I?" });
    await bench.andante(workflow).execute(workflow.id, {}, { userId: "ada" });
    expect(seen.join()).toContain('{"name":"Ada"}');
  });

  test("an agent without a conversation keeps the facts of its user", async () => {
    const model = rememberer();
    const { agents, facts } = bench.andanteWith({
      agents: { a: new Agent({ id: "a", model, memory: ofUser }) },
    });
    await agents.text("a", '[{"name":"Eve"}]', { userId: "eve" });
    expect((await facts.read({ userId: "eve" }))[0]?.facts).toEqual({ name: "Eve" });
  });

  test("the host's own search adds messages before the conversation, for the model alone", async () => {
    const asked: unknown[] = [];
    const model = controlledModel(() => ({ text: ["Yes."] }));
    const found: UIMessage = {
      id: "f",
      role: "assistant",
      parts: [{ type: "text", text: "You told me of Ulm." }],
    };
    const recall: NonNullable<MemoryOptions["recall"]> = ({ text, messages }, { userId }) => {
      asked.push([text, messages.length, userId]);
      return [found];
    };
    const andante = bench.andanteWith({ agents: { a: new Agent({ id: "a", model, memory: { recall } }) } });
    const talk = { conversationId: "recall", userId: "ada" };
    for (const question of ["Ulm?", "Again?"]) await andante.agents.text("a", question, talk);
    expect(asked).toEqual([
      ["Ulm?", 1, "ada"],
      ["Again?", 3, "ada"],
    ]);
    expect(model.asked[1]?.prompt.map(({ role }) => role)).toEqual([
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    const { messages } = await andante.conversations.messages("recall");
    expect(JSON.stringify(messages)).not.toContain("You told me");
  });
});

test.each([
  [{ schema, scope: "everyone" }, 'memory.facts.scope must be "user" or "conversation"'],
  [{ schema: {}, scope: "user" }, "memory.facts.schema is not a schema"],
  [{ schema, scope: "user", agent: "x" }, "agent"],
])("facts %o are refused", (wrong, problem) => {
  const model = scriptedModel([]);
  expect(() => new Agent({ id: "a", model, memory: { facts: Object(wrong) } })).toThrow(problem);
});

test("a tool of the host with the name of the memory's is refused", () => {
  const tools = { remember: { inputSchema: z.object({}), execute: () => 1 } };
  expect(() => new Agent({ id: "a", model: scriptedModel([]), memory: ofUser, tools })).toThrow(
    'memory.facts has a tool called "remember", too',
  );
});
