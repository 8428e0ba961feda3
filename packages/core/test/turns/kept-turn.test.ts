// A turn of a kept conversation is an execution of its own kind: one at a time, unseen by workflows, and not lost.
import { ToolLoopAgent, tool } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { OperationContext } from "../../src/agent/call/operation.ts";
import { operationContext } from "../../src/agent/call/operation.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { StoreRefusedError } from "../../src/errors/index.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";
import { heldModel, hello } from "./held-model.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

describe("a turn", () => {
  test("is two writes: message and turn, then reply, usage and end", async () => {
    const { andante, life } = startProcess(await openStore(), { model: hello });
    await andante.ready();
    expect(said(await all(await ask(andante, "u1")))).toBe("hello");
    expect(await kept(andante)).toEqual([
      ["user", "u1"],
      ["assistant", "hello"],
    ]);
    expect(life.writes).toBe(2);
    expect((await andante.conversations.read("talk")).usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      calls: 1,
    });
  });

  test("is not seen by anything that concerns workflows", async () => {
    const store = await openStore();
    const { andante } = startProcess(store, { model: hello });
    const { model, asked, go } = heldModel();
    const held = startProcess(store, { model });
    const chat = await ask(held.andante, "u1");
    await asked;
    const turn = await store.beginTurn({
      message: { kind: "post", messageId: "u2", body: "{}", title: null, again: false, at: 1 },
      turn: {
        ...{ executionId: "another", agentId: "clerk", conversationId: "talk", userId: "ada", input: "{}" },
        ...{ context: "{}", startAt: 1, claim: { owner: "me", token: "mine" }, events: [] },
      },
    });
    if (turn.kind !== "busy") throw new Error("expected the turn to be live");
    const { executionId } = turn;
    expect((await andante.list()).executions).toEqual([]);
    await expect(andante.find(executionId)).rejects.toThrow("not found");
    expect(await held.andante.metrics.text()).toContain("andante_executions_running 0");
    go();
    await all(chat);
    expect((await andante.list()).executions).toEqual([]);
  });

  test("whose message is posted again is attached to, not made twice", async () => {
    const { model, asked, go } = heldModel();
    const { andante } = startProcess(await openStore(), { model });
    const first = await ask(andante, "u1");
    await asked;
    const [second, third] = await inTime(
      Promise.all([ask(andante, "u1"), ask(andante, "u1")]),
      "the reply that runs",
    );
    go();
    for (const chunks of [first, second, third]) expect(said(await all(chunks))).toBe("hello");
    expect(model.asked).toHaveLength(1);
    await expect(ask(andante, "u1")).rejects.toThrow("Message u1 already has a reply");
  });

  test("whose text is asked for again gives the same text", async () => {
    const { model, asked, go } = heldModel();
    const { andante } = startProcess(await openStore(), { model });
    const text = () =>
      andante.agents.text("clerk", [userMessage("u1")], { conversationId: "talk", userId: "ada" });
    const first = text();
    await asked;
    const second = text();
    go();
    expect((await first).text).toBe("hello");
    expect(await second).toEqual(await first);
    expect(model.asked).toHaveLength(1);
  });

  test("lets a message that waits for it be kept at once, and replies to it afterwards", async () => {
    const store = await openStore();
    const { model, asked, go } = heldModel();
    const { andante } = startProcess(store, { model });
    const first = await ask(andante, "u1");
    await asked;
    const second = ask(andante, "u2");
    await expect
      .poll(() => kept(andante))
      .toEqual([
        ["user", "u1"],
        ["user", "u2"],
      ]);
    go();
    await all(first);
    await all(await second);
    expect(await kept(andante)).toEqual([
      ["user", "u1"],
      ["assistant", "hello"],
      ["user", "u2"],
      ["assistant", "hello"],
    ]);
    expect(model.asked[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("that waits is shared by callers that post its message again", async () => {
    const { model, asked, go } = heldModel();
    const { andante } = startProcess(await openStore(), { model });
    const first = await ask(andante, "u1");
    await asked;
    const left = new AbortController();
    const who = { conversationId: "talk", userId: "ada" };
    const leaving = andante.agents.text("clerk", [userMessage("u3")], { ...who, signal: left.signal });
    const waiting = [
      ask(andante, "u2"),
      ask(andante, "u2"),
      andante.agents.text("clerk", [userMessage("u3")], who),
    ] as const;
    await expect.poll(() => kept(andante)).toContainEqual(["user", "u3"]);
    left.abort();
    await expect(leaving).rejects.toThrow("stopped");
    go();
    await all(first);
    for (const chunks of [await waiting[0], await waiting[1]]) expect(said(await all(chunks))).toBe("hello");
    expect((await waiting[2]).text).toBe("hello");
    expect(model.asked).toHaveLength(3);
  });

  test("lets nothing be kept before its turn that is there already", async () => {
    const store = await openStore();
    const waiting: string[] = [];
    const post: typeof store.conversations.post = (message) => {
      if (message.queue !== undefined) waiting.push(message.messageId);
      return store.conversations.post(message);
    };
    const { model, asked, go } = heldModel();
    const conversations = { ...store.conversations, post };
    const { andante } = startProcess(wrapStore(store, { conversations }), { model });
    const first = await ask(andante, "u1");
    await asked;
    const second = ask(andante, "u2");
    await expect.poll(() => waiting).toEqual(["u2"]);
    const who = { conversationId: "talk", userId: "ada", again: true };
    const third = andante.agents.chat("clerk", [userMessage("u1")], who);
    const refused = expect(third).rejects.toThrow("is followed by newer ones");
    go();
    for (const chunks of [first, await second]) await all(chunks);
    await refused;
    expect(waiting).toEqual(["u2"]);
  });

  test("gives its tools a key that no other turn has", async () => {
    const seen: OperationContext[] = [];
    const look = tool({
      inputSchema: z.object({}),
      contextSchema: operationContext,
      execute: (_, { context }) => {
        seen.push(context);
        return "seen";
      },
    });
    const model = controlledModel((_, number) =>
      number % 2 === 1 ? { calls: [{ name: "look", input: {} }] } : { text: ["done"] },
    );
    const { andante } = startProcess(await openStore(), { model, tools: { look } });
    for (const conversationId of ["one", "two"]) await all(await ask(andante, "u1", conversationId));
    expect(new Set(seen.map(({ executionId }) => executionId)).size).toBe(2);
    for (const { idempotencyKey, executionId, stepPath } of seen) {
      expect(executionId).toEqual(expect.any(String));
      expect(idempotencyKey).toBe(`${executionId}:${stepPath}`);
    }
  });

  test("that was stopped is kept as far as it came, and the conversation is free again", async () => {
    const { model, asked } = heldModel();
    const { andante } = startProcess(await openStore(), { model });
    const chat = await ask(andante, "u1");
    for await (const { type } of { [Symbol.asyncIterator]: () => ({ next: () => chat.next() }) })
      if (type === "text-delta") break;
    await asked;
    expect(await andante.agents.stop("clerk", "talk")).toBe(true);
    expect((await all(chat)).at(-1)?.type).toBe("abort");
    expect(await kept(andante)).toEqual([
      ["user", "u1"],
      ["assistant", "hel", true],
    ]);
  });

  test("that was stopped keeps the result of a tool that ended just afterwards", async () => {
    const began = Promise.withResolvers<void>();
    const refund = tool({
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => {
        began.resolve();
        await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
        return "refunded";
      },
    });
    const calls = [{ name: "refund", input: {} }];
    const model = controlledModel((_, number) => (number === 1 ? { calls } : { text: ["done"] }));
    const { andante } = startProcess(await openStore(), { model, tools: { refund } });
    const chat = await ask(andante, "u1");
    await began.promise;
    expect(await andante.agents.stop("clerk", "talk")).toBe(true);
    expect((await all(chat)).at(-1)?.type).toBe("abort");
    const { messages } = await andante.conversations.messages("talk");
    expect(messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({ type: "tool-refund", state: "output-available", output: "refunded" }),
    );
    await all(await ask(andante, "u2"));
    expect(JSON.stringify(model.asked[1]?.prompt)).toContain("refunded");
  });

  test("in a conversation that is removed ends without a trace", async () => {
    const { model, asked, go } = heldModel();
    const { andante, logger } = startProcess(await openStore(), { model });
    const chat = await ask(andante, "u1");
    await asked;
    await andante.conversations.remove("talk");
    expect((await all(chat)).at(-1)?.type).toBe("abort");
    await expect(andante.conversations.read("talk")).rejects.toThrow("not found");
    go();
    expect(said(await all(await ask(andante, "u1")))).toBe("hello");
    expect(logger.messages).toEqual([]);
  });

  test("that runs elsewhere keeps others out of the conversation", async () => {
    const store = await openStore();
    const { model, asked, go } = heldModel();
    const one = startProcess(store, { model });
    const other = startProcess(store, { model: hello });
    const chat = await ask(one.andante, "u1");
    await asked;
    await expect(ask(other.andante, "u2")).rejects.toThrow("Another reply is under way in the conversation");
    go();
    await all(chat);
    expect(said(await all(await ask(other.andante, "u2")))).toBe("hello");
  });

  test("of an agent of the AI SDK counts its usage, too", async () => {
    const store = await openStore();
    const agents = { clerk: new ToolLoopAgent({ model: hello }) };
    const andante = createAndante({ agents, store: wrapStore(store), logger: new RecordingLogger() });
    onTestFinished(() => andante.close({ grace: 0 }));
    expect(said(await all(await ask(andante, "u1")))).toBe("hello");
    expect((await andante.conversations.read("talk")).usage.calls).toBe(1);
  });

  test("is deleted some time after its end; the conversation keeps the messages", async () => {
    const store = await openStore();
    const clock = new TestClock();
    const ended: string[] = [];
    const endTurn: typeof store.endTurn = (end) => {
      ended.push(end.commit.executionId);
      return store.endTurn(end);
    };
    const first = startProcess(wrapStore(store, { endTurn }), { model: hello, clock });
    await all(await ask(first.andante, "u1"));
    const [executionId = ""] = ended;
    expect((await store.state(executionId))?.execution.status).toBe("completed");
    await first.end();
    clock.advance("61m");
    const second = startProcess(store, { model: hello, clock });
    await second.andante.ready();
    await expect.poll(() => store.state(executionId)).toBeUndefined();
    expect(await kept(second.andante)).toHaveLength(2);
  });

  test("takes no slot from executions of workflows", async () => {
    const { model, asked, go } = heldModel();
    const { andante } = startProcess(await openStore(), { model });
    const chat = await ask(andante, "u1");
    await asked;
    expect(await andante.metrics.text()).toContain("andante_executions_running 0");
    go();
    await all(chat);
  });

  test("whose end cannot be written sends its caller an error, and is continued later", async () => {
    const store = await openStore();
    let fails = true;
    const endTurn: typeof store.endTurn = async (end) => {
      if (!fails) return store.endTurn(end);
      fails = false;
      throw new Error("the disk is busy");
    };
    const broken = startProcess(wrapStore(store, { endTurn }), { model: hello });
    const chunks = await all(await ask(broken.andante, "u1"));
    expect(chunks.at(-1)).toEqual({
      type: "error",
      errorText: "The store is not available, try again later",
    });
    await broken.end();
    const next = startProcess(store, { model: hello });
    await next.andante.ready();
    await expect.poll(() => kept(next.andante)).toContainEqual(["assistant", "hello"]);
  });
});

describe("a turn whose end the store refuses", () => {
  test("because of its reply ends without it: its caller gets an error, and the conversation is free", async () => {
    const store = await openStore();
    const endTurn: typeof store.endTurn = async (end) => {
      if (end.reply.replyTo === "u1" && end.reply.message !== null)
        throw new StoreRefusedError({ operation: "endTurn" });
      return store.endTurn(end);
    };
    const { andante, logger } = startProcess(wrapStore(store, { endTurn }), { model: hello });
    expect((await all(await ask(andante, "u1"))).at(-1)).toEqual({
      type: "error",
      errorText: "The store refused the operation endTurn",
    });
    expect(logger.messages).toContain("a partial reply could not be kept");
    expect((await andante.conversations.read("talk")).usage.calls).toBe(1);
    expect(said(await all(await ask(andante, "u2")))).toBe("hello");
    expect(await kept(andante)).toEqual([
      ["user", "u1"],
      ["user", "u2"],
      ["assistant", "hello"],
    ]);
  });

  test("even without a reply is released, and the next process continues it", async () => {
    const store = await openStore();
    const endTurn = async () => {
      throw new StoreRefusedError({ operation: "endTurn" });
    };
    const { andante, logger } = startProcess(wrapStore(store, { endTurn }), { model: hello });
    expect((await all(await ask(andante, "u1"))).at(-1)?.type).toBe("error");
    expect(logger.messages).toContain("a commit of the execution failed");
    const next = startProcess(store, { model: hello });
    await next.andante.ready();
    await expect.poll(() => kept(next.andante)).toContainEqual(["assistant", "hello"]);
  });
});

describe("after a restart", () => {
  test("a reply that a crash broke off is made, and a caller that attaches reads all of it", async () => {
    const store = await openStore();
    const { model, asked } = heldModel();
    const first = startProcess(store, { model });
    await ask(first.andante, "u1");
    await asked;
    const crash = startProcess(store, { model: hello, crash: { write: 1, variant: "lost" } });
    await crash.end();
    await first.end();
    const next = heldModel();
    const second = startProcess(store, { model: next.model });
    await second.andante.ready();
    const attached = await second.andante.agents.attach("clerk", "talk", { userId: "ada" });
    if (attached === undefined) throw new Error("expected a reply to attach to");
    const again = await ask(second.andante, "u1");
    next.go();
    const [read, readAgain] = await Promise.all([all(attached), all(again)]);
    expect(said(read)).toBe("hello");
    expect(readAgain.map(({ type }) => type)).toEqual(read.map(({ type }) => type));
    expect(await kept(second.andante)).toEqual([
      ["user", "u1"],
      ["assistant", "hello"],
    ]);
    expect(await second.andante.agents.attach("clerk", "talk")).toBeUndefined();
  });

  test("an orderly stop leaves the reply to the next process", async () => {
    const store = await openStore();
    const { model, asked } = heldModel();
    const first = startProcess(store, { model });
    const chat = await ask(first.andante, "u1");
    await asked;
    await first.end();
    expect((await all(chat)).at(-1)).toEqual({
      type: "abort",
      reason: "The server is shutting down, try again later",
    });
    expect(first.logger.messages.filter((line) => line.includes("could not be kept"))).toEqual([]);
    const second = startProcess(store, { model: hello });
    await second.andante.ready();
    await expect
      .poll(() => kept(second.andante))
      .toEqual([
        ["user", "u1"],
        ["assistant", "hello"],
      ]);
  });

  test("a message that waited is there, and asking it again reads its reply", async () => {
    const store = await openStore();
    const { model, asked } = heldModel();
    const first = startProcess(store, { model });
    await ask(first.andante, "u1");
    await asked;
    const refused = expect(ask(first.andante, "u2")).rejects.toThrow("shutting down");
    await expect.poll(() => kept(first.andante)).toHaveLength(2);
    await first.end();
    await refused;
    const second = startProcess(store, { model: hello });
    await all(await ask(second.andante, "u2"));
    expect((await kept(second.andante)).map(([role]) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  });
});

test("a message is held back until the turn before it has ended, not until it is kept", async () => {
  const store = await openStore();
  const ends = heldOperation(store.endTurn);
  const { andante } = startProcess(wrapStore(store, { endTurn: ends.run }), { model: hello });
  ends.hold();
  const first = await ask(andante, "u1");
  await ends.asked;
  const second = ask(andante, "u2");
  await expect.poll(() => kept(andante)).toHaveLength(2);
  ends.release();
  await all(first);
  expect(said(await all(await second))).toBe("hello");
});
