// The running turns: one at a time in each conversation, found by conversation and user, and ended on close.
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { ConversationNotFoundError, ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import { RunningReply } from "../reply/running-reply.ts";
import type { Question } from "./active-turn.ts";
import { ActiveTurns } from "./active-turns.ts";

/** The conversation has not begun. */
const none = async () => undefined;

test("an agent is running from the beginning of a turn to its end", () => {
  const turns = new ActiveTurns();
  const [first, second] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  expect([turns.isRunning("a"), turns.isRunning("b")]).toEqual([true, false]);
  first.end();
  expect(turns.isRunning("a")).toBe(true);
  second.end();
  expect(turns.isRunning("a")).toBe(false);
});

test("the next turn enters a conversation when the one before it ends", async () => {
  const turns = new ActiveTurns();
  const [first, second] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  await turns.enter(first, "c", null, none);
  let entered = false;
  const entering = turns.enter(second, "c", null, none).then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered).toBe(false);
  first.end();
  await entering;
  second.end();
  await Promise.all([first.over, second.over]);
});

test.each([
  ["ada's", "ada"],
  ["without a user", null],
  ["about to begin, and ada is in it", undefined],
])("another user does not wait in a conversation that is %s: it is missing at once", async (_, owner) => {
  const turns = new ActiveTurns();
  const first = turns.begin("a", undefined);
  await turns.enter(first, "c", "ada", none);
  const eve = turns.begin("a", undefined);
  const outcome = turns.enter(eve, "c", "eve", async () => owner).catch((error: unknown) => error);
  expect(await Promise.race([outcome, setImmediate("waits")])).toBeInstanceOf(ConversationNotFoundError);
  eve.end();
  const next = turns.begin("a", undefined);
  const entering = turns.enter(next, "c", "ada", async () => "ada");
  first.end();
  await entering;
  next.end();
});

test("its owner waits for a stranger who is about to be refused, and keeps its place meanwhile", async () => {
  const turns = new ActiveTurns();
  const [eve, ada] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  const later = turns.begin("a", undefined);
  await turns.enter(eve, "c", "eve", none);
  const read = Promise.withResolvers<string>();
  const order: string[] = [];
  const entering = turns.enter(ada, "c", "ada", () => read.promise).then(() => order.push("first"));
  const following = turns.enter(later, "c", "ada", async () => "ada").then(() => order.push("second"));
  eve.end();
  read.resolve("ada");
  await entering;
  expect(order).toEqual(["first"]);
  ada.end();
  await following;
  later.end();
});

test("only a turn that allows it is found, and only by its own user or by everybody's reader", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  await turns.enter(turn, "c", "ada", none);
  expect(turns.find("c", "ada")).toBeUndefined();
  const reply = new RunningReply();
  turn.allowAttach(reply, () => reply.read());
  expect([turns.find("c"), turns.find("c", "ada")]).toEqual([turn, turn]);
  expect([turns.find("c", "bob"), turns.find("c", null), turns.find("d")]).toEqual(Array.from({ length: 3 }));
  turn.end();
  expect(turns.find("c", "ada")).toBeUndefined();
});

test("a caller that leaves stops its turn, unless others may attach", () => {
  const turns = new ActiveTurns();
  const caller = new AbortController();
  const [bound, detached] = [turns.begin("a", caller.signal), turns.begin("a", caller.signal)];
  const reply = new RunningReply();
  detached.allowAttach(reply, () => reply.read());
  caller.abort();
  expect(bound.signal.reason).toBeInstanceOf(ReplyStoppedError);
  expect(detached.signal.aborted).toBe(false);
  expect(turns.begin("a", caller.signal).signal.aborted).toBe(true);
});

test("a conversation that is removed stops the turn in it, of any kind", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  await turns.enter(turn, "c", null, none);
  turns.stopIn("d");
  expect(turn.signal.aborted).toBe(false);
  turns.stopIn("c");
  expect(turn.signal.reason).toBeInstanceOf(ReplyStoppedError);
});

test("a turn stops as soon as its last reader leaves", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  const reply = new RunningReply();
  turn.allowAttach(reply, () => reply.read());
  const reader = reply.read();
  turn.stopWhenUnread();
  expect(turn.signal.aborted).toBe(false);
  await reader.return?.();
  expect(turn.signal.aborted).toBe(true);
});

