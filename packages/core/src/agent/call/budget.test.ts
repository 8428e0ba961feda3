// The budget of an agent: its valid forms, and when it is used up.
import { expect, test } from "vitest";
import { loopOver } from "../../../test/support/loop-for-test.ts";
import { BudgetReachedError } from "../../errors/index.ts";
import { budgetConditions, budgetError, checkBudget } from "./budget.ts";
import { Operation, oneCall } from "./operation.ts";

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

test("the loop ends after the step that uses the budget up, or that a reason outside the agent ends", async () => {
  const operation = Operation.from(undefined, undefined);
  const stops = async (...given: Parameters<typeof budgetConditions>) =>
    Promise.all(budgetConditions(...given).map((condition) => condition({ steps: [] })));
  expect(await stops(undefined, operation)).toEqual([]);
  expect(await stops({ calls: 1 }, operation)).toEqual([false]);
  operation.add(oneCall({ totalTokens: 5 }));
  expect(await stops({ calls: 1 }, operation)).toEqual([true]);
  const gate = { pass: async () => undefined, mustStop: async () => true };
  const { loop } = loopOver({}, { gate });
  const gated = () => new Operation(operation, { loop });
  expect(await stops({ calls: 2 }, gated())).toEqual([false, true]);
  expect(await stops(undefined, gated())).toEqual([true]);
});

test("the error names the limit, and the execution where the budget is its own", () => {
  const texts = [budgetError({ tokens: 10 }, used), budgetError({ calls: 1 }, used, "execution")];
  expect(texts).toEqual([
    new BudgetReachedError({ unit: "tokens", limit: 10 }),
    new BudgetReachedError({ unit: "model calls", limit: 1, whose: "execution" }),
  ]);
});
