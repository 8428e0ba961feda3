// Approvals of tools that wait in a chat: in the list of waits, decided beside the chat, by the first person, once.
import { randomUUID } from "node:crypto";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, kept, openStore, type ProcessOptions, startProcess, userMessage } from "./processes.ts";

const conversationId = "talk";
const userId = "ada";

/** Every customer that was deleted, and with which context. */
class Effects {
  readonly deleted: (string | number)[] = [];
  readonly users: unknown[] = [];
}

/** The agent asks for the deletion of these customers, then says the outcome. */
function start(
  store: Store,
  effects: Effects,
  { customers = [7], ...options }: Partial<ProcessOptions> & { readonly customers?: readonly number[] } = {},
) {
  const model = controlledModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return { text: [`After ${JSON.stringify(last.content)}`] };
    const asksAgain = JSON.stringify(last).includes("and now?");
    if (asksAgain) return { text: ["Something else."] };
    return {
      calls: customers.map((customer) => ({
        ...{ id: `call-${customer}`, name: "remove" },
        input: { customer },
      })),
    };
  });
  const remove = tool({
    inputSchema: z.object({ customer: z.number() }),
    needsApproval: true,
    execute: ({ customer }, { context }) => {
      effects.deleted.push(customer);
      effects.users.push(Object(context).userId);
      return { gone: customer };
    },
  });
  return { model, ...startProcess(store, { model, tools: { remove }, ...options }) };
}

async function waits(andante: Andante) {
  await andante.ready();
  return (await andante.live.waiting({ limit: 10 })).items;
}

async function approvalIds(andante: Andante): Promise<string[]> {
  return (await waits(andante)).map(({ approvalId }) => approvalId ?? "");
}

async function asked(options: Parameters<typeof start>[2] = {}) {
  const store = await openStore();
  const effects = new Effects();
  const process = start(store, effects, options);
  await all(await ask(process.andante, "u1"));
  const [approvalId = "", second = ""] = await approvalIds(process.andante);
  return { store, effects, ...process, approvalId, second };
}

const replyOf = async (andante: Andante) => (await kept(andante)).at(-1)?.[1];
const finished = (andante: Andante) =>
  expect.poll(() => replyOf(andante), { timeout: 10_000 }).toContain("After");

/** The message of a chat client, with its decisions in the order of the calls. */
async function decidedInChat(andante: Andante, ...decisions: readonly boolean[]) {
  const { messages } = await andante.conversations.messages(conversationId);
  let next = 0;
  const parts = messages.at(-1)?.parts.map((part) => {
    if (!("approval" in part) || part.approval === undefined) return part;
    return {
      ...part,
      state: "approval-responded",
      approval: { ...part.approval, approved: decisions[next++] },
    };
  });
  return andante.agents.chat("clerk", [userMessage("u1"), { ...messages.at(-1), parts }], {
    conversationId,
    userId,
  });
}

test("a call that waits is a suspension of its turn, with the call and the schema of the decision", async () => {
  const { andante, approvalId } = await asked();
  expect(await waits(andante)).toEqual([
    {
      ...{ executionId: expect.any(String), workflowId: "", agentId: "clerk", approvalId, userId },
      ...{ conversationId, startAt: expect.any(String) },
      suspension: {
        ...{ suspensionId: expect.any(String), suspendedAt: expect.any(String), stepIndex: 0 },
        ...{ suspendedStepIndex: 0, stepId: expect.any(String), stepPath: expect.any(String) },
        reason: "The tool remove needs approval",
        data: { toolName: "remove", input: { customer: 7 } },
        resumeSchema: expect.objectContaining({
          properties: {
            ...{ approved: expect.anything(), reason: expect.anything() },
            input: expect.objectContaining({ properties: { customer: { type: "number" } } }),
          },
        }),
      },
    },
  ]);
  const of = (which: string) => andante.live.waiting({ limit: 10, userId: which });
  expect([(await of(userId)).items, (await of("eve")).items].map(({ length }) => length)).toEqual([1, 0]);
  expect((await andante.list()).executions, "turns are no executions of workflows").toEqual([]);
});