test("closing waits for the turns, aborts those that take too long, and accepts no new ones", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  turn.signal.addEventListener("abort", () => turn.end());
  await turns.close(1);
  expect(turn.signal.reason).toBeInstanceOf(ShuttingDownError);
  expect(() => turns.begin("a", undefined)).toThrow(ShuttingDownError);
});

test("closing leaves turns alone that end within the grace period", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  const closing = turns.close(60_000);
  await setImmediate();
  expect(turn.signal.aborted).toBe(false);
  turn.end();
  await inTime(closing, "the end of the turns");
  expect(turn.signal.aborted).toBe(false);
});

test("the same is asked again only by the same user, of the same agent, in the same way, with the same message", async () => {
  const turns = new ActiveTurns();
  const turn = turns.begin("a", undefined);
  const question: Question = { agentId: "a", mode: "chat", messageId: "m", body: "{}" };
  turn.question = question;
  await turns.enter(turn, "c", "ada", none);
  const asking = turns.begin("a", undefined);
  const same = (asked: Partial<Question>, userId = "ada") =>
    turns.same("c", userId, { ...question, ...asked }, asking);
  expect(same({})).toBe(turn);
  for (const other of [{ agentId: "b" }, { mode: "text" }, { messageId: "n" }, { body: "[]" }] as const)
    expect(same(other)).toBeUndefined();
  expect(same({}, "bob")).toBeUndefined();
  turn.question = { ...question, body: undefined };
  expect(same({}), "its body is still being read").toBe(turn);
});

test("users who have less than a tenth of the replies get up to a tenth more than the limit", () => {
  const turns = new ActiveTurns(20);
  const begin = (userId?: string) => turns.begin("a", undefined, userId);
  const eves = Array.from({ length: 20 }, () => begin("eve"));
  const full = "Too many agent replies";
  expect(() => begin("eve")).toThrow(full);
  expect(() => begin()).toThrow(full);
  const ada = begin("ada");
  begin("bob");
  // The tenth is used up.
  expect(() => begin("carol")).toThrow(full);
  ada.end();
  begin("carol");
  for (const turn of eves.slice(0, 5)) turn.end();
  expect(begin("eve").agentId).toBe("a");
});

test("of two users who fill the tenth none gets more than a tenth", async () => {
  const turns = new ActiveTurns(20);
  const begin = (userId?: string) => turns.begin("a", undefined, userId);
  for (let n = 0; n < 20; n++) begin();
  const [first] = [begin("ada"), begin("ada")];
  expect(() => begin("ada")).toThrow();
  first.end();
  await first.over;
  begin("ada");
});

test("the refusal names the limit, and turns that were accepted before are not refused", () => {
  const turns = new ActiveTurns(1);
  turns.begin("a", undefined);
  expect(() => turns.begin("a", undefined)).toThrow(expect.objectContaining({ code: "reply-limit" }));
  expect(() => turns.begin("a", undefined)).toThrow(/1/);
  expect(turns.recover("b")).toMatchObject({ agentId: "b", isRecovered: true });
  expect(turns.isRunning("b")).toBe(true);
  expect(() => new ActiveTurns().begin("a", undefined)).not.toThrow();
});

test("a user whose turns are over is counted from nothing again", async () => {
  const turns = new ActiveTurns(10);
  for (let n = 0; n < 10; n++) turns.begin("a", undefined);
  const first = turns.begin("a", undefined, "ada");
  expect(() => turns.begin("a", undefined, "ada")).toThrow();
  first.end();
  await first.over;
  const again = turns.begin("a", undefined, "ada");
  again.end();
  await again.over;
  expect(() => turns.begin("a", undefined, "ada")).not.toThrow();
});

test("closing does not stop a turn that another process continues", async () => {
  const turns = new ActiveTurns();
  const [durable, other] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  durable.isDurable = true;
  other.signal.addEventListener("abort", () => {
    other.end();
    durable.end();
  });
  await inTime(turns.close(1), "the end of the turns");
  expect([durable.signal.aborted, other.signal.aborted]).toEqual([false, true]);
});

