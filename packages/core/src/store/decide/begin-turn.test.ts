// Whether a turn may begin: repeated, of another user's conversation, beside a live turn, or the first.
import { expect, test } from "vitest";
import type { NewTurn } from "../store.ts";
import { beforeTurn, type TurnFacts } from "./begin-turn.ts";

const turn = { userId: "ada", claim: { owner: "here", token: "mine" } } as NewTurn;

test.each<[string, TurnFacts, unknown]>([
  ["the first of a new conversation", { token: undefined, owner: undefined, live: undefined }, undefined],
  ["one of the user's own conversation", { token: undefined, owner: "ada", live: undefined }, undefined],
  [
    "the same again",
    { token: "mine", owner: "ada", live: { executionId: "e1", status: "running" } },
    "repeated",
  ],
  ["one whose id another turn has", { token: "theirs", owner: "ada", live: undefined }, undefined],
  [
    "one of another user",
    { token: undefined, owner: "bob", live: { executionId: "e1", status: "running" } },
    { kind: "foreign" },
  ],
  [
    "one of a conversation without a user",
    { token: null, owner: null, live: undefined },
    { kind: "foreign" },
  ],
  [
    "one beside a turn whose reply waits for a person",
    { token: null, owner: "ada", live: { executionId: "e1", status: "suspended" } },
    undefined,
  ],
  [
    "one beside a live turn",
    { token: null, owner: "ada", live: { executionId: "e1", status: "running" } },
    { kind: "busy", executionId: "e1" },
  ],
])("%s", (_, facts, expected) => {
  expect(beforeTurn(turn, facts)).toEqual(expected);
});
