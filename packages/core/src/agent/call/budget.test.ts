// The budget of an agent: its valid forms, and when it is used up.
import { expect, test } from "vitest";
import { budgetError, checkBudget } from "./budget.ts";

const used = { inputTokens: 6, outputTokens: 4, totalTokens: 10, calls: 2 };

test.each([
  [undefined, undefined],
  [{}, undefined],
  [{ tokens: 11, calls: 3 }, undefined],
  [{ tokens: 10 }, /10 tokens/],
  [{ calls: 2 }, /2 model calls/],
  [{ tokens: 9, calls: 1 }, /9 tokens/],
])("of %j ten tokens and two calls use up %s", (limits, expected) => {
  const message = budgetError(limits, used)?.message;
  if (expected === undefined) expect(message).toBeUndefined();
  else expect(message).toMatch(expected);
});

test("a budget is whole numbers from one on, for a reply and for a conversation", () => {
  const check = (budget: Parameters<typeof checkBudget>[0]) => () => checkBudget(budget, 'Agent "a"');
  for (const budget of [undefined, {}, { tokens: 1, calls: 1 }, { conversation: { tokens: 1 } }])
    expect(check(budget)).not.toThrow();
  for (const wrong of [0, 1.5, -1, Number.NaN]) {
    const problem = 'Agent "a": a budget must be a whole number of 1 or more';
    for (const budget of [{ tokens: wrong }, { calls: wrong }, { conversation: { calls: wrong } }])
      expect(check(budget)).toThrow(problem);
  }
  const unknown = 'Agent "a", budget: unknown option "token"; did you mean "tokens"?';
  expect(check(Object({ token: 1 }))).toThrow(unknown);
  const inside = 'Agent "a", budget.conversation: unknown option "call"; did you mean "calls"?';
  expect(check({ conversation: Object({ call: 1 }) })).toThrow(inside);
});
