// Files in a kept conversation: one that cannot be loaded is refused before anything is kept, and one that has gone since
// does not end the conversation.
import { ToolLoopAgent } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { createAndante } from "../../src/andante/create-andante.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { wrapStore } from "../support/wrapped-store.ts";
import { openStore, startProcess } from "./processes.ts";

// An address that nothing may be loaded from.
const gone = {
  type: "file",
  mediaType: "image/png",
  filename: "plan.png",
  url: "http://127.0.0.1:1/plan.png",
};
const ask = (messageId: string, parts: object[]) => [{ id: messageId, role: "user", parts }];
const talk = { conversationId: "talk", userId: "ada" };

test("a file that cannot be loaded is 400, and nothing is kept", async () => {
  const store = await openStore();
  const model = controlledModel(() => ({ text: ["hello"] }));
  const { andante } = startProcess(store, { model });
  await expect(andante.agents.chat("clerk", ask("u1", [gone]), talk)).rejects.toMatchObject({ status: 400 });
  await expect(andante.agents.text("clerk", ask("u1", [gone]), talk)).rejects.toThrow("plan.png");
  expect(await store.conversations.read({ conversationId: "talk" })).toBeUndefined();
  expect(model.asked).toHaveLength(0);
});

test("a data URL that is none is 400 as well, in a conversation and outside of one", async () => {
  const store = await openStore();
  const { andante } = startProcess(store, { model: controlledModel(() => ({ text: ["hello"] })) });
  const broken = ask("u1", [{ ...gone, url: "data:nonsense" }]);
  await expect(andante.agents.text("clerk", broken, talk)).rejects.toMatchObject({ status: 400 });
  await expect(andante.agents.text("clerk", broken)).rejects.toMatchObject({ status: 400 });
  expect(await store.conversations.read({ conversationId: "talk" })).toBeUndefined();
});

test("an agent of another make keeps no file that cannot be loaded either", async () => {
  const store = await openStore();
  const model = controlledModel(() => ({ text: ["hello"] }));
  const agents = { clerk: new ToolLoopAgent({ model, maxRetries: 0 }) };
  const andante = createAndante({ agents, store: wrapStore(store), logger: new RecordingLogger() });
  onTestFinished(() => andante.close({ grace: 0 }));
  await expect(andante.agents.text("clerk", ask("u1", [gone]), talk)).rejects.toMatchObject({ status: 400 });
  expect(await store.conversations.read({ conversationId: "talk" })).toBeUndefined();
  const small = { ...gone, url: "data:image/png;base64,AQID" };
  expect((await andante.agents.text("clerk", ask("u2", [small]), talk)).text).toBe("hello");
});

test("one that has gone since is a note for the model, and stays unchanged in the conversation", async () => {
  const store = await openStore();
  const [kept] = ask("u1", [{ type: "text", text: "look" }, gone]);
  const where = { key: "k", conversationId: "talk", userId: "ada", agentId: "clerk", title: null };
  const body = JSON.stringify(kept);
  await store.conversations.post({ ...where, messageId: "u1", body, again: false, at: Date.now() });
  const model = controlledModel(() => ({ text: ["hello"] }));
  const { andante } = startProcess(store, { model });
  await andante.agents.text("clerk", ask("u2", [{ type: "text", text: "and now?" }]), talk);
  expect(JSON.stringify(model.asked[0]?.prompt)).toContain("is no longer available");
  const { messages } = await andante.conversations.messages("talk");
  expect(messages[0]?.parts[1]).toMatchObject(gone);
});