test("an approval beside the chat continues the reply by itself, with the input and the context as they are to be", async () => {
  const { andante, approvalId, effects } = await asked();
  const decision = { approvalId, approved: true, reason: "the other one", input: { customer: 8 } };
  expect(await andante.agents.decide(conversationId, decision)).toEqual({ waiting: 0 });
  expect(await waits(andante)).toEqual([]);
  await finished(andante);
  expect([effects.deleted, effects.users]).toEqual([[8], [userId]]);
  const { messages } = await andante.conversations.messages(conversationId);
  expect(messages).toHaveLength(2);
  expect(messages[1]?.parts).toContainEqual(
    expect.objectContaining({
      ...{ state: "output-available", input: { customer: 8 }, output: { gone: 8 } },
      approval: expect.objectContaining({ approved: true, reason: "the other one" }),
    }),
  );
  expect((await andante.conversations.read(conversationId)).usage.calls).toBe(2);
});

test("a denial reaches the model with its reason, and a reader that attaches gets the reply", async () => {
  const { andante, approvalId, effects, model } = await asked();
  await andante.agents.decide(conversationId, { approvalId, approved: false, reason: "too early" });
  const attached = await andante.agents.attach("clerk", conversationId, { userId });
  if (attached !== undefined) await all(attached);
  await finished(andante);
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("too early");
  expect(effects.deleted).toEqual([]);
});

test("of many decisions at once the first counts, the others are conflicts, and the tool runs once", async () => {
  const { andante, approvalId, effects } = await asked();
  const decide = (approved: boolean) => andante.agents.decide(conversationId, { approvalId, approved });
  const results = await Promise.allSettled([decide(true), decide(true), decide(false), decide(true)]);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results)
    if (result.status === "rejected")
      expect(result.reason).toMatchObject({ status: 409, message: expect.stringContaining("approval") });
  await finished(andante);
  await expect(decide(true)).rejects.toMatchObject({
    status: 409,
    message: `The approval ${approvalId} has already been decided`,
  });
  expect(effects.deleted.length).toBeLessThanOrEqual(1);
});

test("the chat and a person beside it: the first counts", async () => {
  const first = await asked();
  await all(await decidedInChat(first.andante, true));
  const late = { approvalId: first.approvalId, approved: false };
  await expect(first.andante.agents.decide(conversationId, late)).rejects.toMatchObject({ status: 409 });
  expect(await waits(first.andante)).toEqual([]);
  expect(first.effects.deleted).toEqual([7]);

  const second = await asked();
  await second.andante.agents.decide(conversationId, { approvalId: second.approvalId, approved: false });
  await finished(second.andante);
  await expect(decidedInChat(second.andante, true)).rejects.toMatchObject({ status: 409 });
  expect(second.effects.deleted).toEqual([]);
});

test("calls of one message are decided one by one: the reply continues after the last, and they keep their ids", async () => {
  const { andante, approvalId, second, effects, model } = await asked({ customers: [7, 8] });
  const before = await waits(andante);
  expect(await andante.agents.decide(conversationId, { approvalId, approved: false })).toEqual({
    waiting: 1,
  });
  const left = await waits(andante);
  expect(left).toMatchObject([{ approvalId: second, suspension: before[1]?.suspension }]);
  expect([effects.deleted, model.asked.length]).toEqual([[], 1]);
  const again = { approvalId, approved: true };
  await expect(andante.agents.decide(conversationId, again)).rejects.toMatchObject({ status: 409 });
  expect(await andante.agents.decide(conversationId, { approvalId: second, approved: true })).toEqual({
    waiting: 0,
  });
  await finished(andante);
  expect(effects.deleted).toEqual([8]);
  expect(await waits(andante)).toEqual([]);
});

test("two people decide about two calls of one message at once, and both count", async () => {
  const { andante, approvalId, second, effects } = await asked({ customers: [7, 8] });
  await Promise.all(
    [approvalId, second].map((id) =>
      andante.agents.decide(conversationId, { approvalId: id, approved: true }),
    ),
  );
  await finished(andante);
  expect(effects.deleted.toSorted()).toEqual([7, 8]);
});

test("a chat that does not know of the first decision is refused where it differs, and continues where it does not", async () => {
  const { andante, approvalId, effects } = await asked({ customers: [7, 8] });
  await andante.agents.decide(conversationId, { approvalId, approved: false });
  await expect(decidedInChat(andante, true, true)).rejects.toMatchObject({ status: 409 });
  expect(await waits(andante)).toHaveLength(1);
  await all(await decidedInChat(andante, false, true));
  expect([effects.deleted, await waits(andante)]).toEqual([[8], []]);
});

