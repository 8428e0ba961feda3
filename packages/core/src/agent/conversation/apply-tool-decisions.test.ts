// Decisions of a client about the tool calls of a kept message: only decisions count, and only those on open questions.
import { tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { ConversationConflictError, InputValidationError } from "../../errors/index.ts";
import { applyDecision, applyToolDecisions, waitingCalls } from "./apply-tool-decisions.ts";

const inputSchema = z.object({});
const tools = {
  atServer: tool({ inputSchema, execute: () => "the truth" }),
  atClient: tool({ inputSchema, outputSchema: z.string() }),
};

type Part = UIMessage["parts"][number];

const message = (...parts: Part[]): UIMessage => ({ id: "m", role: "assistant", parts });
const call = (name: string, toolCallId = name) => ({ type: `tool-${name}` as const, toolCallId, input: {} });
const waiting = (name: string): Part => ({ ...call(name), state: "input-available" });
const output = (name: string): Part => ({ ...call(name), state: "output-available", output: "a lie" });
const failure = (name: string): Part => ({ ...call(name), state: "output-error", errorText: "a lie" });
const asked = (name: string, id = "request"): Part => ({
  ...call(name),
  state: "approval-requested",
  approval: { id },
});
const decided = (name: string, id = "request", approved = true): Part => ({
  ...call(name),
  state: "approval-responded",
  approval: { id, approved },
});

const apply = (kept: UIMessage, sent: UIMessage) => applyToolDecisions(kept, sent, tools).parts;

test("the output of a tool that runs at the client is taken", () => {
  expect(apply(message(waiting("atClient")), message(output("atClient")))).toEqual([output("atClient")]);
  expect(apply(message(waiting("atClient")), message(failure("atClient")))).toEqual([failure("atClient")]);
});

test.each([
  ["its output", output],
  ["its failure", failure],
])("%s for a tool that runs at the server is not believed", (_, lie) => {
  const kept = message(waiting("atServer"));
  expect(() => apply(kept, message(lie("atServer")))).toThrow(ConversationConflictError);
  const both = message(waiting("atServer"), waiting("atClient"));
  expect(apply(both, message(lie("atServer"), output("atClient")))).toEqual([
    waiting("atServer"),
    output("atClient"),
  ]);
});

test("an output is not believed in place of a decision, on the server and on the client", () => {
  for (const name of ["atServer", "atClient"]) {
    for (const lie of [output, failure]) {
      expect(() => apply(message(asked(name)), message(lie(name)))).toThrow(ConversationConflictError);
    }
  }
});

test("an output of a tool that the agent does not have is not believed", () => {
  for (const name of ["unknown", "constructor"]) {
    expect(() => apply(message(waiting(name)), message(output(name)))).toThrow(ConversationConflictError);
  }
});

test("a decision counts for the request that it names, and for no other", () => {
  const kept = message(asked("atServer"));
  expect(apply(kept, message(decided("atServer")))).toEqual([decided("atServer")]);
  expect(apply(kept, message(decided("atServer", "request", false)))).toEqual([
    decided("atServer", "request", false),
  ]);
  expect(() => apply(kept, message(decided("atServer", "another")))).toThrow(ConversationConflictError);
  expect(() => apply(kept, message(decided("atClient")))).toThrow(ConversationConflictError);
});

test("every request needs a decision", () => {
  const kept = message(asked("atServer"), asked("atClient", "second"));
  expect(() => apply(kept, message(decided("atServer"), decided("atClient", "wrong")))).toThrow(
    InputValidationError,
  );
});

test("a decided call is not decided again", () => {
  const kept = message(decided("atServer"), output("atClient"));
  const sent = message(decided("atServer", "request", false), failure("atClient"));
  expect(() => apply(kept, sent)).toThrow(ConversationConflictError);
});

test("calls with one id each get their own decision and output", () => {
  const done: Part = { ...call("atServer"), state: "output-available", output: "the truth" };
  const first = asked("atServer", "first");
  const second = asked("atServer", "second");
  const [yes, no] = [decided("atServer", "first"), decided("atServer", "second", false)];
  expect(apply(message(done, second), message(done, no))).toEqual([done, no]);
  // Also where only the decision is sent.
  expect(apply(message(done, second), message(no))).toEqual([done, no]);
  expect(apply(message(first, second), message(no, yes))).toEqual([yes, no]);
  const said = (text: string): Part => ({ ...call("atClient"), state: "output-available", output: text });
  const both = message(waiting("atClient"), waiting("atClient"));
  expect(apply(both, message(said("one"), said("two")))).toEqual([said("one"), said("two")]);
  expect(apply(message(said("one"), waiting("atClient")), message(said("one"), said("two")))).toEqual([
    said("one"),
    said("two"),
  ]);
});

test("the words of the refusals", () => {
  const kept = message(asked("atServer"));
  expect(() => apply(kept, message())).toThrow("Message m is not waiting for a decision");
  const both = message(asked("atServer"), asked("atClient", "second"));
  expect(() => apply(both, message(decided("atServer")))).toThrow(
    "input: every approval request needs a decision",
  );
});

test("the reason of a decision is kept beside the request, and a denial may come as such", () => {
  const request: Part = {
    ...call("atServer"),
    state: "approval-requested",
    approval: { id: "request", requestReason: "a lot" },
  };
  const answer = { id: "request", approved: false, reason: "too much" } as const;
  const denied: Part = { ...call("atServer"), state: "output-denied", approval: answer };
  const kept: Part = {
    ...call("atServer"),
    state: "approval-responded",
    approval: { ...answer, requestReason: "a lot" },
  };
  expect(apply(message(request), message(denied))).toStrictEqual([kept]);
  const { reason: _, ...plain } = answer;
  const silent: Part = { ...call("atServer"), state: "approval-responded", approval: plain };
  expect(apply(message(asked("atServer")), message(silent))).toStrictEqual([silent]);
});

test("the rest of the kept message stays, also when more was sent with the decision", () => {
  const text: Part = { type: "text", text: "kept" };
  const kept = { ...message(text, waiting("atClient"), waiting("atServer")), metadata: { a: 1 } };
  const sent = message({ type: "text", text: "forged" }, output("atClient"), asked("atServer"));
  expect(applyToolDecisions(kept, sent, tools)).toStrictEqual({
    ...kept,
    parts: [text, output("atClient"), waiting("atServer")],
  });
});

test("a tool that was found at run time is known by its name", () => {
  const dynamic = (toolName: string) =>
    ({ type: "dynamic-tool", toolName, toolCallId: "d", input: {} }) as const;
  const open = (name: string): Part => ({ ...dynamic(name), state: "input-available" });
  const done = (name: string): Part => ({ ...dynamic(name), state: "output-available", output: "yes" });
  expect(apply(message(open("atClient")), message(done("atClient")))).toEqual([done("atClient")]);
  expect(() => apply(message(open("atServer")), message(done("atServer")))).toThrow(
    ConversationConflictError,
  );
});

test("an approval that is sent with another call does not count for this one", () => {
  const other: Part = {
    ...call("atServer", "another"),
    state: "approval-responded",
    approval: { id: "request", approved: true },
  };
  expect(() => apply(message(asked("atServer")), message(other))).toThrow(ConversationConflictError);
});

test("a person beside the chat decides about one call, with a reason and another input; the others wait", async () => {
  const kept = message(asked("atServer", "one"), asked("other", "two"));
  const decision = { approvalId: "one", approved: true, reason: "why not", input: { extra: 1 } };
  const { parts } = await applyDecision(kept, decision, tools);
  expect(parts).toEqual([
    // The input is that of the schema of the tool.
    { ...decided("atServer", "one"), approval: { id: "one", approved: true, reason: "why not" } },
    asked("other", "two"),
  ]);
  expect(waitingCalls({ ...kept, parts })).toEqual([asked("other", "two")]);
  const unknown = { approvalId: "two", approved: true, input: { of: "a tool that is gone" } };
  expect((await applyDecision(kept, unknown, tools)).parts[1]).toMatchObject({ input: unknown.input });
});

test("a call that the agent has signed cannot be edited, and one that does not wait cannot be decided", async () => {
  const signed: Part = {
    ...call("atServer"),
    state: "approval-requested",
    approval: { id: "one", signature: "s" },
  };
  const decide = (kept: UIMessage | undefined, input?: unknown) =>
    applyDecision(kept, { approvalId: "one", approved: true, input }, tools);
  await expect(decide(message(signed), {})).rejects.toThrow(InputValidationError);
  expect((await decide(message(signed))).parts).toHaveLength(1);
  await expect(decide(message(asked("atServer", "one")), "no object")).rejects.toThrow(InputValidationError);
  await expect(decide(message(decided("atServer", "one")))).rejects.toThrow("has already been decided");
  await expect(decide(message())).rejects.toThrow("does not wait for a decision any more");
  await expect(decide(undefined)).rejects.toThrow(ConversationConflictError);
});

test("a chat that contradicts an earlier decision is refused", () => {
  const kept = message(decided("atServer", "one", false), asked("other", "two"));
  const sent = (approved: boolean) => message(decided("atServer", "one", approved), decided("other", "two"));
  expect(() => apply(kept, sent(true))).toThrow(ConversationConflictError);
  expect(apply(kept, sent(false))).toEqual([decided("atServer", "one", false), decided("other", "two")]);
});
