// Whether a turn may begin: repeated, of another user's conversation, beside a live turn, or the first.
import { expect, test } from "vitest";
import type { NewTurn, TurnMessage } from "../store.ts";
import { beforeTurn, type TurnFacts } from "./begin-turn.ts";

const turn = { userId: "ada", claim: { owner: "here", token: "mine" } } as NewTurn;
const posted = { kind: "post", messageId: "u1", body: "", title: null, again: false, at: 1 } as const;

test.each<[string, TurnFacts, unknown]>([
  [
    "the first of a new conversation",
    { token: undefined, owner: undefined, live: undefined, isBehind: false },
    undefined,
  ],
  [
    "one of the user's own conversation",
    { token: undefined, owner: "ada", live: undefined, isBehind: false },
    undefined,
  ],
  [
    "the same again",
    { token: "mine", owner: "ada", live: { executionId: "e1", status: "running" }, isBehind: false },
    "repeated",
  ],
  [
    "one whose id another turn has",
    { token: "theirs", owner: "ada", live: undefined, isBehind: false },
    undefined,
  ],
  [
    "one of another user",
    { token: undefined, owner: "bob", live: { executionId: "e1", status: "running" }, isBehind: false },
    { kind: "foreign" },
  ],
  [
    "one of a conversation without a user",
    { token: null, owner: null, live: undefined, isBehind: false },
    { kind: "foreign" },
  ],
  [
    "one beside a turn whose reply waits for a person",
    { token: null, owner: "ada", live: { executionId: "e1", status: "suspended" }, isBehind: false },
    undefined,
  ],
  [
    "one beside a live turn",
    { token: null, owner: "ada", live: { executionId: "e1", status: "running" }, isBehind: false },
    { kind: "busy", executionId: "e1" },
  ],
  [
    "one behind a queued message",
    { token: undefined, owner: "ada", live: undefined, isBehind: true },
    { kind: "behind" },
  ],
])("%s", (_, facts, expected) => {
  expect(beforeTurn(turn, posted, facts)).toEqual(expected);
});

test("a decision and another reply do not wait for queued messages", () => {
  const facts = { token: undefined, owner: "ada", live: undefined, isBehind: true };
  const decided: TurnMessage = { kind: "replace", messageId: "a1", previous: "", body: "", at: 1 };
  expect(beforeTurn(turn, decided, facts)).toBeUndefined();
  expect(beforeTurn(turn, { ...posted, again: true }, facts)).toBeUndefined();
});