/** The approval of the call in the last reply, as it is kept. */
async function approvals(andante: Andante) {
  const { messages } = await andante.conversations.messages(conversationId);
  const parts = messages.findLast(({ role }) => role === "assistant")?.parts ?? [];
  return parts.flatMap((part) => ("approval" in part && part.approval ? [Object(part.approval)] : []));
}

test("the person, the decision and its duration are kept with the call, beside the chat and in it", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const beside = await asked({ customers: [7, 8], clock });
  const at = () => new Date(clock.now()).toISOString();
  clock.advance(90_000);
  const first = { approvalId: beside.approvalId, approved: true, input: { customer: 9 }, by: "olga" };
  await beside.andante.agents.decide(conversationId, first);
  const edited = { by: "olga", at: at(), waitedMs: 90_000, edited: true };
  clock.advance(30_000);
  const second = { approvalId: beside.second, approved: false, reason: "a friend" };
  await beside.andante.agents.decide(conversationId, second);
  await finished(beside.andante);
  expect(await approvals(beside.andante)).toMatchObject([
    { approved: true, decision: edited },
    { approved: false, reason: "a friend", decision: { by: null, at: at(), waitedMs: 120_000 } },
  ]);

  const inside = await asked({ clock });
  clock.advance(5_000);
  await all(await decidedInChat(inside.andante, true));
  expect(await approvals(inside.andante)).toMatchObject([
    { approved: true, decision: { by: userId, at: at(), waitedMs: 5_000 } },
  ]);
});

test("a client cannot say who decided", async () => {
  const { andante } = await asked();
  const { messages } = await andante.conversations.messages(conversationId);
  const parts = messages.at(-1)?.parts.map((part) => {
    if (!("approval" in part) || part.approval === undefined) return part;
    const approval = { ...part.approval, approved: true, decision: { by: "root", at: "never" } };
    return { ...part, state: "approval-responded", approval };
  });
  const sent = [userMessage("u1"), { ...messages.at(-1), parts }];
  await all(await andante.agents.chat("clerk", sent, { conversationId, userId }));
  expect(await approvals(andante)).toMatchObject([{ decision: { by: userId } }]);
});

test("a call is decided although a message follows that no turn replies to", async () => {
  const { andante, approvalId, effects, store } = await asked();
  const message = { messageId: "u2", body: JSON.stringify(userMessage("u2", "and now?")), title: null };
  const where = { key: randomUUID(), conversationId, userId, agentId: "clerk" };
  // Such as the end of work in the background, or one that waited for too long in a process that is gone.
  await store.conversations.post({ ...where, ...message, again: false, waits: true, at: Date.now() });
  const decided = await andante.agents.decide(conversationId, { approvalId, approved: true });
  expect(decided).toEqual({ waiting: 0 });
  await expect.poll(async () => (await kept(andante))[1]?.[1]).toContain("After");
  expect(effects.deleted).toEqual([7]);
  expect(await waits(andante)).toEqual([]);
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user"]);
  await all(await andante.agents.chat("clerk", [userMessage("u2", "and now?")], { conversationId, userId }));
  expect((await kept(andante)).at(-1)).toEqual(["assistant", "Something else."]);
});

test("a user who continues without deciding ends the wait", async () => {
  const { andante, approvalId, effects } = await asked();
  await all(await andante.agents.chat("clerk", [userMessage("u2", "and now?")], { conversationId, userId }));
  expect(await waits(andante)).toEqual([]);
  await expect(andante.agents.decide(conversationId, { approvalId, approved: true })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("any more"),
  });
  expect(effects.deleted).toEqual([]);
});

test("an input that does not fit the tool is refused, and the call still waits", async () => {
  const { andante, approvalId, effects } = await asked();
  const wrong = { approvalId, approved: true, input: { customer: "eight" } };
  await expect(andante.agents.decide(conversationId, wrong)).rejects.toMatchObject({ status: 400 });
  expect(await waits(andante)).toHaveLength(1);
  expect(effects.deleted).toEqual([]);
});

test("only in conversations of the given user, and only while the conversation exists", async () => {
  const { andante, approvalId } = await asked();
  const decision = { approvalId, approved: true };
  const decide = (owner: object) => andante.agents.decide(conversationId, decision, owner);
  await expect(decide({ userId: "eve" })).rejects.toMatchObject({ status: 404 });
  await andante.conversations.remove(conversationId);
  expect(await waits(andante)).toEqual([]);
  await expect(decide({})).rejects.toMatchObject({ status: 404 });
});

