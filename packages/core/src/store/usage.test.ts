// Usage is added up and taken apart field by field; details that are nothing are absent.
import { expect, test } from "vitest";
import { nothingUsed, sumUsage, usageDetails, usageSince, wholeTokens } from "./usage.ts";

const one = { inputTokens: 1, outputTokens: 20, totalTokens: 300, calls: 4000 };
const other = { inputTokens: 5, outputTokens: 60, totalTokens: 700, calls: 8000 };
const sum = { inputTokens: 6, outputTokens: 80, totalTokens: 1000, calls: 12_000 };

test("a sum has both, and the difference of two sums is the other one", () => {
  expect(sumUsage(one, other)).toStrictEqual(sum);
  expect(sumUsage(null, other)).toBe(other);
  expect(sumUsage(nothingUsed, one)).toStrictEqual(one);
  expect(usageSince(sum, one)).toStrictEqual(other);
});

test("details count where one of both has them", () => {
  const cached = { ...one, cachedInputTokens: 2 };
  const thought = { ...other, reasoningTokens: 3 };
  const both = { ...sum, cachedInputTokens: 2, reasoningTokens: 3 };
  expect(sumUsage(cached, thought)).toStrictEqual(both);
  expect(sumUsage(thought, cached)).toStrictEqual(both);
  expect(usageSince(both, cached)).toStrictEqual(thought);
  expect(usageSince(both, thought)).toStrictEqual(cached);
  expect(usageDetails()).toStrictEqual({});
  expect(usageDetails(1, 0)).toStrictEqual({ cachedInputTokens: 1 });
  expect(usageDetails(0, 1.4)).toStrictEqual({ reasoningTokens: 1 });
});

test("tokens are whole numbers from 0, and the total is the sum unless the provider reports it", () => {
  const whole = (inputTokens: number, outputTokens: number, totalTokens: number) =>
    expect.objectContaining({ inputTokens, outputTokens, totalTokens });
  expect(wholeTokens({})).toEqual(whole(0, 0, 0));
  expect(wholeTokens({ inputTokens: 1.6, outputTokens: 2.4 })).toEqual(whole(2, 2, 4));
  expect(wholeTokens({ inputTokens: -1, outputTokens: Number.NaN, totalTokens: 7.2 })).toEqual(
    whole(0, 0, 7),
  );
});
