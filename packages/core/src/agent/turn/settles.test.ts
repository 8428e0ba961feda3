// The ends of replies in a conversation, for every kind of call. A reply that never ends fails with its name, not with a
// test timeout.
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { inTime } from "../../../test/support/in-time.ts";
import { sharedStore } from "../../../test/support/shared-store.ts";
import { heldModel, hello } from "../../../test/turns/held-model.ts";
import { all, ask, kept, openStore, said, startProcess } from "../../../test/turns/processes.ts";
import type { Andante } from "../../andante/andante.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { Agent } from "../agent.ts";
import type { AgentCallOptions } from "./call-options.ts";

const schema = z.object({ n: z.number() });
const both = [
  ["user", "u1"],
  ["assistant", "hello"],
];

const asked = (andante: Andante, id: string) => inTime(ask(andante, id), `the reply to ${id}`);

const counting = new Agent({ id: "clerk", model: controlledModel(() => ({ text: ['{"n":', "2}"] })) });
const andante = createAndante({
  agents: { counting },
  store: memoryStore(),
  logger: createLogger({ level: "silent" }),
});
afterAll(() => andante.close({ grace: 0 }));

const { agents } = andante;
const ways: readonly [string, (talk: AgentCallOptions) => Promise<unknown>][] = [
  ["text", (talk) => agents.text("clerk", "go", talk)],
  ["object", (talk) => agents.object("clerk", "go", schema, talk)],
  ["stream", async (talk) => all(await agents.stream("clerk", "go", talk))],
  ["streamObject", async (talk) => all(await agents.streamObject("clerk", "go", schema, talk))],
  ["chat", async (talk) => all(await agents.chat("clerk", "go", talk))],
];

test.each(ways)("%s comes to its end, and its reply is kept", async (name, ask) => {
  await inTime(ask({ conversationId: name }), "the end of the reply");
  expect(await kept(andante, name)).toEqual([
    ["user", "go"],
    ["assistant", '{"n":2}'],
  ]);
});

test("one that is stopped ends", async () => {
  const held = heldModel();
  const { andante } = startProcess(await openStore(), { model: held.model });
  const chat = await asked(andante, "u1");
  await inTime(held.asked, "the call of the model");
  expect(await inTime(andante.agents.stop("clerk", "talk"), "the end of what was stopped")).toBe(true);
  expect((await all(chat)).at(-1)?.type).toBe("abort");
});

test("the same message again gets the reply that runs, and the next one comes after it", async () => {
  const held = heldModel();
  const { andante } = startProcess(await openStore(), { model: held.model });
  const chat = await asked(andante, "u1");
  await inTime(held.asked, "the call of the model");
  const again = await asked(andante, "u1");
  const next = asked(andante, "u2");
  held.go();
  for (const chunks of [chat, again, await next]) expect(said(await all(chunks))).toBe("hello");
  expect(await kept(andante)).toEqual([...both, ["user", "u2"], ["assistant", "hello"]]);
});

test("one that its process leaves is made by the next", async () => {
  const store = await openStore();
  const held = heldModel();
  const first = startProcess(store, { model: held.model });
  await asked(first.andante, "u1");
  await inTime(held.asked, "the call of the model");
  await inTime(first.end(), "the end of the process");
  const second = startProcess(store, { model: hello });
  await inTime(second.andante.ready(), "the start of the process");
  const attached = await second.andante.agents.attach("clerk", "talk", { userId: "ada" });
  if (attached !== undefined) expect(said(await all(attached))).toBe("hello");
  await expect.poll(() => kept(second.andante)).toEqual(both);
});

test("one that another process makes is read, waited for and stopped from here", async () => {
  const join = sharedStore(await openStore());
  const [held, later] = [heldModel(), heldModel()];
  const first = startProcess(join(), { model: held.model }).andante;
  const second = startProcess(join(), { model: later.model }).andante;
  const chat = await asked(first, "u1");
  await inTime(held.asked, "the call of the model");
  const again = await asked(second, "u1");
  const next = asked(second, "u2");
  held.go();
  for (const chunks of [chat, again]) expect(said(await all(chunks))).toBe("hello");
  const waited = await next;
  await inTime(later.asked, "the call of the model");
  expect(await inTime(first.agents.stop("clerk", "talk"), "the end of what was stopped")).toBe(true);
  expect((await all(waited)).at(-1)?.type).toBe("abort");
});
