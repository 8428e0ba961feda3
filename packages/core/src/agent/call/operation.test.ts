// The usage of the calls of one operation.
import { expect, test } from "vitest";
import { Operation } from "./operation.ts";

const used = (inputTokens: number | undefined, outputTokens: number | undefined, totalTokens?: number) => ({
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
});

test("usage is summed over calls; where a provider reports no total it is the sum of both", () => {
  const operation = Operation.from(undefined, undefined);
  operation.count(used(10, 5));
  expect(operation.usage).toEqual({ inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 });
  operation.count(used(1, 2, 30));
  operation.count(used(undefined, undefined));
  expect(operation.usage).toEqual({ inputTokens: 11, outputTokens: 7, totalTokens: 45, calls: 3 });
});
