// What a store kept of a turn is what a turn is begun with, or it is not continued.
import { expect, test } from "vitest";
import { readTurnInput } from "./kept-turn.ts";

test("what a turn was begun with is read", () => {
  const input = { agentId: "a", messageId: "m" };
  expect(readTurnInput(input)).toBe(input);
});

test.each([null, undefined, "text", 5, {}, { agentId: "a" }, { messageId: "m" }])(
  "%j is not what a turn is begun with",
  (stored) => {
    expect(() => readTurnInput(stored)).toThrow("the input of a turn is not what a turn is begun with");
  },
);
