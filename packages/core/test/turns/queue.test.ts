// The queue of a conversation: it is seen, messages are taken back from any process, and a dead process loses none.
import { expect, test } from "vitest";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel, lastText } from "../support/controlled-model.ts";
import { sharedStore } from "../support/shared-store.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";
import { heldModel } from "./held-model.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

const talk = { conversationId: "talk", userId: "ada" };
const echo = () => controlledModel((call) => ({ text: [`re ${lastText(call)}`] }));
const answered = (...ids: string[]) =>
  ids.flatMap((id) => [
    ["user", id],
    ["assistant", `re ${id}`],
  ]);
const queued = async (andante: Andante) =>
  (await andante.agents.queue("clerk", "talk", { userId: "ada" })).map(({ id }) => id);

/** A reply that is held, and messages that wait for it, all in the first process. */
async function waiting(
  ids: readonly string[],
  options: { clock?: TestClock; agent?: Partial<AgentOptions> } = {},
) {
  const store = await openStore();
  const held = heldModel();
  const first = startProcess(store, { model: held.model, ...options });
  const reply = all(await ask(first.andante, "u1"));
  reply.catch(() => undefined);
  await held.asked;
  const callers = [];
  for (const id of ids) {
    const caller = ask(first.andante, id).then(all);
    caller.catch(() => undefined);
    callers.push(caller);
    await expect.poll(() => queued(first.andante)).toContain(id);
  }
  return { store, held, first, reply, callers };
}

test("messages that wait are seen by their user, in their order, until their turns begin", async () => {
  const { first, held, callers, reply } = await waiting(["u2", "u3"]);
  const { andante } = first;
  expect(await andante.agents.queue("clerk", "talk")).toEqual(
    ["u2", "u3"].map((id) => ({ ...userMessage(id), createdAt: expect.stringMatching(/^\d{4}-.*Z$/) })),
  );
  expect(await andante.agents.queue("clerk", "talk", { userId: "eve" })).toEqual([]);
  expect(await andante.agents.queue("clerk", "no such")).toEqual([]);
  held.go();
  await reply;
  await Promise.all(callers);
  expect(await queued(andante)).toEqual([]);
});

test.each([1, 2])(
  "a message that waits is taken back, and its caller gets an error (%i processes)",
  async (count) => {
    const store = await openStore();
    const held = heldModel();
    const join = count === 1 ? () => store : sharedStore(store);
    const { andante } = startProcess(join(), { model: held.model });
    const other = count === 1 ? andante : startProcess(join(), { model: held.model }).andante;
    await other.ready();
    const reply = all(await ask(andante, "u1"));
    await held.asked;
    const withdrawn = expect(ask(andante, "u2")).rejects.toMatchObject({
      code: "message-withdrawn",
      status: 409,
    });
    await expect.poll(() => queued(other)).toEqual(["u2"]);
    const next = ask(andante, "u3").then(all);
    await expect.poll(() => queued(other)).toEqual(["u2", "u3"]);
    const unknown = { code: "queued-message-not-found", status: 404 };
    await expect(other.agents.withdraw("clerk", "talk", "u2", { userId: "eve" })).rejects.toMatchObject(
      unknown,
    );
    await other.agents.withdraw("clerk", "talk", "u2", { userId: "ada" });
    await expect(other.agents.withdraw("clerk", "talk", "u2")).rejects.toMatchObject(unknown);
    held.go();
    await withdrawn;
    await reply;
    expect(said(await next)).toBe("hello");
    expect((await kept(other)).map(([, text]) => text)).toEqual(["u1", "hello", "u3", "hello"]);
  },
);

test("a conversation takes as many messages as the host allows", async () => {
  const store = await openStore();
  const held = heldModel();
  const { Agent } = await import("../../src/agent/agent.ts");
  const agents = { clerk: new Agent({ id: "clerk", model: held.model }) };
  const limits = { queuedMessages: 1 };
  const andante = createAndante({ agents, limits, store: wrapStore(store), logger: new RecordingLogger() });
  const reply = all(await ask(andante, "u1"));
  await held.asked;
  const next = ask(andante, "u2").then(all);
  await expect.poll(() => queued(andante)).toEqual(["u2"]);
  await expect(ask(andante, "u3")).rejects.toMatchObject({
    ...{ code: "queue-full", status: 409 },
    message: "Too many messages wait in the conversation talk (limit 1)",
  });
  held.go();
  await Promise.all([reply, next]);
  expect((await kept(andante)).map(([, text]) => text)).toEqual(["u1", "hello", "u2", "hello"]);
  await andante.close();
});

