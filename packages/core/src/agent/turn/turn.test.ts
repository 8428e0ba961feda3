// One turn: the request to its agent, the message that its conversation keeps, and its end.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { allInTime } from "../../../test/support/in-time.ts";
import { turnForTest } from "../../../test/turns/turn-for-test.ts";
import { ModelFailedError, ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import { RunningReply } from "../reply/running-reply.ts";
import { continuedMessage } from "./turn.ts";

const message: UIMessage = { id: "m", role: "assistant", parts: [{ type: "text", text: "hi" }] };
const before: UIMessage = { id: "b", role: "assistant", parts: [{ type: "text", text: "before" }] };
const body = (partial: boolean, of = message) => ({ messageId: of.id, body: JSON.stringify(of), partial });

test("the agent is asked with the prompt, the settings and the tools of the call", async () => {
  const { turn, calls, operation } = turnForTest();
  const request = {
    ...{ messages: [{ role: "user", content: "hello" }], operation, abortSignal: operation.signal },
    ...{ settings: { topK: 1 }, tools: { look: {} }, output: undefined },
  };
  await turn.generate();
  await allInTime(turn.parts(), "the parts");
  const schema = { type: "object" };
  await turn.generate([], Object({ schema }));
  expect(calls.slice(0, 2)).toEqual([
    ["generate", request],
    ["parts", request],
  ]);
  expect(calls[2]).toEqual([
    "generate",
    { ...request, messages: [], output: expect.objectContaining({ name: "object" }) },
  ]);
});

test("approvals are signed where only the client keeps the messages", async () => {
  const request = { type: "tool-approval-request", approvalId: "a" };
  const unkept = turnForTest({ isKept: false, replies: [[request]] });
  expect(await allInTime(unkept.turn.parts(), "the parts")).toEqual([{ ...request, signature: "signed" }]);
  expect(unkept.calls[1]).toEqual([
    "sign",
    expect.objectContaining({ id: "clerk" }),
    unkept.operation,
    request,
  ]);
  const kept = turnForTest({ replies: [[request]] });
  expect(await allInTime(kept.turn.parts(), "the parts")).toEqual([request]);
});

test("a complete reply is kept once, and only then reported", async () => {
  const { turn, calls } = turnForTest();
  const reply = await turn.run(async () => {
    await turn.complete(message);
    return "done";
  });
  expect(reply).toBe("done");
  expect(calls).toEqual([["finish", body(false), { waits: [] }], ["completed", message], ["end"]]);
});

test("an agent whose calls are not recorded has its whole usage kept with the reply", async () => {
  const { turn, calls, operation } = turnForTest({ agent: { recordsCalls: false } });
  operation.add({ inputTokens: 0, outputTokens: 0, totalTokens: 3, calls: 1 });
  await turn.complete(undefined);
  expect(calls).toEqual([["finish", null, { usage: operation.usage, waits: [] }]]);
});

test("a reply that breaks off is kept as far as it came, after its tools", async () => {
  const { turn, calls, logger } = turnForTest();
  const cause = new Error("provider down");
  const failed = turn.run(
    () => Promise.reject(cause),
    async () => message,
  );
  await expect(failed).rejects.toEqual(new ModelFailedError({ cause }));
  expect(calls).toEqual([
    ["endsEarlyWith", expect.any(Function)],
    ["toolsEnded", 1000],
    ["finish", body(true), { waits: [] }],
    ["end"],
  ]);
  expect(logger.lines).toMatchObject([{ level: "error", msg: "a reply of the agent failed" }]);
});

test("a reply that the next process continues does not wait for its tools", async () => {
  const { turn, calls, controller } = turnForTest();
  controller.abort(new ShuttingDownError());
  await turn.end();
  expect(calls).toEqual([["finish", null, { waits: [] }], ["end"]]);
});

test("without a conversation nothing is kept", async () => {
  const { turn, calls } = turnForTest({ isKept: false });
  expect(turn.isKept).toBe(false);
  await turn.end(() => message);
  await turn.complete(message);
  expect(calls).toEqual([["end"], ["completed", message]]);
});

test.each([
  ["error", new Error("disk full")],
  ["debug", new ShuttingDownError()],
  ["debug", new ReplyStoppedError()],
])("a reply that cannot be kept is a line of level %s: %s", async (level, failure) => {
  const { turn, calls, logger } = turnForTest({ failure });
  await turn.end(() => message);
  expect(logger.lines).toEqual([{ level, msg: "a partial reply could not be kept", err: failure }]);
  expect(calls.at(-1)).toEqual(["end"]);
});

test("a refused reply and an empty one are not kept; one that is ended from outside is partial", async () => {
  const refused = turnForTest();
  refused.operation.isRefused = true;
  await refused.turn.end(() => message);
  expect(refused.calls[1]).toEqual(["finish", null, { waits: [] }]);
  const empty = turnForTest();
  await empty.turn.end(() => ({ ...message, parts: [] }));
  expect(empty.calls[1]).toEqual(["finish", null, { waits: [] }]);
  const ended = turnForTest();
  ended.turn.endsEarlyWith(() => message);
  const [, soFar] = ended.calls[0] ?? [];
  expect(typeof soFar === "function" && (await soFar())).toEqual(body(true));
});

test("those who attach read the reply from its beginning, after the message that it continues", async () => {
  for (const [history, expected] of [
    [[], ["start"]],
    [[before], ["start", "text-start", "text-delta", "text-end"]],
  ] as const) {
    const { turn, calls } = turnForTest({ options: { history } });
    const reply = new RunningReply();
    reply.append({ type: "start" });
    reply.close();
    turn.allowAttach(reply);
    const [, attached, read] = calls[0] ?? [];
    expect(attached).toBe(reply);
    const chunks = await allInTime<{ type: string }>(Object(read)(), "the chunks");
    expect(chunks.map(({ type }) => type)).toEqual(expected);
  }
});

test("the fields of a turn are those of its agent and its call", async () => {
  const messageMetadata = () => undefined;
  const deferral = { isDeferring: true };
  const { turn, calls, operation } = turnForTest({ agent: { messageMetadata, output: "o" } });
  expect([turn.messageMetadata, turn.output, turn.tools]).toEqual([messageMetadata, "o", { look: {} }]);
  expect([turn.now, turn.isUncommitted]).toEqual([1000, false]);
  Object.assign(operation.loop?.recorder ?? {}, { deferral });
  expect(turn.isUncommitted).toBe(true);
  turn.stop();
  const text = Promise.reject(new Error("no reader"));
  turn.shareText(text);
  expect(calls).toEqual([["stop"], ["shareText", text]]);
});

test("a message of the assistant is continued, another is not", () => {
  expect(continuedMessage([before])).toBe(before);
  expect(continuedMessage([before, { ...before, role: "user" }])).toBeUndefined();
  expect(continuedMessage([])).toBeUndefined();
});
