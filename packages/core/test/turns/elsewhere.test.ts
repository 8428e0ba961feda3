// Chats on several processes that share a store: one turn at a time, attached to, waited for and stopped from anywhere.
import { expect, test } from "vitest";
import { controlledModel, lastText } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { heldModel, hello } from "./held-model.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

/** Two processes: the first one's reply is held up. */
async function two(options?: Parameters<typeof sharedStore>[1]) {
  const join = sharedStore(await openStore(), options);
  const held = heldModel();
  const first = startProcess(join(), { model: held.model });
  const second = startProcess(join(), { model: hello });
  return { a: first.andante, b: second.andante, held };
}

test("a caller that attaches on another node gets the whole reply once it is complete", async () => {
  const { a, b, held } = await two();
  const chat = all(await ask(a, "u1"));
  await held.asked;
  const attached = await b.agents.attach("clerk", "talk", { userId: "ada" });
  if (attached === undefined) throw new Error("no reply runs");
  const read = all(attached);
  // It has time to look before the reply exists.
  for (let looks = 0; looks < 3; looks++) expect(await kept(b)).toEqual([["user", "u1"]]);
  held.go();
  expect(said(await chat)).toBe("hello");
  const chunks = await read;
  expect(said(chunks)).toBe("hello");
  expect([chunks[0]?.type, chunks.at(-1)?.type]).toEqual(["start", "finish"]);
  expect(await b.agents.attach("clerk", "talk", { userId: "ada" })).toBeUndefined();
});

test("a node that reads the end of its own reply before its write returns sends the whole reply", async () => {
  const store = await openStore();
  const join = sharedStore(store);
  const neighbour = join();
  const looked = Promise.withResolvers<void>();
  const own = join({
    // Written, and seen by this node as another's work, before its own call returns.
    endTurn: async (ending) => {
      const result = await neighbour.endTurn(ending);
      await looked.promise;
      return result;
    },
    heads: async (ids) => {
      const heads = await store.heads(ids);
      setImmediate(looked.resolve);
      return heads;
    },
  });
  const { andante } = startProcess(own, { model: hello });
  const chunks = await all(await ask(andante, "u1"));
  expect(said(chunks)).toBe("hello");
  expect(chunks.at(-1)?.type).toBe("finish");
});

test("another user finds no reply", async () => {
  const { a, b, held } = await two();
  const chat = all(await ask(a, "u1"));
  await held.asked;
  expect(await b.agents.attach("clerk", "talk", { userId: "eve" })).toBeUndefined();
  expect(await b.agents.stop("clerk", "talk", { userId: "eve" })).toBe(false);
  held.go();
  expect(said(await chat)).toBe("hello");
});

test("a reply that cannot be resumed is its caller's alone where it is made", async () => {
  const { a, held } = await two();
  const where = { conversationId: "talk", userId: "ada" };
  const chat = all(await a.agents.chat("clerk", [userMessage("u1")], { ...where, resumable: false }));
  await held.asked;
  expect(await a.agents.attach("clerk", "talk", { userId: "ada" })).toBeUndefined();
  expect(await a.agents.stop("clerk", "talk", { userId: "ada" })).toBe(false);
  held.go();
  expect(said(await chat)).toBe("hello");
});

test("the same message again on another node gets the reply that runs", async () => {
  const { a, b, held } = await two();
  const chat = all(await ask(a, "u1"));
  await held.asked;
  const again = all(await inTime(ask(b, "u1"), "the reply that runs"));
  held.go();
  expect(said(await chat)).toBe("hello");
  expect(said(await again)).toBe("hello");
  expect(await kept(b)).toEqual([
    ["user", "u1"],
    ["assistant", "hello"],
  ]);
});

test("another message waits until the other node has replied, and is kept meanwhile", async () => {
  const { a, b, held } = await two();
  const chat = all(await ask(a, "u1"));
  await held.asked;
  const next = ask(b, "u2").then(all);
  await expect.poll(() => kept(b)).toContainEqual(["user", "u2"]);
  held.go();
  await chat;
  expect(said(await next)).toBe("hello");
  expect((await kept(a)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("messages that wait on the node where the reply before them is recovered get theirs, in their order", async () => {
  const join = sharedStore(await openStore());
  const held = heldModel();
  const first = startProcess(join(), { model: held.model });
  const model = controlledModel((call) => ({ text: [`re ${lastText(call)}`] }));
  const second = startProcess(join(), { model });
  await ask(first.andante, "u1");
  await held.asked;
  const waiting = [];
  for (const id of ["u2", "u3"]) {
    waiting.push(ask(second.andante, id).then(all));
    await expect.poll(() => kept(second.andante)).toContainEqual(["user", id]);
  }
  await first.end();
  expect((await Promise.all(waiting)).map(said)).toEqual(["re u2", "re u3"]);
  expect(model.asked.map(lastText)).toEqual(["u1", "u2", "u3"]);
  const texts = (await kept(second.andante)).map(([, text]) => text);
  expect(texts).toEqual(["u1", "re u1", "u2", "re u2", "u3", "re u3"]);
});

test("a stop on another node ends it, and the text so far is kept", async () => {
  const { a, b, held } = await two();
  const chat = all(await ask(a, "u1"));
  await held.asked;
  expect(await b.agents.stop("clerk", "talk", { userId: "ada" })).toBe(true);
  await chat;
  expect(await kept(b)).toEqual([
    ["user", "u1"],
    ["assistant", "hel", true],
  ]);
  expect(await b.agents.stop("clerk", "talk", { userId: "ada" })).toBe(false);
});

test("a conversation that is removed on another node takes its turn with it", async () => {
  const { a, b, held } = await two({ hints: false });
  const chat = all(await ask(a, "u1"));
  await held.asked;
  const attached = await b.agents.attach("clerk", "talk", { userId: "ada" });
  if (attached === undefined) throw new Error("no reply runs");
  const read = all(attached);
  await b.conversations.remove("talk", { userId: "ada" });
  expect((await chat).at(-1)?.type).toMatch(/abort|error/);
  expect((await read).at(-1)?.type).toBe("error");
});
