// Prices of models: which key a model has, the money for its tokens, and prices that are refused.
import { expect, test } from "vitest";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { checkPrices, PriceList, type Prices } from "./prices.ts";

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000, calls: 1 };
const day = "2026-11-18";

function priceWith(prices: Prices, model: string | null, used = usage) {
  const logger = new RecordingLogger();
  const { money, unpricedCalls } = new PriceList(prices, logger).priced(model, used, day);
  return { money, unpricedCalls, lines: logger.lines };
}

test("the key of a model is its provider up to the first dot and its id; the whole name comes first", () => {
  const prices = { "openai/gpt-5": { input: 1, output: 10 }, "openai.chat/gpt-5": { input: 2, output: 20 } };
  expect(priceWith(prices, "openai.responses/gpt-5")).toMatchObject({ money: 2 });
  expect(priceWith(prices, "openai.chat/gpt-5")).toMatchObject({ money: 4 });
  expect(priceWith(prices, "gateway/openai/gpt-5"), "of a gateway").toMatchObject({ money: 2 });
});

test("a model without a price, and a call without tokens, count without money", () => {
  const prices = { "openai/gpt-5": { input: 1, output: 10 } };
  const unknown = { money: undefined, unpricedCalls: 1 };
  expect(priceWith(prices, "openai/gpt-6")).toMatchObject(unknown);
  expect(priceWith(prices, "toString")).toMatchObject(unknown);
  expect(priceWith(prices, null)).toMatchObject(unknown);
  const silent = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 1 };
  expect(priceWith(prices, "openai/gpt-5", silent)).toMatchObject(unknown);
  expect(priceWith({ "a/b": { input: 0, output: 0 } }, "a/b")).toMatchObject({ money: 0 });
});

test("cached and written tokens have prices of their own, by default that of input", () => {
  const used = {
    ...usage,
    cachedInputTokens: 400_000,
    inputTokenDetails: { cacheReadTokens: 400_000, cacheWriteTokens: 100_000 },
  };
  const whole = { input: 10, cached: 1, cacheWrite: 20, output: 30 };
  expect(priceWith({ "a/b": whole }, "a/b", used)).toMatchObject({ money: 5 + 0.4 + 2 + 3 });
  expect(priceWith({ "a/b": { input: 10, output: 30 } }, "a/b", used)).toMatchObject({ money: 13 });
});

test("a function has the model and the day, and may know no price", () => {
  const asked: string[][] = [];
  const prices: Prices = (model, at) => {
    asked.push([model, at]);
    return model === "a/b" ? { input: 1, output: 1 } : null;
  };
  expect(priceWith(prices, "a.x/b")).toMatchObject({ money: 1.1 });
  expect(asked).toEqual([
    ["a.x/b", day],
    ["a/b", day],
  ]);
  expect(priceWith(prices, "c/d")).toMatchObject({ money: undefined, unpricedCalls: 1, lines: [] });
});

test("a function that fails leaves the money unknown, with one line for each model", () => {
  const logger = new RecordingLogger();
  const list = new PriceList((model) => {
    if (model === "a/b") throw new Error("no table");
    return { input: -1, output: 1 };
  }, logger);
  for (const model of ["a/b", "a/b", "c/d"])
    expect(list.priced(model, usage, day)).toMatchObject({ unpricedCalls: 1 });
  expect(logger.lines.map(({ level, model }) => [level, model])).toEqual([
    ["warn", "a/b"],
    ["warn", "c/d"],
  ]);
});

test.each([
  [{ "a/b": { input: -1, output: 1 } }, /prices\["a\/b"\].*input must be a finite number of 0 or more/],
  [{ "a/b": { input: 1, output: Number.POSITIVE_INFINITY } }, /output must be a finite number/],
  [{ "a/b": { input: 1, cached: Number.NaN, output: 1 } }, /cached must be a finite number/],
  [{ "a/b": { input: 1 } }, /output must be a finite number/],
  [{ "a/b": { input: 1, output: 1, reasoning: 2 } }, /no price for "reasoning"/],
  [{ "a/b": 3 }, /expected an object with input and output/],
  [[], /expected an object by model, or a function/],
])("prices that could never be used are refused: %j", (prices, problem) => {
  expect(() => checkPrices(Object(prices))).toThrow(problem);
});

test("prices that can be used are accepted", () => {
  for (const prices of [undefined, {}, () => null, { "a/b": { input: 0, output: 0.5 } }])
    expect(() => checkPrices(prices)).not.toThrow();
});
