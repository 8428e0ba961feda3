// Usage is added up and taken apart field by field; details that are nothing are absent.
import { expect, test } from "vitest";
import { Fields } from "../values/fields.ts";
import {
  nothingUsed,
  readUsageFields,
  sumUsage,
  unpricedOf,
  usageDetails,
  usageSince,
  wholeTokens,
} from "./usage.ts";

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
  const cached = { ...one, ...usageDetails(2, 0) };
  const thought = { ...other, ...usageDetails(0, 3) };
  const both = { ...sum, ...usageDetails(2, 3) };
  expect(sumUsage(cached, thought)).toStrictEqual(both);
  expect(sumUsage(thought, cached)).toStrictEqual(both);
  expect(usageSince(both, cached)).toStrictEqual(thought);
  expect(usageSince(both, thought)).toStrictEqual(cached);
  expect(usageDetails()).toStrictEqual({});
  const cachedOnly = { cachedInputTokens: 1, inputTokenDetails: { cacheReadTokens: 1 } };
  expect(usageDetails(1, 0)).toStrictEqual(cachedOnly);
  const reasoned = { reasoningTokens: 1, outputTokenDetails: { reasoningTokens: 1 } };
  expect(usageDetails(0, 1.4)).toStrictEqual(reasoned);
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

test("money adds up in billionths, and calls from before the host had prices stay without", () => {
  const tenth = { ...one, money: 0.1 };
  const fifth = { ...other, money: 0.2, unpricedCalls: 3 };
  expect(sumUsage(tenth, fifth)).toStrictEqual({ ...sum, money: 0.3, unpricedCalls: 3 });
  expect(usageSince(sumUsage(tenth, fifth), fifth)).toStrictEqual(tenth);
  expect(sumUsage(one, fifth)).toStrictEqual({ ...sum, money: 0.2, unpricedCalls: 4003 });
  expect(sumUsage(nothingUsed, tenth)).toStrictEqual(tenth);
  const unknown = { ...one, unpricedCalls: 4000 };
  expect(sumUsage(unknown, unknown)).toMatchObject({ unpricedCalls: 8000 });
  expect([one, tenth, fifth, nothingUsed].map(unpricedOf)).toEqual([4000, 0, 3, 0]);
});

test("a kept usage is read as it was written", () => {
  const whole = { ...one, ...usageDetails(2, 3, 4), money: 0.25, unpricedCalls: 1 };
  const fields = new Fields(JSON.parse(JSON.stringify(whole)), (problem) => new Error(problem));
  expect(readUsageFields(fields)).toStrictEqual(whole);
  expect(sumUsage(whole, whole).inputTokenDetails).toEqual({ cacheReadTokens: 4, cacheWriteTokens: 8 });
});
