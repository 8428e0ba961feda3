// The usage of the calls of one operation.
import { expect, test, vi } from "vitest";
import { FileBudget } from "./file-budget.ts";
import { countedTokens, Operation, oneCall, operationContext } from "./operation.ts";

const used = (inputTokens: number | undefined, outputTokens: number | undefined, totalTokens?: number) => ({
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
});

test("usage is summed over calls; where a provider reports no total it is the sum of both", () => {
  const operation = Operation.from(undefined, undefined);
  operation.add(oneCall(countedTokens(used(10, 5))));
  expect(operation.usage).toEqual({ inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 });
  operation.add(oneCall(countedTokens(used(1, 2, 30))));
  operation.add(oneCall(countedTokens(used(undefined, undefined))));
  expect(operation.usage).toEqual({ inputTokens: 11, outputTokens: 7, totalTokens: 45, calls: 3 });
});

test("cached and reasoning tokens are counted where they are reported", () => {
  const usage = { ...used(10, 5), inputTokenDetails: Object({ cacheReadTokens: 4 }) };
  expect(countedTokens(usage)).toEqual({
    ...{ inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4 },
    inputTokenDetails: { cacheReadTokens: 4 },
  });
  const foreign = Object({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
  expect(countedTokens(foreign)).toEqual({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
  expect(oneCall({ inputTokens: 1, outputTokens: 2, reasoningTokens: 1 })).toEqual({
    ...{ inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1, reasoningTokens: 1 },
    outputTokenDetails: { reasoningTokens: 1 },
  });
});

test("an operation inside another writes to the same reply, with the same budget of files", () => {
  const files = new FileBudget();
  const outer = new Operation(Operation.from(undefined, undefined));
  expect(outer.files).not.toBe(files);
  const plain = { ...outer, write: undefined };
  expect(new Operation(Object(plain), { files }).files).toBe(files);
  const inner = new Operation(outer, { files });
  expect([inner.files, inner.writer]).toEqual([outer.files, outer.writer]);
  expect(inner.files).toBe(outer.files);
  const read = vi.fn();
  outer.writer.readBy(read);
  inner.write({ type: "data-a", data: 1 });
  expect(read.mock.calls).toEqual([[{ type: "data-a", data: 1 }]]);
});

test("a context that is an operation stays; others, and unknown callers, get one", () => {
  const operation = Operation.from(undefined, undefined);
  expect(Operation.from(operation, AbortSignal.abort())).toBe(operation);
  const { signal } = new AbortController();
  const unknown = Operation.from(undefined, signal);
  expect(unknown).toMatchObject({ userId: undefined, conversationId: undefined, context: new Map() });
  expect([unknown.signal, operation.signal.aborted, operation.isRefused]).toEqual([signal, false, false]);
  const context = { ...operation, userId: "ada", conversationId: "c" };
  expect(Operation.from(context, undefined)).toMatchObject({ userId: "ada", conversationId: "c" });
});

test("usage that is not recorded is that of its loop and of its tools, each tool once", () => {
  const call = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  const operation = Operation.from(undefined, undefined);
  expect(operation.unrecorded).toBeUndefined();
  const tool = Object({ unrecorded: call });
  operation.usedBy(tool);
  operation.usedBy(tool);
  operation.usedBy(Object({ unrecorded: undefined }));
  expect(operation.unrecorded).toEqual(call);
  const loop = Object({ recorder: { unrecorded: call } });
  const recorded = new Operation(operation, { loop });
  expect(recorded.unrecorded).toEqual(call);
  recorded.usedBy(tool);
  expect(recorded.unrecorded).toEqual({ inputTokens: 2, outputTokens: 4, totalTokens: 6, calls: 2 });
});

test("the schema of a tool's context accepts an operation", async () => {
  const operation = Operation.from(undefined, undefined);
  expect(await operationContext["~standard"].validate(operation)).toEqual({ value: operation });
});
