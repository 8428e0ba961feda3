// Pauses, cancels, lists and handles: the calls of the store, the refusals, and the views that callers receive.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { encodeEvent } from "../../journal/codec.ts";
import { writeCursor } from "../../store/cursor.ts";
import type { Cancel, ExecutionRow, ListedExecution, Pause, Store, Suspension } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { sizeLimits } from "../limits/limits.ts";
import type { Settlement } from "../run/settlement.ts";
import { cancelExecution } from "./cancel.ts";
import { beginExecution } from "./execution-handle.ts";
import { listExecutions } from "./list.ts";
import { countWaiting, listWaiting } from "./list-waiting.ts";
import { checkReason, pauseExecution } from "./pause.ts";
import type { Started } from "./start.ts";

const flow = createWorkflow({ id: "nap", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });
const asking = createWorkflow({ id: "ask", input: z.unknown() }).andAgent({
  ...{ id: "one", prompt: "p", agent: { generate: async () => ({ text: "" }) } },
});
const iso = "1970-01-01T00:00:00.001Z";
const suspension: Suspension = {
  ...{ suspensionId: "s1", path: "one", stepIndex: 0, reason: "why", data: null, suspendedAt: 1 },
  ...{ deadline: null, onDeadline: null, resumeSchema: null },
};
const view = {
  ...{ suspensionId: "s1", suspendedAt: iso, reason: "why", suspendedStepIndex: 0, stepIndex: 0 },
  ...{ stepId: "one", stepPath: "one" },
};

function engineWith(operations: Partial<Store> = {}) {
  return engineForTest(operations, { workflows: [flow, asking] });
}

describe("a pause", () => {
  test("is written, published, and ends the wait of callers", async () => {
    const pauses: Pause[] = [];
    const { engine } = engineWith({
      pause: async (given) => {
        pauses.push(given);
        const event = { ...given.event, stepIndex: 2, sequence: 4 };
        return {
          kind: "paused",
          event,
          suspension: { ...given.suspension, stepIndex: 2, resumeSchema: null },
        };
      },
    });
    const published = vi.spyOn(engine, "publish");
    const wait = engine.waiters.wait("e1");
    const result = await pauseExecution(engine, rowForTest({ stepIndex: 2 }), { userId: "ada" });
    const { suspensionId } = result.suspension;
    expect(result).toEqual({
      ...{ executionId: "e1", status: "suspended" },
      suspension: {
        ...{ suspensionId, suspendedAt: "1970-01-01T00:00:01.000Z", reason: "Suspended by request" },
        ...{ suspendedStepIndex: 2, stepIndex: 2, stepId: "" },
      },
    });
    expect(pauses).toMatchObject([
      {
        executionId: "e1",
        suspension: {
          ...{ suspensionId, path: null, reason: "Suspended by request", data: null, suspendedAt: 1000 },
          ...{ deadline: null, onDeadline: null },
        },
        event: { type: "workflow-suspended", path: null, stepIndex: 2, timestamp: 1000 },
      },
    ]);
    expect(published.mock.calls).toMatchObject([
      [
        { executionId: "e1" },
        [{ type: "workflow-suspended", sequence: 4, reason: "Suspended by request", userId: "ada" }],
      ],
    ]);
    expect(await wait.settled).toMatchObject({ kind: "suspended", suspension: { suspensionId } });
    const named = await pauseExecution(engine, rowForTest(), { reason: "lunch" });
    expect(named.suspension.reason).toBe("lunch");
  });

  test("of an execution that does not run is refused", async () => {
    const { engine } = engineWith({ pause: async () => ({ kind: "refused", status: "completed" }) });
    const published = vi.spyOn(engine, "publish");
    await expect(pauseExecution(engine, rowForTest(), {})).rejects.toThrow(
      "Execution e1 cannot be suspended: it is already",
    );
    expect(published).not.toHaveBeenCalled();
  });

  test("needs a reason that is a short text, and an id of a user", () => {
    const limits = sizeLimits({ reason: 5 });
    expect(() => checkReason({}, limits)).not.toThrow();
    expect(() => checkReason({ reason: "lunch", userId: "ada" }, limits)).not.toThrow();
    expect(() => checkReason({ reason: "dinner" }, limits)).toThrow("Reason is 6 bytes; the limit is 5");
    expect(() => checkReason({ reason: 5 as never }, limits)).toThrow(
      "Invalid option reason: expected a string",
    );
    expect(() => checkReason({ userId: "" }, limits)).toThrow("Invalid option userId");
  });
});

