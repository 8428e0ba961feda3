// The callers of a tool, from the tags of executions, and the messages of the protocol.
import { expect, test } from "vitest";
import { callersOf } from "./callers.ts";

const at = (minute: number) => `2026-11-18T09:0${minute}:00.000Z`;

test("calls of the same user and client are one row, the most recent first; other executions are not counted", () => {
  const callers = callersOf([
    { executionId: "d", startAt: at(4), userId: "ada", tags: ["nightly", "mcp:cursor"] },
    { executionId: "c", startAt: at(3), userId: "ada" },
    { executionId: "b", startAt: at(2), userId: null, tags: ["mcp:claude-code"] },
    { executionId: "a", startAt: at(1), userId: "ada", tags: ["mcp:cursor"] },
  ]);
  expect(callers).toEqual([
    { userId: "ada", client: "cursor", tag: "mcp:cursor", calls: 2, lastAt: at(4), lastId: "d" },
    { userId: null, client: "claude-code", tag: "mcp:claude-code", calls: 1, lastAt: at(2), lastId: "b" },
  ]);
});
