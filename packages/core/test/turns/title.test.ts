// The title of a conversation, made by the host after the first reply.
import { expect, test } from "vitest";
import { controlledModel } from "../support/controlled-model.ts";
import { openStore, startProcess } from "./processes.ts";

const talk = { conversationId: "talk", userId: "ada" };
const model = () => controlledModel(() => ({ text: ["Hello ", "Ada"] }));

test("it is made once, of the first message and its reply", async () => {
  const seen: string[][] = [];
  const agent = {
    title: (messages: readonly { role: string; parts: readonly object[] }[]) => {
      seen.push(messages.map(({ role, parts }) => `${role} ${JSON.stringify(parts.at(-1))}`));
      return "  A greeting  ";
    },
  };
  const { andante } = startProcess(await openStore(), { model: model(), agent });
  await andante.agents.text("clerk", "hi", talk);
  await expect.poll(async () => (await andante.conversations.read("talk")).title).toBe("A greeting");
  await andante.agents.text("clerk", "again", talk);
  await andante.close();
  expect(seen).toHaveLength(1);
  expect(seen[0]?.[0]).toContain("hi");
  expect(seen[0]?.[1]).toContain("Hello Ada");
});

test("one that is being made is waited for when the process stops", async () => {
  const store = await openStore();
  const gate = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const title = () => {
    asked.resolve();
    return gate.promise;
  };
  const { andante } = startProcess(store, { model: model(), agent: { title } });
  await andante.agents.text("clerk", "hi", talk);
  await asked.promise;
  const closed = andante.close();
  gate.resolve("Late");
  await closed;
  expect(await store.conversations.read({ conversationId: "talk" })).toMatchObject({ title: "Late" });
});

test("one that fails, or comes after a rename, changes nothing", async () => {
  const failing = () => Promise.reject(new Error("no title today"));
  const first = startProcess(await openStore(), { model: model(), agent: { title: failing } });
  await first.andante.agents.text("clerk", "hi", talk);
  await expect.poll(() => first.logger.messages).toContain("the title of a conversation could not be made");
  expect((await first.andante.conversations.read("talk")).title).toBe("hi");
  const gate = Promise.withResolvers<string>();
  const store = await openStore();
  const second = startProcess(store, { model: model(), agent: { title: () => gate.promise } });
  await second.andante.agents.text("clerk", "hi", talk);
  await second.andante.conversations.rename("talk", "Mine");
  gate.resolve("Theirs");
  await second.andante.close();
  expect(await store.conversations.read({ conversationId: "talk" })).toMatchObject({ title: "Mine" });
});