describe("a cancel", () => {
  test("is written and published, and stops the execution here", async () => {
    const cancels: Cancel[] = [];
    const { engine } = engineWith({
      cancel: async (given) => {
        cancels.push(given);
        return { kind: "cancelled", event: { ...given.event, sequence: 4 } };
      },
    });
    const published = vi.spyOn(engine, "publish");
    const wait = engine.waiters.wait("e1");
    await cancelExecution(engine, rowForTest({ stepIndex: 2 }), { reason: "enough", userId: "ada" });
    const event = {
      ...({ type: "workflow-cancelled", timestamp: 1000, reason: "enough", userId: "ada" } as const),
      suspensionId: undefined,
    };
    expect(cancels).toEqual([
      {
        ...{ executionId: "e1", key: expect.any(String), event: encodeEvent(event) },
        ...{ status: "cancelled", error: null, due: null },
      },
    ]);
    expect(published.mock.calls).toMatchObject([[{ executionId: "e1" }, [{ ...event, sequence: 4 }], 2]]);
    expect(await wait.settled).toEqual({ kind: "elsewhere" });
  });

  test("of an execution that has ended is refused", async () => {
    const { engine } = engineWith({ cancel: async () => ({ kind: "refused", status: "error" }) });
    await expect(cancelExecution(engine, rowForTest(), {})).rejects.toThrow(
      "Execution e1 cannot be cancelled: it is already",
    );
  });
});

describe("a list", () => {
  const listed = (executionId: string, error: string | null = null): ListedExecution => ({
    ...rowForTest({ executionId, startAt: 7, error }),
  });

  test("asks for one row more than its page, from the place of the cursor", async () => {
    const asked: unknown[] = [];
    const { store } = engineWith({
      list: async (query) => {
        asked.push(query);
        return [listed("a"), listed("b"), listed("c")];
      },
    }).engine;
    const page = await listExecutions(store, {
      ...{ workflowId: "nap", status: "running", limit: 2, cursor: writeCursor(5, "z") },
      ...{ from: new Date(1), to: new Date(2), userId: "ada", tag: "red", idPrefix: "e" },
    });
    expect(asked).toEqual([
      {
        ...{ workflowId: "nap", status: "running", userId: "ada", tag: "red", idPrefix: "e", from: 1, to: 2 },
        ...{ before: { startAt: 5, executionId: "z" }, limit: 3, length: 4_000_000 },
      },
    ]);
    expect(page.executions.map(({ executionId }) => executionId)).toEqual(["a", "b"]);
    expect(page.nextCursor).toBe(writeCursor(7, "b"));
    expect(await listExecutions(store, { limit: 3 })).toMatchObject({ nextCursor: null });
    expect(asked[1]).toEqual({
      from: undefined,
      to: undefined,
      before: undefined,
      limit: 4,
      length: 4_000_000,
    });
    await listExecutions(store, {});
    expect(asked[2]).toMatchObject({ limit: 51 });
  });

  test("of a page that is long may continue", async () => {
    const error = JSON.stringify({ name: "Error", message: "x".repeat(4_000_000) });
    const { store } = engineWith({ list: async () => [listed("a", error)] }).engine;
    expect((await listExecutions(store, {})).nextCursor).toBe(writeCursor(7, "a"));
  });

  test.each([0, 501, 1.5, Number.NaN])("of %s rows is refused, 1 and 500 are not", async (limit) => {
    const { store } = engineWith({ list: async () => [] }).engine;
    await expect(listExecutions(store, { limit })).rejects.toThrow(
      "Invalid option limit: expected a whole number from 1 to 500",
    );
    for (const fine of [1, 500])
      expect(await listExecutions(store, { limit: fine })).toEqual({ executions: [], nextCursor: null });
    await expect(listExecutions(store, { cursor: "x" })).rejects.toThrow(
      "Invalid option cursor: not a cursor of this server",
    );
  });

  test("of open suspensions has a page of views and its cursor", async () => {
    const asked: unknown[] = [];
    const row = {
      executionId: "e1",
      workflowId: "nap",
      agentId: null,
      userId: null,
      conversationId: null,
      startAt: 1,
      suspension,
    };
    const { store } = engineWith({
      waiting: async (query) => {
        asked.push(query);
        return [row, { ...row, executionId: "e2", suspension: { ...suspension, suspensionId: "s2" } }];
      },
    }).engine;
    const workflows = new Map([["nap", flow]]);
    const options = { limit: 1, cursor: writeCursor(5, "z"), userId: "ada", workflowId: "nap" };
    expect(await listWaiting({ store, workflows }, options)).toEqual({
      items: [{ ...row, approvalId: null, startAt: iso, suspension: view }],
      nextCursor: writeCursor(1, "s1"),
    });
    expect(await listWaiting({ store, workflows }, { limit: 2 })).toMatchObject({
      items: [{ executionId: "e1" }, { executionId: "e2" }],
      nextCursor: null,
    });
    expect(asked).toEqual([
      {
        ...{ userId: "ada", workflowId: "nap", after: { suspendedAt: 5, suspensionId: "z" } },
        ...{ limit: 2, length: 4_000_000 },
      },
      { after: undefined, limit: 3, length: 4_000_000 },
    ]);
  });
});