test("messages of a process that has ended get their replies in the next one, in their order", async () => {
  const { store, first } = await waiting(["u2", "u3"]);
  await first.end();
  const second = startProcess(store, { model: echo() });
  await expect.poll(() => kept(second.andante)).toEqual(answered("u1", "u2", "u3"));
  expect(await queued(second.andante)).toEqual([]);
});

test.each(["lost", "unacknowledged"] as const)(
  "so do those of a process that dies as the reply before them ends (%s)",
  async (variant) => {
    const store = await openStore();
    const held = heldModel();
    const first = startProcess(store, { model: held.model, crash: { write: 2, variant } });
    const callers = ["u1", "u2", "u3"].map((id) => ask(first.andante, id).then(all));
    for (const caller of callers) caller.catch(() => undefined);
    await held.asked;
    await expect.poll(() => queued(first.andante)).toEqual(["u2", "u3"]);
    held.go();
    await first.life.crash;
    await first.end();
    const model = echo();
    const second = startProcess(store, { model });
    const reply =
      variant === "lost"
        ? answered("u1")
        : [
            ["user", "u1"],
            ["assistant", "hello"],
          ];
    await expect.poll(() => kept(second.andante)).toEqual([...reply, ...answered("u2", "u3")]);
    expect(model.asked.map(lastText)).toEqual(variant === "lost" ? ["u1", "u2", "u3"] : ["u2", "u3"]);
  },
);

test("a new message waits for those that a process has left, wherever it is sent", async () => {
  const { store, first } = await waiting(["u2", "u3"]);
  await first.end();
  const second = startProcess(store, { model: echo() });
  expect(said(await all(await ask(second.andante, "u4")))).toBe("re u4");
  expect(await kept(second.andante)).toEqual(answered("u1", "u2", "u3", "u4"));
});

test("a message that is posted again reads its own reply", async () => {
  const { store, first } = await waiting(["u2", "u3"]);
  await first.end();
  const second = startProcess(store, { model: echo() });
  expect(said(await all(await ask(second.andante, "u3")))).toBe("re u3");
  expect(await kept(second.andante)).toEqual(answered("u1", "u2", "u3"));
});

test("the messages of a process that dies go to another one that lives", async () => {
  const join = sharedStore(await openStore());
  const held = heldModel();
  const first = startProcess(join(), { model: held.model });
  const second = startProcess(join(), { model: echo() });
  await second.andante.ready();
  await ask(first.andante, "u1");
  await held.asked;
  for (const id of ["u2", "u3"]) {
    ask(first.andante, id).catch(() => undefined);
    await expect.poll(() => queued(second.andante)).toContain(id);
  }
  await first.end();
  await expect.poll(() => kept(second.andante), { timeout: 8_000 }).toEqual(answered("u1", "u2", "u3"));
});

test("messages on two processes keep their order, and each has one reply", async () => {
  const join = sharedStore(await openStore());
  const held = heldModel();
  const first = startProcess(join(), { model: held.model }).andante;
  const second = startProcess(join(), { model: echo() }).andante;
  await second.ready();
  const replies = [all(await ask(first, "u1"))];
  await held.asked;
  for (const [index, id] of ["u2", "u3", "u4", "u5", "u6"].entries()) {
    replies.push(ask(index % 2 === 0 ? second : first, id).then(all));
    await expect.poll(() => queued(second)).toContain(id);
  }
  held.go();
  const texts = (await Promise.all(replies)).map(said);
  expect(texts).toEqual(["hello", "re u2", "hello", "re u4", "hello", "re u6"]);
  expect((await kept(second)).map(([role, text]) => (role === "user" ? text : ""))).toEqual(
    ["u1", "u2", "u3", "u4", "u5", "u6"].flatMap((id) => [id, ""]),
  );
});

