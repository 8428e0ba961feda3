// Approvals of tools that wait in a chat: in the list of waits, decided beside the chat, by the first person, once.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import type { Store } from "../../src/store/store.ts";
import { controlledModel } from "../support/controlled-model.ts";
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
const finished = (andante: Andante) => expect.poll(() => replyOf(andante)).toContain("After");

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

test("a user who goes on without deciding ends the wait", async () => {
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
  for (let write = before + 1; write <= writes; write++) {
    for (const variant of ["lost", "unacknowledged"] as const) {
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
  }
});