describe("the list of open suspensions", () => {
  const row = (
    id: string,
    fields: { userId?: string; deadline?: number; data?: string; suspendedAt?: number; more?: object },
  ) => ({
    ...{ executionId: `e-${id}`, workflowId: "nap", agentId: null, conversationId: null },
    userId: fields.userId ?? null,
    startAt: 1,
    suspension: {
      ...{ ...suspension, suspensionId: id, suspendedAt: fields.suspendedAt ?? 1 },
      ...{ data: fields.data ?? null, deadline: fields.deadline ?? null, ...fields.more },
    },
  });
  const rows = [
    row("a", { userId: "eve", data: '{"order":"ORD_1"}' }),
    row("b", { userId: "ada", deadline: 90 }),
    row("c", { deadline: 20, data: '"x"' }),
  ];
  const sources = (all: readonly ReturnType<typeof row>[]) => ({
    workflows: new Map(),
    store: engineWith({
      waiting: async ({ suspensionIds: ids, after, limit }) =>
        all
          .filter(({ suspension: each }) => ids?.includes(each.suspensionId) ?? true)
          .filter(({ suspension: each }) => after === undefined || each.suspensionId > after.suspensionId)
          .slice(0, limit),
    }).engine.store,
  });
  const idsOf = ({ items }: Awaited<ReturnType<typeof listWaiting>>) =>
    items.map((item) => item.suspension.suspensionId);

  test("is sorted by deadline or by user, page by page", async () => {
    const of = sources(rows);
    expect(idsOf(await listWaiting(of, { limit: 9, order: "deadline" }))).toEqual(["c", "b", "a"]);
    const first = await listWaiting(of, { limit: 2, order: "user" });
    expect(idsOf(first)).toEqual(["c", "b"]);
    const cursor = first.nextCursor ?? "";
    expect(idsOf(await listWaiting(of, { limit: 2, order: "user", cursor }))).toEqual(["a"]);
    await expect(listWaiting(of, { limit: 2, order: "deadline", cursor })).rejects.toThrow("cursor");
  });

  test("can be searched: by any text of it, in any case; a search that found too little continues", async () => {
    const of = sources(rows);
    const found = async (text: string) => idsOf(await listWaiting(of, { limit: 9, text }));
    expect(await found("ord_1")).toEqual(["a"]);
    expect(await found("WHY")).toEqual(["a", "b", "c"]);
    expect(await found("ada")).toEqual(["b"]);
    expect(await found("nothing like it")).toEqual([]);
    expect(idsOf(await listWaiting(of, { limit: 9, text: "e-", order: "deadline" }))).toEqual([
      "c",
      "b",
      "a",
    ]);
    const many = Array.from({ length: 2100 }, (_, n) => row(`s${String(n).padStart(4, "0")}`, {}));
    const far = sources([...many, row("t", { data: '"needle"' })]);
    const first = await listWaiting(far, { limit: 9, text: "needle" });
    expect(first.items).toEqual([]);
    const next = await listWaiting(far, { limit: 9, text: "needle", cursor: first.nextCursor ?? "" });
    expect([idsOf(next), next.nextCursor]).toEqual([["t"], null]);
  });

  test("is limited to what an event ends, or to what waits for a person; a page is followed only if it has a next", async () => {
    const awaits = JSON.stringify({ events: [{ scope: "", name: "paid", key: "1" }] });
    const of = sources([
      row("a", {}),
      row("b", { more: { awaits } }),
      row("c", { more: { awaits, to: "olga" } }),
      row("d", { more: { to: "olga" } }),
    ]);
    const found = async (events: boolean | undefined) => idsOf(await listWaiting(of, { limit: 9, events }));
    expect(await found(undefined)).toEqual(["a", "b", "c", "d"]);
    expect(await found(true)).toEqual(["b", "c"]);
    expect(await found(false)).toEqual(["a", "c", "d"]);
    const count = async (events: boolean) => (await countWaiting(of, { events })).counts;
    expect([await count(true), await count(false)]).toMatchObject([[{ count: 2 }], [{ count: 3 }]]);
    const first = await listWaiting(of, { limit: 2, events: false });
    expect(idsOf(first)).toEqual(["a", "c"]);
    const cursor = first.nextCursor ?? "";
    const last = await listWaiting(of, { limit: 2, events: false, cursor });
    expect([idsOf(last), last.nextCursor]).toEqual([["d"], null]);
    expect((await listWaiting(of, { limit: 3, events: false })).nextCursor).toBeNull();
  });

  test("is counted by workflow, user and conversation, up to a bound", async () => {
    const { counts, complete } = await countWaiting(sources([...rows, row("d", { userId: "ada" })]), {});
    const of = { workflowId: "nap", agentId: null, conversationId: null };
    expect(counts).toEqual([
      { ...of, userId: "eve", count: 1 },
      { ...of, userId: "ada", count: 2 },
      { ...of, userId: null, count: 1 },
    ]);
    expect(complete).toBe(true);
    const many = Array.from({ length: 10_001 }, (_, n) => row(`s${n}`, {}));
    expect(await countWaiting(sources(many), {})).toMatchObject({
      counts: [{ count: 10_000 }],
      complete: false,
    });
  });
});