test("a message that waits on two processes has one reply, which both callers read", async () => {
  const store = await openStore();
  const join = sharedStore(store);
  const held = heldModel();
  const begin = heldOperation(store.beginTurn);
  const first = startProcess(join({ beginTurn: begin.run }), { model: echo() }).andante;
  const second = startProcess(join(), { model: held.model }).andante;
  await first.ready();
  const reply = all(await ask(second, "u1"));
  await held.asked;
  const callers = [first, second].map((andante) => ask(andante, "u2").then(all));
  await expect.poll(() => queued(second)).toEqual(["u2"]);
  begin.hold();
  held.go();
  await reply;
  // The first process begins the message only after the second one has replied.
  await callers[1];
  begin.release();
  expect((await Promise.all(callers)).map(said)).toEqual(["hello", "hello"]);
});

test("a message that is older than its agent recovers stays without a reply", async () => {
  const clock = new TestClock();
  const agent = { recoverWithin: "10m" } as const;
  const { store, first } = await waiting(["u2"], { clock, agent });
  await first.end();
  clock.advance("11m");
  const model = echo();
  const second = startProcess(store, { model, clock, agent });
  await second.andante.ready();
  await expect.poll(() => queued(second.andante)).toEqual([]);
  expect(model.asked).toEqual([]);
  expect(await kept(second.andante)).toContainEqual(["user", "u2"]);
  expect(second.logger.messages).toContain("a queued message is too old to be replied to");
});

test.each([false, true])(
  "a chat that leaves while its message waits gets its reply, another caller does not (a message follows: %s)",
  async (isFollowed) => {
    const { first, held, reply, callers } = await waiting([]);
    const { andante } = first;
    const left = new AbortController();
    const input = (id: string) => [userMessage(id)];
    const chat = andante.agents.chat("clerk", input("u2"), { ...talk, signal: left.signal });
    const gone = expect(chat).rejects.toThrow("stopped");
    await expect.poll(() => queued(andante)).toEqual(["u2"]);
    const text = andante.agents.text("clerk", input("u3"), { ...talk, signal: left.signal });
    const refused = expect(text).rejects.toThrow("stopped");
    await expect.poll(() => queued(andante)).toEqual(["u2", "u3"]);
    left.abort();
    await Promise.all([refused, gone]);
    await expect.poll(() => queued(andante)).toEqual(["u2"]);
    if (isFollowed) callers.push(ask(andante, "u4").then(all));
    const order = isFollowed ? ["u2", "u4"] : ["u2"];
    await expect.poll(() => queued(andante)).toEqual(order);
    held.go();
    await reply;
    await Promise.all(callers);
    const texts = async () => (await kept(andante)).map(([, said]) => said);
    const rest = isFollowed ? ["u4", "hello"] : [];
    await expect.poll(texts).toEqual(["u1", "hello", "u2", "hello", "u3", ...rest]);
  },
);

test("a reply that asks for approval when its process dies gives way to the message behind it", async () => {
  const store = await openStore();
  const { tool } = await import("ai");
  const { z } = await import("zod");
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = controlledModel(() => ({
    calls: [{ name: "pay", input: {} }],
    hold: () => {
      asked.resolve();
      return gate.promise;
    },
  }));
  const tools = { pay: tool({ inputSchema: z.object({}), execute: () => "paid" }) };
  const agent: Partial<AgentOptions> = { toolApproval: { pay: "user-approval" } };
  const crash = { write: 4, variant: "lost" } as const;
  const first = startProcess(store, { model, tools, agent, crash });
  const callers = ["u1", "u2"].map((id) => ask(first.andante, id).then(all));
  for (const caller of callers) caller.catch(() => undefined);
  await asked.promise;
  await expect.poll(() => queued(first.andante)).toEqual(["u2"]);
  gate.resolve();
  // The turn is suspended by the third write; the fourth begins the turn of the message that waits.
  await first.life.crash;
  await first.end();
  expect(await store.waiting({ limit: 10 })).toHaveLength(1);
  const second = startProcess(store, { model: echo(), tools, agent });
  await expect.poll(() => kept(second.andante)).toContainEqual(["assistant", "re u2"]);
  expect(await store.waiting({ limit: 10 })).toEqual([]);
});
