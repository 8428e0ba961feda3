// A start: the row that it creates, the calls around it, and the existing executions that it may return.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import type { ExecutionRow, NewExecution, Store } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import { contextText, createExecution, findExisting, prepareStart } from "./start.ts";

const nap = createWorkflow({
  id: "nap",
  input: z.object({ a: z.number().default(1) }),
  timeout: 500,
  tags: ["own"],
}).andThen({ id: "one", execute: () => new Promise(() => undefined) });

/** An engine whose store notes what is created. */
function engineOn(create: () => Promise<{ created: boolean }> = async () => ({ created: true })) {
  const created: NewExecution[] = [];
  const operations: Partial<Store> = {
    create: (execution) => {
      created.push(execution);
      return create();
    },
    release: async () => undefined,
    state: async () => ({ execution: rowForTest(), suspensions: [], timers: [], usage: null }),
  };
  return { ...engineForTest(operations, { workflows: [nap] }), created };
}

test("the row of a start has everything that the caller gave, and its first events", async () => {
  const { engine, created, scheduled } = engineOn();
  const published = vi.spyOn(engine, "publish");
  const options = {
    ...{ executionId: "e7", userId: "ada", conversationId: "c1", context: { plan: "pro" }, tags: ["given"] },
  };
  const start = await prepareStart(engine, "nap", {}, options);
  expect(start.executionId).toBe("e7");
  expect(await start.create()).toEqual({ executionId: "e7", startAt: 1000, created: true, settled: false });
  expect(created).toEqual([
    {
      ...{ executionId: "e7", workflowId: "nap", input: "{}", userId: "ada", conversationId: "c1" },
      ...{ context: '{"plan":"pro","userId":"ada","conversationId":"c1"}', startAt: 1000, timeoutAt: 1500 },
      claim: { owner: engine.claims.owner, token: expect.any(String) },
      events: [
        expect.objectContaining({ type: "workflow-start", timestamp: 1000, value: '{"a":1}' }),
        expect.objectContaining({ type: "step-start", path: "one", timestamp: 1000 }),
      ],
      ...{ tags: ["own", "given"], definition: fingerprintOf(nap).definition, trace: null },
    },
  ]);
  const [row, events] = published.mock.calls[0] ?? [];
  expect(row).toMatchObject({ executionId: "e7", workflowId: "nap", input: "{}" });
  expect(events?.map(({ sequence, type }) => `${sequence} ${type}`)).toEqual([
    ...["1 workflow-start", "2 step-start"],
  ]);
  expect(scheduled).toEqual(["limit at 1500"]);
  await expect.poll(() => engine.isRunning("nap")).toBe(true);
});

test("an input that the schema does not change is kept once", async () => {
  const { engine, created } = engineOn();
  await (await prepareStart(engine, "nap", { a: 2 }, {})).create();
  expect(created).toMatchObject([
    {
      ...{ input: '{"a":2}', context: "{}", userId: null, conversationId: null, tags: ["own"] },
      events: [{ type: "workflow-start", value: null }, {}],
    },
  ]);
});

test("a start that the store refuses, or has already, leaves nothing here", async () => {
  const known = engineOn(async () => ({ created: false }));
  const run = { workflow: nap, row: rowForTest(), parsed: "1", tags: [] };
  expect(await createExecution(known.engine, run)).toEqual({
    ...{ executionId: "e1", startAt: 1, created: false, settled: false },
  });
  const failing = engineOn(() => Promise.reject(new StoreUnavailableError({ cause: new Error("full") })));
  await expect(createExecution(failing.engine, run)).rejects.toThrow(StoreUnavailableError);
  expect(failing.logger.messages).toEqual([
    "the storage is in trouble: runs wait and starts are refused until it is over",
  ]);
  for (const { engine, scheduled } of [known, failing]) {
    expect([engine.room, engine.isBusy, engine.isStarting("e1")]).toEqual([10, false, false]);
    expect(scheduled).not.toContain("limit at 1500");
  }
});

const replayOf = { executionId: "e0", stepId: "one" };

test.each<[string, Partial<ExecutionRow>, object, boolean]>([
  ["the same", {}, {}, true],
  ["the same with other spaces and order", { input: '{"b": 1, "a": 2}' }, { input: '{"a":2,"b":1}' }, true],
  ["the same replay", { replayOf }, { of: replayOf }, true],
  ["another workflow", { workflowId: "other" }, {}, false],
  ["another user", { userId: "bob" }, {}, false],
  ["another input", { input: "2" }, {}, false],
  ["no input", { input: null }, {}, false],
  [
    "a replay of another execution",
    { replayOf: { ...replayOf, executionId: "e9" } },
    { of: replayOf },
    false,
  ],
  ["a replay from another step", { replayOf: { ...replayOf, stepId: "two" } }, { of: replayOf }, false],
  ["a replay, where a start was asked for", { replayOf }, {}, false],
  ["a start, where a replay was asked for", {}, { of: replayOf }, false],
  ["the same, where a new one was asked for", {}, { exclusive: true }, false],
])("an existing execution of this id that is %s", async (_, fields, asked, isSame) => {
  const { of, exclusive, input = "1" }: { of?: typeof replayOf; exclusive?: boolean; input?: string } = asked;
  const execution = rowForTest({ ...fields, status: "completed" });
  const store = {
    ...engineOn().engine.store,
    state: async () => ({ execution, suspensions: [], timers: [], usage: null }),
  };
  const found = findExisting(store, { row: rowForTest({ input }), exclusive, replay: of && { of } });
  if (isSame) expect(await found).toEqual({ executionId: "e1", startAt: 1, created: false, settled: true });
  else await expect(found).rejects.toMatchObject({ status: 409, executionId: "e1" });
});

