// A complete reply as the message that a conversation keeps.
import { expect, test } from "vitest";
import { messageOfReply } from "./text-reply.ts";

type Steps = Parameters<typeof messageOfReply>[1]["steps"];
type Content = Steps[number]["content"];

const call = { type: "tool-call", toolCallId: "c", toolName: "ask", input: { q: 1 } } as const;

function partsOf(...content: Content) {
  const step = { content };
  return messageOfReply("m", { steps: [Object.assign(Object.create(null), step)] }).parts.slice(1);
}

test("a call that nobody has answered is kept as one that waits for its output", () => {
  expect(partsOf(call)).toEqual([
    { type: "tool-ask", toolCallId: "c", input: { q: 1 }, state: "input-available" },
  ]);
});

test("its result, its error and the question for an approval take the place of the call", () => {
  const after = { type: "text", text: "so" } as const;
  const kept = { type: "text", text: "so", state: "done" };
  const common = { type: "tool-ask", toolCallId: "c", input: { q: 1 } };
  expect(partsOf(call, after, { ...call, type: "tool-result", output: 2 })).toEqual([
    { ...common, state: "output-available", output: 2 },
    kept,
  ]);
  expect(partsOf(call, after, { ...call, type: "tool-error", error: new Error("secret") })).toMatchObject([
    { ...common, state: "output-error", errorText: expect.not.stringContaining("secret") },
    kept,
  ]);
  const request = { type: "tool-approval-request", approvalId: "a", toolCall: call } as const;
  expect(partsOf(call, after, request)).toEqual([
    { ...common, state: "approval-requested", approval: { id: "a" } },
    kept,
  ]);
});