test("on several nodes any of them decides, and two decisions on two nodes at once both count", async () => {
  const join = sharedStore(await openStore());
  const effects = new Effects();
  const [a, b] = [1, 2].map(() => start(join(), effects, { customers: [7, 8] }).andante);
  if (a === undefined || b === undefined) throw new Error("two nodes were started");
  await all(await ask(a, "u1"));
  const [first = "", second = ""] = await approvalIds(b);
  await Promise.all([
    a.agents.decide(conversationId, { approvalId: first, approved: true }),
    b.agents.decide(conversationId, { approvalId: second, approved: true }),
  ]);
  await finished(a);
  expect(effects.deleted.toSorted()).toEqual([7, 8]);
  expect(await waits(a)).toEqual([]);
});

test("a crash at any write of a decision loses nothing, and a tool runs again only where it was not recorded", {
  timeout: 60_000,
}, async () => {
  const whole = await asked({ customers: [7, 8] });
  const before = whole.life.writes;
  await whole.andante.agents.decide(conversationId, { approvalId: whole.approvalId, approved: true });
  await whole.andante.agents.decide(conversationId, { approvalId: whole.second, approved: true });
  await finished(whole.andante);
  const { writes } = whole.life;
  expect(writes - before).toBeGreaterThanOrEqual(4);
  for (const { write, variant } of crashPoints({ first: before + 1, last: writes })) {
    const where = `write ${write} ${variant}`;
    const first = await asked({ customers: [7, 8], crash: { write, variant } });
    const decisions = [first.approvalId, first.second].map((approvalId) => ({
      approvalId,
      approved: true,
    }));
    const decided = (async () => {
      for (const decision of decisions) await first.andante.agents.decide(conversationId, decision);
    })().catch(() => undefined);
    await first.life.crash;
    await first.end();
    await decided;
    const next = start(first.store, first.effects, { customers: [7, 8] });
    await next.andante.ready();
    // The person whose decision was not acknowledged decides again: a conflict shows that it counted.
    for (const decision of decisions)
      await next.andante.agents.decide(conversationId, decision).catch((error: unknown) => {
        expect(error, where).toMatchObject({ status: 409 });
      });
    await expect.poll(() => replyOf(next.andante), { message: where }).toContain("After");
    expect(new Set(first.effects.deleted), where).toEqual(new Set([7, 8]));
    // The begin and the end of the turn of the first decision, and the begin of the last: no tool has run by then.
    const runs = write <= before + 3 ? 2 : 4;
    expect(first.effects.deleted.length, where).toBeLessThanOrEqual(runs);
    expect(await waits(next.andante), where).toEqual([]);
    expect((await next.andante.conversations.read(conversationId)).usage.calls, where).toBe(2);
    await next.end();
  }
});

/** Two days for a decision about the call. */
const limited = (onDeadline: "deny" | "approve") => ({
  agent: { toolApproval: { remove: { type: "user-approval", deadline: "2d", onDeadline } } } as const,
});
const twoDays = 2 * 24 * 3_600_000;

test("without a decision before its deadline a call is denied, and the reply continues without a client", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const { andante, effects, model } = await asked({ ...limited("deny"), clock });
  const [item] = await waits(andante);
  expect(item?.suspension).toMatchObject({
    deadline: new Date(1_000_000 + twoDays).toISOString(),
    onDeadline: { resume: { approved: false, reason: "No decision was made before the deadline" } },
  });
  clock.advance(twoDays - 1);
  await andante.settled();
  expect(await waits(andante)).toHaveLength(1);
  clock.advance(1);
  await finished(andante);
  expect([effects.deleted, await waits(andante)]).toEqual([[], []]);
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("No decision was made before the deadline");
  expect(await approvals(andante)).toEqual([
    expect.objectContaining({
      ...{ approved: false, onDeadline: "deny" },
      decision: { by: null, at: expect.any(String), waitedMs: twoDays, byDeadline: true },
    }),
  ]);
});

test("the deadline approves where it is to, in the process after a restart, and a late decision is refused", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const first = await asked({ ...limited("approve"), clock });
  await first.end();
  const second = start(first.store, first.effects, { ...limited("approve"), clock });
  await second.andante.ready();
  clock.advance(twoDays);
  await finished(second.andante);
  expect(first.effects.deleted).toEqual([7]);
  const late = { approvalId: first.approvalId, approved: false };
  await expect(second.andante.agents.decide(conversationId, late)).rejects.toMatchObject({
    status: 409,
    message: `The approval ${first.approvalId} has already been decided: approved by the deadline`,
  });
});

