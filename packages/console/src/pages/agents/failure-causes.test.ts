// The causes of failures in log lines.
import { expect, test } from "vitest";
import { causesIn } from "./failure-causes.ts";

const line = (fields: object) => ({
  timestamp: "2026-01-01T00:00:00Z",
  level: "error" as const,
  msg: "failed",
  ...fields,
});

test("the innermost cause of the newest failed reply, and the error of each tool call", () => {
  const { reply, tools } = causesIn([
    line({ err: { message: "The model provider failed to answer", cause: { message: "old" } } }),
    line({ err: { message: "The model provider failed to answer", cause: { message: "wrong API key" } } }),
    line({ toolName: "pay", toolCallId: "call-1", err: { message: "card declined" } }),
    line({ toolName: "pay", err: { message: "without an id" } }),
    line({ msg: "without an error" }),
  ]);
  expect(reply).toBe("wrong API key");
  expect([...tools]).toEqual([["call-1", "card declined"]]);
});
