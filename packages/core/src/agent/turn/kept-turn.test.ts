// A turn of a kept conversation: its input, and the message that the conversation keeps of one that ends now.
import { expect, test } from "vitest";
import { ReplyStoppedError, ShuttingDownError, StoreRefusedError } from "../../errors/index.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { ActiveTurns } from "./active-turns.ts";
import { KeptTurn, readTurnInput, reasonOf, type TurnInput } from "./kept-turn.ts";

test("one that ends before its first text keeps no message, and later the text so far", async () => {
  const begun = { agentId: "a", mode: "text", messageId: "m", replyTo: "u", settings: {} } as const;
  const input: TurnInput = { ...begun, schema: null, startedAt: 0, traceparent: null };
  const active = new ActiveTurns().begin("a", undefined);
  const where = { conversationId: "c", userId: "ada" };
  const turn = new KeptTurn({ executionId: "e", ...where, input, active, clock: new TestClock() });
  const nothing = { reply: { ...where, replyTo: "u", message: null }, usage: null };
  expect(await turn.ending()).toMatchObject(nothing);
  const message = { messageId: "m", body: "{}", partial: true };
  turn.endsEarlyWith(async () => message);
  expect(await turn.ending()).toMatchObject({ ...nothing, reply: { message } });
});

test("the stored input of a turn is read", () => {
  const input = { agentId: "a", messageId: "m" };
  expect(readTurnInput(input)).toBe(input);
});

test.each([null, undefined, "text", 5, {}, { agentId: "a" }, { messageId: "m" }])(
  "%j is not the input of a turn",
  (stored) => {
    expect(() => readTurnInput(stored)).toThrow("the input of a turn is not what a turn is begun with");
  },
);

test("the readers of a turn that ends early get the reason", () => {
  const why = new ShuttingDownError();
  expect(reasonOf({ reason: why })).toBe(why);
  const cause = new Error("too long");
  expect(reasonOf({ reason: cause })).toBeInstanceOf(StoreRefusedError);
  expect(reasonOf({ reason: cause })).toMatchObject({ cause });
  expect(reasonOf("stopped")).toBeInstanceOf(ShuttingDownError);
  expect(reasonOf("failed")).toMatchObject({
    code: "store-unavailable",
    cause: { message: "the turn could not be written" },
  });
  expect(reasonOf("elsewhere")).toBeInstanceOf(ReplyStoppedError);
});