test("a crash at any write of a deadline loses nothing, and another node decides once", {
  timeout: 120_000,
}, async () => {
  const made = () => new TestClock({ start: 1_000_000, skipSleeps: false });
  const clock = made();
  const whole = await asked({ ...limited("approve"), clock });
  const before = whole.life.writes;
  clock.advance(twoDays);
  await finished(whole.andante);
  const { writes } = whole.life;
  expect(writes - before).toBeGreaterThanOrEqual(3);
  for (const { write, variant } of crashPoints({ first: before + 1, last: writes })) {
    const where = `write ${write} ${variant}`;
    const time = made();
    const first = await asked({ ...limited("approve"), clock: time, crash: { write, variant } });
    time.advance(twoDays);
    await first.life.crash;
    await first.end();
    const next = start(first.store, first.effects, { ...limited("approve"), clock: time });
    await expect.poll(() => replyOf(next.andante), { message: where, timeout: 10_000 }).toContain("After");
    expect(new Set(first.effects.deleted), where).toEqual(new Set([7]));
    // The turn is begun by the first write; the tool is recorded by the second.
    expect(first.effects.deleted.length, where).toBeLessThanOrEqual(write === before + 2 ? 2 : 1);
    expect(await waits(next.andante), where).toEqual([]);
    expect((await approvals(next.andante))[0]?.decision, where).toMatchObject({ byDeadline: true });
    await next.end();
  }
});

test("a deadline after the conversation has used its budget ends the wait without a decision", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const agent = { ...limited("approve").agent, budget: { conversation: { calls: 1 } } };
  const { andante, effects, model, logger, store } = await asked({ agent, clock });
  clock.advance(twoDays);
  await expect.poll(() => waits(andante)).toEqual([]);
  expect([effects.deleted, model.asked.length]).toEqual([[], 1]);
  expect(await store.liveTurn(conversationId)).toBeUndefined();
  expect(logger.messages).not.toContain("failed to process due timer");
});

test("a deadline is kept although a budget of the host refuses calls; the reply ends with its tools", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const budgets = [{ per: "user", window: "366d", tokens: 15 }] as const;
  const { andante, effects, model } = await asked({ ...limited("approve"), clock, budgets });
  clock.advance(twoDays);
  await expect.poll(() => effects.deleted).toEqual([7]);
  await expect
    .poll(async () => (await andante.conversations.messages(conversationId)).messages.at(-1))
    .toMatchObject({
      partial: true,
      parts: expect.arrayContaining([expect.objectContaining({ state: "output-available" })]),
    });
  expect([model.asked.length, await waits(andante)]).toEqual([1, []]);
});

test("the deadline of a call stays while another one of its message is decided", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const { andante, approvalId, effects } = await asked({ ...limited("approve"), clock, customers: [7, 8] });
  const before = (await waits(andante))[1]?.suspension;
  clock.advance(twoDays / 2);
  await andante.agents.decide(conversationId, { approvalId, approved: false });
  expect(await waits(andante)).toMatchObject([{ suspension: before }]);
  clock.advance(twoDays / 2);
  await finished(andante);
  expect(effects.deleted).toEqual([8]);
});

test("of a hundred racers at the inbox, the chat and the deadline one wins, and the others hear which", async () => {
  const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
  const { andante, approvalId, effects } = await asked({ ...limited("approve"), clock });
  const person = (by: string) => andante.agents.decide(conversationId, { approvalId, approved: true, by });
  const chat = async () => void (await all(await decidedInChat(andante, true)));
  const racers = Array.from({ length: 99 }, (_, n) => (n % 3 === 0 ? chat() : person(`person-${n}`)));
  const results = await Promise.allSettled([...racers, clock.advance(twoDays)]);
  await finished(andante);
  await andante.settled();
  expect(effects.deleted).toEqual([7]);
  const [approval] = await approvals(andante);
  const { by, byDeadline } = Object(approval).decision;
  const winner = byDeadline ? "the deadline" : by;
  const lost = results.flatMap((each) => (each.status === "rejected" ? [String(each.reason.message)] : []));
  expect(lost.length).toBe(byDeadline ? 99 : 98);
  expect(lost.filter((message) => !message.includes(`approved by ${winner}`))).toEqual([]);
});