test("closing waits for work after replies, and for no work that is done", async () => {
  const turns = new ActiveTurns();
  const work = Promise.withResolvers<void>();
  turns.afterwards(work.promise);
  turns.afterwards(Promise.resolve());
  const closing = turns.close(60_000).then(() => "closed");
  expect(await Promise.race([closing, setImmediate("waits")])).toBe("waits");
  work.resolve();
  expect(await inTime(closing, "the end of the work")).toBe("closed");
});

test("a caller is asked whether it waits only where it has to, and may leave then", async () => {
  const turns = new ActiveTurns();
  const [first, second, third] = [1, 2, 3].map(() => turns.begin("a", undefined));
  if (first === undefined || second === undefined || third === undefined) throw new Error("no turns");
  const order: string[] = [];
  const owner = async () => {
    order.push("owner");
    return "ada";
  };
  const waits = async () => {
    order.push("waits");
  };
  await turns.enter(first, "c", "ada", owner, waits);
  expect(order).toEqual([]);
  const entering = turns.enter(second, "c", "ada", owner, waits);
  await expect.poll(() => order).toEqual(["owner", "waits"]);
  const refused = turns.enter(third, "c", "ada", owner, () => Promise.reject(new Error("enough")));
  await expect(refused).rejects.toThrow("enough");
  first.end();
  await inTime(entering, "the place");
});

test("a recovered turn goes ahead of those that wait", async () => {
  const turns = new ActiveTurns();
  const [holder, waiting] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  await turns.enter(holder, "c", null, none);
  const order: string[] = [];
  const second = turns.enter(waiting, "c", null, none).then(() => order.push("waiting"));
  const recovered = turns.recover("a");
  const first = turns.enter(recovered, "c", null, none).then(() => order.push("recovered"));
  holder.end();
  await inTime(first, "the place");
  expect(order).toEqual(["recovered"]);
  recovered.end();
  await inTime(second, "the place");
});

test("a turn that waits for another process keeps its place, and lets that one's turn past", async () => {
  const turns = new ActiveTurns();
  const [turn, next] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  const unplaced = Promise.withResolvers<void>();
  const yielding = turns.yieldWhile(turn, unplaced.promise).then(() => "over");
  expect(await Promise.race([yielding, setImmediate("waits")])).toBe("waits");
  unplaced.resolve();
  expect(await inTime(yielding, "the end of the work")).toBe("over");
  await turns.enter(turn, "c", null, none);
  const work = Promise.withResolvers<void>();
  const order: string[] = [];
  const waiting = turns.yieldWhile(turn, work.promise).then(() => order.push("first"));
  const following = turns.enter(next, "c", null, none).then(() => order.push("next"));
  const recovered = turns.recover("a");
  await inTime(turns.enter(recovered, "c", null, none), "the place of the recovered turn");
  recovered.end();
  work.resolve();
  await inTime(waiting, "the end of the work");
  expect(order).toEqual(["first"]);
  turn.end();
  await inTime(following, "the place");
});

test("the message before is waited for, where there is one", async () => {
  const turns = new ActiveTurns();
  await inTime(turns.begun("c"), "an empty conversation");
  const holder = turns.begin("a", undefined);
  await turns.enter(holder, "c", null, none);
  const begun = turns.begun("c").then(() => "begun");
  expect(await Promise.race([begun, setImmediate("waits")])).toBe("waits");
  holder.begun();
  expect(await inTime(begun, "the message")).toBe("begun");
});

test("of two turns with the same question only the later one waits for the other", async () => {
  const turns = new ActiveTurns();
  const [first, second] = [turns.begin("a", undefined), turns.begin("a", undefined)];
  const question: Question = { agentId: "a", mode: "chat", messageId: "m", body: "{}" };
  await turns.enter(first, "c", null, none);
  void turns.enter(second, "c", null, none);
  expect(turns.same("c", null, question, second), "without a question").toBeUndefined();
  second.question = question;
  expect(turns.same("c", null, question, first)).toBeUndefined();
  first.question = question;
  expect(turns.same("c", null, question, second)).toBe(first);
  expect(turns.same("d", null, question, second)).toBeUndefined();
});