test("an existing execution that is parked cannot be waited for; one that is gone is a conflict", async () => {
  const { store } = engineOn().engine;
  const stateOf = (fields: Partial<ExecutionRow>): Store["state"] => {
    const execution = rowForTest(fields);
    return async () => ({ execution, suspensions: [], timers: [], usage: null });
  };
  const row = rowForTest();
  const parked = findExisting({ ...store, state: stateOf({ parked: "changed" }) }, { row });
  await expect(parked).rejects.toThrow("changed");
  const ended = findExisting({ ...store, state: stateOf({ parked: "changed", status: "error" }) }, { row });
  expect(await ended).toMatchObject({ settled: true });
  const gone = findExisting({ ...store, state: async () => undefined }, { row });
  await expect(gone).rejects.toMatchObject({ status: 409 });
});

test("a context has the user and the conversation, which win over its own", () => {
  expect(contextText({})).toBe("{}");
  expect(contextText({ context: { a: 1, userId: "eve" }, userId: "ada" })).toBe('{"a":1,"userId":"ada"}');
  expect(contextText({ conversationId: "c1" })).toBe('{"conversationId":"c1"}');
  expect(() => contextText({ context: { big: 1n } })).toThrow(/context/);
});

test("options, inputs and contexts that cannot be kept are refused with the reason", async () => {
  const { engine, created } = engineOn();
  const refusal = (input: unknown, options: object = {}) =>
    prepareStart(engine, "nap", input, options).then(() => "started", String);
  const option = (name: string, problem: string) => `InvalidOptionError: Invalid option ${name}: ${problem}`;
  expect(await refusal({})).toBe("started");
  expect(await refusal({ a: "1" })).toMatch(/^InputValidationError: .*number/s);
  expect(await refusal({ a: 1n })).toMatch(/^InputValidationError: .*input at a cannot be kept as JSON/s);
  expect(await refusal({ a: 1, more: "x".repeat(4 * 1024 * 1024) })).toMatch(/^TooLargeError: Input is/);
  expect(await refusal({}, { context: "x" })).toBe(option("context", "expected an object"));
  expect(await refusal({}, { context: null })).toBe(option("context", "expected an object"));
  expect(await refusal({}, { context: [] })).toBe(option("context", "expected an object"));
  expect(await refusal({}, { context: { a: 1n } })).toMatch(/^InvalidOptionError: Invalid option context: /);
  expect(await refusal({}, { context: { a: Array(600_000).fill(1) } })).toBe(
    "TooLargeError: Context is more than 1048576 bytes; the limit is 1048576 (limits.context)",
  );
  expect(await refusal({}, { context: { a: "x".repeat(1024 * 1024) } })).toMatch(
    /^TooLargeError: Context is/,
  );
  for (const name of ["executionId", "userId", "conversationId"])
    expect(await refusal({}, { [name]: "" })).toContain(`Invalid option ${name}:`);
  expect(await refusal({}, { executionId: ".." })).toBe(option("executionId", "cannot be used in a URL"));
  expect(await refusal({}, { tags: "red" })).toBe(option("tags", "expected an array of strings"));
  const twenty = Array.from({ length: 20 }, (_, index) => `tag-${index}`);
  expect(await refusal({}, { tags: twenty })).toBe(
    option("tags", "at most 20 tags are allowed, including the workflow's own"),
  );
  expect(await refusal({}, { tags: [...twenty.slice(1), "own"] })).toBe("started");
  expect(created).toEqual([]);
});

test("an input may be checked asynchronously, and grows no larger than the limit by its schema", async () => {
  const slow = createWorkflow({
    id: "slow",
    input: z.string().transform(async (value) => value.repeat(3 * 1024 * 1024)),
  }).andThen({ id: "one", execute: () => 1 });
  const { engine } = engineForTest({}, { workflows: [slow] });
  await expect(prepareStart(engine, "slow", "xx", {})).rejects.toThrow("Input is 6291458 bytes");
  expect((await prepareStart(engine, "slow", "x", {})).executionId).toEqual(expect.any(String));
});

test("the trace of the caller is kept with the first event, if it is one", async () => {
  const detailOf = async (traceparent: string) => {
    const { engine, created } = engineOn();
    await (await prepareStart(engine, "nap", {}, { traceparent })).create();
    return created[0]?.events[0]?.detail;
  };
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  expect(JSON.parse((await detailOf(traceparent)) ?? "{}")).toEqual({ traceparent });
  expect(await detailOf("mine")).toBeNull();
});

test("a workflow without a timeout has none, and needs no wake-up", async () => {
  const plain = createWorkflow({ id: "plain", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });
  const created: NewExecution[] = [];
  const { engine, scheduled } = engineForTest(
    {
      create: async (execution) => {
        created.push(execution);
        return { created: true };
      },
      commit: () => new Promise(() => undefined),
    },
    { workflows: [plain] },
  );
  await (await prepareStart(engine, "plain", undefined, {})).create();
  expect(created).toMatchObject([{ timeoutAt: null, input: null, tags: [] }]);
  expect([Object.keys(created[0] ?? {}).includes("replay"), scheduled]).toEqual([false, []]);
});