describe("the handle of a start", () => {
  const started = { executionId: "e1", startAt: 1, created: true, settled: false };
  const stateOf = (fields: Partial<ExecutionRow>): Store["state"] => {
    const execution = rowForTest(fields);
    return async () => ({ execution, suspensions: [], timers: [], usage: null });
  };
  const begin = (
    { engine }: Pick<ReturnType<typeof engineWith>, "engine">,
    made: Partial<Started> = {},
    workflowId = "nap",
  ) => {
    const prepared = { executionId: "e1", create: async () => ({ ...started, ...made }) };
    return beginExecution(engine, workflowId, prepared, {});
  };

  const settlements: [string, Settlement, object][] = [
    [
      "that has ended",
      { kind: "ended", status: "completed", endAt: 1, result: "[1]", error: undefined },
      { endAt: iso, status: "completed", result: [1] },
    ],
    [
      "without a result",
      { kind: "ended", status: "completed", endAt: 1, result: undefined, error: undefined },
      { endAt: iso, status: "completed", result: null },
    ],
    [
      "that has failed",
      {
        kind: "ended",
        status: "error",
        endAt: 1,
        result: undefined,
        error: { name: "E", message: "secret" },
      },
      { endAt: iso, status: "error", result: null, error: "Failed to execute workflow" },
    ],
    [
      "that is suspended",
      { kind: "suspended", suspension },
      { endAt: null, status: "suspended", result: null, suspension: view },
    ],
  ];
  test.each(settlements)("has the result of an execution %s", async (_, settlement, expected) => {
    const made = engineWith();
    const handle = await begin(made);
    expect(handle).toEqual({
      ...{ executionId: "e1", startAt: iso, settled: false, traceparent: undefined },
      result: expect.any(Function),
    });
    const hold = vi.spyOn(made.engine.keepAlive, "hold");
    const release = vi.spyOn(made.engine.keepAlive, "release");
    const result = handle.result();
    expect([hold.mock.calls.length, release.mock.calls.length]).toEqual([1, 0]);
    made.engine.waiters.settle("e1", settlement);
    expect(await result).toStrictEqual({ executionId: "e1", startAt: iso, ...expected });
    expect(release).toHaveBeenCalledTimes(1);
  });

  test("reads the store for an end elsewhere and for the usage of agents", async () => {
    const ended = { status: "completed", endAt: 1, result: "5" } as const;
    const elsewhere = engineWith({ state: stateOf(ended) });
    const handle = await begin(elsewhere);
    const result = handle.result();
    elsewhere.engine.waiters.settle("e1", { kind: "elsewhere" });
    expect(await result).toMatchObject({ status: "completed", result: 5 });
    expect(elsewhere.engine.waiters.has("e1")).toBe(false);
    const asked = engineWith({ state: stateOf({ ...ended, workflowId: "ask" }) });
    const agents = (await begin(asked, {}, "ask")).result();
    asked.engine.waiters.settle("e1", {
      ...{ kind: "ended", status: "completed", endAt: 1, result: "6", error: undefined },
    });
    expect(await agents).toMatchObject({ result: 5 });
  });

  test("rejects when the process stops first", async () => {
    const made = engineWith();
    const result = (await begin(made)).result();
    made.engine.waiters.settle("e1", { kind: "stopped" });
    await expect(result).rejects.toThrow("The server is shutting down");
  });

  test("of an execution that was there before has its current result, or waits for it", async () => {
    const before = { created: false, settled: true };
    const known = engineWith({ state: stateOf({ status: "completed", endAt: 1, result: "5" }) });
    const handle = await begin(known, before);
    expect(handle).toEqual({
      ...{ executionId: "e1", startAt: iso, settled: true, result: expect.any(Function) },
    });
    expect(known.engine.waiters.has("e1")).toBe(false);
    expect(await handle.result()).toMatchObject({ status: "completed", result: 5 });
    expect(known.engine.waiters.has("e1")).toBe(false);
    const gone = await begin(engineWith({ state: async () => undefined }), before);
    await expect(gone.result()).rejects.toThrow("Execution e1 not found");
    const parked = await begin(engineWith({ state: stateOf({ parked: "changed" }) }), before);
    await expect(parked.result()).rejects.toThrow("Execution e1 is parked: changed");
    const running = engineWith({ state: stateOf({}) });
    const result = (await begin(running, { created: false })).result();
    await expect.poll(() => running.engine.waiters.has("e1")).toBe(true);
    await Promise.resolve();
    running.engine.waiters.settle("e1", { kind: "suspended", suspension });
    expect(await result).toMatchObject({ status: "suspended", startAt: iso });
  });

  test("is not made when the start fails, and no wait is left", async () => {
    const { engine } = engineWith();
    const prepared = { executionId: "e1", create: () => Promise.reject(new Error("full")) };
    await expect(beginExecution(engine, "nap", prepared, {})).rejects.toThrow("full");
    expect(engine.waiters.has("e1")).toBe(false);
  });
});
