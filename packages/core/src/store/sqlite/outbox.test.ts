// How calls become messages to a database thread: in order, as many as fit, and one that cannot be sent fails alone.
import { expect, test } from "vitest";
import { Outbox, type OutgoingCall } from "./outbox.ts";
import { maxMessageLength, pack } from "./thread-messages.ts";

const call = (id: number, argument: unknown = null): OutgoingCall => ({
  id,
  operation: "state",
  argument,
  sent: 0,
});

/** A call that is so many characters long in a message. */
const callOf = (id: number, length: number) => call(id, "x".repeat(length - pack([id, "state", ""]).length));

function outboxOf(...calls: OutgoingCall[]) {
  const outbox = new Outbox<OutgoingCall>();
  for (const each of calls) outbox.add(each);
  const refused: number[] = [];
  /** The numbers of the calls in the next message. */
  const take = () => {
    const message = outbox.take(({ id }) => refused.push(id));
    const sent: unknown = message === undefined ? undefined : JSON.parse(message);
    return Array.isArray(sent) ? sent.map((each) => (Array.isArray(each) ? each[0] : each)) : sent;
  };
  return { outbox, refused, take };
}

const large = Math.ceil(maxMessageLength / 2);

test("short calls go out together, in their order, with their arguments", () => {
  const calls = [call(1, { a: 1 }), call(2), call(3, "x")];
  const { outbox } = outboxOf(...calls);
  expect([outbox.length, outbox.calls]).toEqual([3, calls]);
  expect(JSON.parse(outbox.take(() => undefined) ?? "")).toEqual([
    [1, "state", { a: 1 }],
    [2, "state", null],
    [3, "state", "x"],
  ]);
  expect([outbox.length, calls.map(({ sent }) => sent)]).toEqual([0, [1, 1, 1]]);
});

test("a message ends with the call that makes it long", () => {
  const { take, outbox } = outboxOf(callOf(1, large), callOf(2, large), call(3), call(4));
  expect(take()).toEqual([1, 2]);
  expect(outbox.calls.map(({ id, sent }) => [id, sent])).toEqual([
    [3, 0],
    [4, 0],
  ]);
  expect(take()).toEqual([3, 4]);
  expect(outboxOf(callOf(1, maxMessageLength), call(2)).take()).toEqual([1]);
  expect(outboxOf(callOf(1, maxMessageLength - 1), call(2), call(3)).take()).toEqual([1, 2]);
});

test("one that is long goes out alone when there are no others", () => {
  expect(outboxOf(callOf(1, maxMessageLength + 10)).take()).toEqual([1]);
});

test("one that cannot be sent is refused, and the others are sent", () => {
  const endless: { itself?: unknown } = {};
  endless.itself = endless;
  const { take, refused, outbox } = outboxOf(call(1), call(2, endless), call(3));
  expect(take()).toEqual([1, 3]);
  expect([refused, outbox.length]).toEqual([[2], 0]);
  const alone = outboxOf(call(1, endless));
  expect([alone.take(), alone.refused, alone.outbox.length]).toEqual([undefined, [1], 0]);
});

test("those that are put first go out before the others, and cleared ones never", () => {
  const { take, outbox } = outboxOf(call(1), call(2));
  outbox.putFirst([call(8), call(9)]);
  expect(take()).toEqual([8, 9, 1, 2]);
  outbox.add(call(3));
  outbox.clear();
  expect(outbox.length).toBe(0);
});
