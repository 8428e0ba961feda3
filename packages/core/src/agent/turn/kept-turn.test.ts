// A turn of a kept conversation: its input, and the message that the conversation keeps of one that ends now.
import { expect, test } from "vitest";
import { ReplyStoppedError, ShuttingDownError, StoreRefusedError } from "../../errors/index.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { ActiveTurns } from "./active-turns.ts";
import { KeptTurn, readTurnInput, reasonOf, type TurnInput } from "./kept-turn.ts";
import type { RunningTurn, TurnEnd } from "./turn-host.ts";

const where = { conversationId: "c", userId: "ada" };

function turnForTest(replyTo: string | null = "u") {
  const begun = { agentId: "a", mode: "text", messageId: "m", replyTo, settings: {} } as const;
  const input: TurnInput = { ...begun, schema: null, startedAt: 0, traceparent: null };
  const active = new ActiveTurns().begin("a", undefined);
  const clock = new TestClock();
  return { turn: new KeptTurn({ executionId: "e", ...where, input, active, clock }), active, clock, input };
}

/** The execution of a turn, as far as the turn looks at it. */
function runningTurn(settled: Promise<TurnEnd>, controller = new AbortController()): RunningTurn {
  return Object({ settled, signal: controller.signal });
}

const message = { messageId: "m", body: "{}", partial: false };

test("a reply that is made is committed with the end of its turn, with the usage beside its records", async () => {
  const { turn, active, clock, input } = turnForTest();
  expect([turn.executionId, turn.input, active.isDurable]).toEqual(["e", input, true]);
  const settled = Promise.withResolvers<TurnEnd>();
  const running = runningTurn(settled.promise);
  let isMade = false;
  const made = turn.run(running).then(() => {
    isMade = true;
  });
  expect(await turn.running).toBe(running);
  expect(isMade).toBe(false);
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, calls: 1 };
  const finished = turn.finish(message, { usage });
  await made;
  // Strictly: a reply without a summary has no such field.
  expect(await turn.ending()).toStrictEqual({
    reply: { ...where, replyTo: "u", message, at: clock.now() },
    usage,
    agentId: "a",
    open: [],
  });
  settled.resolve("ended");
  await finished;
  expect(active.signal.aborted).toBe(false);
});

test("without calls there is no usage, and a reply that continues a message replies to none", async () => {
  const { turn } = turnForTest(null);
  void turn.finish(null, { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, calls: 0 } });
  expect(await turn.ending()).toMatchObject({ reply: { replyTo: undefined, message: null }, usage: null });
});

test.each<[string, TurnEnd, boolean, unknown]>([
  ["that another process has", "elsewhere", false, new ReplyStoppedError()],
  ["that the next process continues", "stopped", false, new ShuttingDownError()],
  [
    "whose journal was full before its end",
    { reason: new ShuttingDownError() },
    false,
    new ShuttingDownError(),
  ],
  ["whose journal was filled by its end", { reason: new ShuttingDownError() }, true, undefined],
  [
    "whose end the store refused",
    { reason: new StoreRefusedError({ operation: "endTurn", cause: 1 }) },
    true,
    new StoreRefusedError({ operation: "endTurn", cause: 1 }),
  ],
])("the reply of a turn %s", async (_, end, wasWritten, failure) => {
  const { turn } = turnForTest();
  void turn.run(runningTurn(Promise.resolve(end)));
  const finished = wasWritten
    ? (async () => {
        const settled = Promise.withResolvers<TurnEnd>();
        const late = turnForTest().turn;
        void late.run(runningTurn(settled.promise));
        const ending = late.finish(message);
        await late.ending();
        settled.resolve(end);
        return ending;
      })()
    : turn.finish(message);
  expect(await finished.catch((error: unknown) => error)).toEqual(failure);
});

test.each(["before it runs", "while it runs"])(
  "a turn that is lost %s stops its reply, with the reason",
  async (when) => {
    const { turn, active } = turnForTest();
    const controller = new AbortController();
    if (when === "before it runs") controller.abort();
    void turn.run(runningTurn(Promise.resolve("stopped"), controller));
    controller.abort();
    await expect.poll(() => active.signal.aborted).toBe(true);
    expect(active.signal.reason).toEqual(new ShuttingDownError());
  },
);

test("a turn is stopped as its reader would", () => {
  const { turn, active } = turnForTest();
  turn.stop();
  expect(active.signal.aborted).toBe(true);
});

test("one that ends before its first text keeps no message, and later the text so far", async () => {
  const { turn } = turnForTest();
  const nothing = { reply: { ...where, replyTo: "u", message: null }, usage: null };
  expect(await turn.ending()).toMatchObject(nothing);
  const soFar = { messageId: "m", body: "{}", partial: true };
  turn.endsEarlyWith(async () => soFar);
  expect(await turn.ending()).toMatchObject({ ...nothing, reply: { message: soFar } });
});

test("the stored input of a turn is read", () => {
  const input = { agentId: "a", messageId: "m" };
  expect(readTurnInput(input)).toBe(input);
});

test.each([null, undefined, "text", 5, {}, { agentId: "a" }, { messageId: "m" }])(
  "%j is not the input of a turn",
  (stored) => {
    expect(() => readTurnInput(stored)).toThrow(
      new TypeError("The stored input of a turn has no agentId or no messageId"),
    );
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
