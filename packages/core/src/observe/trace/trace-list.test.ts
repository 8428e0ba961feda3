// The list of traces, made of executions and of rows of its own.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import type { TraceRoot } from "../../store/observation-store.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { execution } from "../../store-cases/store-cases.ts";
import { uuidMaker } from "../../values/uuid.ts";
import { TraceIds } from "./trace-ids.ts";
import { TraceList, type TracePlace } from "./trace-list.ts";
import { Traces } from "./traces.ts";

const store = memoryStore();
const hour = 3_600_000;
const list = new TraceList(store, hour, Date);
const start = Date.now() - 60_000;
const hex = (bytes: number) => randomBytes(bytes).toString("hex");

function agentCall(startAt: number): TraceRoot {
  const ids = { traceId: hex(16), rootSpanId: hex(8) };
  const entity = { entityType: "agent", entityId: "helper", executionId: null } as const;
  return {
    ...ids,
    ...entity,
    userId: "ada",
    conversationId: null,
    startAt,
    endAt: startAt,
    status: "completed",
  };
}

const calls = Array.from({ length: 12 }, (_, n) => agentCall(start + 2 * n));
const made = Array.from({ length: 12 }, (_, n) =>
  execution({ workflowId: "publish", userId: n < 6 ? "ada" : "bob", startAt: start + n, trace: "" }),
);
const untraced = execution({ workflowId: "publish", startAt: start + 3 });
const old = execution({ workflowId: "publish", startAt: start - hour, trace: "" });

beforeAll(async () => {
  await store.open();
  await store.observations.append({ logs: [], roots: calls, chunks: [] });
  for (const each of [...made, untraced, old]) await store.create(each);
});
afterAll(() => store.close());

async function keys(filter: Parameters<TraceList["page"]>[0], limit: number): Promise<string[]> {
  const found: string[] = [];
  let before: TracePlace | undefined;
  do {
    const { page, more }: Awaited<ReturnType<TraceList["page"]>> = await list.page(filter, before, limit);
    expect(page.length).toBeLessThanOrEqual(limit);
    found.push(...page.map(({ executionId, rootSpanId }) => executionId ?? rootSpanId));
    before = more;
  } while (before !== undefined);
  return found;
}

const everything = [
  ...calls.map(({ startAt, rootSpanId }) => ({ startAt, key: rootSpanId })),
  ...made.map(({ startAt, executionId }) => ({ startAt, key: executionId })),
]
  .sort((a, b) => b.startAt - a.startAt || (a.key < b.key ? 1 : -1))
  .map(({ key }) => key);

describe("the list of traces", () => {
  test.each([1, 2, 5, 23, 24, 500])("has each once, newest first, in pages of %i", async (limit) => {
    expect(await keys({}, limit)).toEqual(everything);
  });

  test("is filtered by entity, user, status and start time", async () => {
    const calledBy = calls.map(({ rootSpanId }) => rootSpanId);
    const idsOf = (rows: typeof made) => rows.map(({ executionId }) => executionId).reverse();
    expect(await keys({ entityType: "agent" }, 5)).toEqual([...calledBy].reverse());
    expect(await keys({ entityType: "workflow" }, 5)).toEqual(idsOf(made));
    expect(await keys({ entityId: "publish" }, 5)).toEqual(idsOf(made));
    expect(await keys({ entityId: "helper" }, 5)).toEqual([...calledBy].reverse());
    expect(await keys({ userId: "bob" }, 4)).toEqual(idsOf(made.slice(6)));
    expect(await keys({ status: "running" }, 5)).toEqual(idsOf(made));
    expect(await keys({ status: "odd" }, 5)).toEqual([]);
    expect(await keys({ executionId: made[4]?.executionId }, 5)).toEqual(idsOf(made.slice(4, 5)));
    expect(await keys({ from: start + 4, to: start + 6, entityType: "workflow" }, 5)).toEqual(
      idsOf(made.slice(4, 6)),
    );
  });
});

describe("one trace", () => {
  test("of an id that was made in the same millisecond as others is found by its own id", async () => {
    const make = uuidMaker(() => start);
    const rows = Array.from({ length: 600 }, () =>
      execution({ executionId: make(), startAt: start, trace: "" }),
    );
    for (const row of rows) await store.create(row);
    for (const { executionId } of [rows[0], rows[300], rows.at(-1)].filter((row) => row !== undefined)) {
      const { traceId } = new TraceIds(executionId, undefined);
      const { roots } = await list.trace(traceId);
      expect(roots.map((root) => root.executionId)).toEqual([executionId]);
    }
  });

  test("is not looked for in further pages when the client is gone", async () => {
    const make = uuidMaker(() => start + 1);
    const rows = Array.from({ length: 600 }, () =>
      execution({ executionId: make(), startAt: start + 1, trace: "" }),
    );
    for (const row of rows) await store.create(row);
    const gone = new AbortController();
    let pages = 0;
    const abandoned = wrapStore(store, {
      list: (query) => {
        if (query.idPrefix !== undefined && ++pages === 1) gone.abort(new Error("gone"));
        return store.list(query);
      },
    });
    const writer = { flush: async () => undefined };
    const traces = new Traces(abandoned, writer, undefined, { maxAge: hour, clock: Date });
    const { traceId } = new TraceIds(rows[0]?.executionId ?? "", undefined);
    await expect(traces.read(traceId, undefined, gone.signal)).rejects.toThrow("gone");
    expect(pages).toBe(1);
    expect(await traces.read(traceId)).toMatchObject({ roots: [{ executionId: rows[0]?.executionId }] });
    expect(pages).toBeGreaterThan(2);
  });

  test("holds all executions that name it, and the calls of agents", async () => {
    const traceId = hex(16);
    const named = [2, 1].map((n) => execution({ startAt: start + n, trace: traceId }));
    for (const row of named) await store.create(row);
    const call = { ...agentCall(start), traceId };
    await store.observations.append({ logs: [], roots: [call], chunks: [] });
    const { roots } = await list.trace(traceId);
    expect(roots.map((root) => root.executionId)).toEqual([
      null,
      named[1]?.executionId,
      named[0]?.executionId,
    ]);
    expect(roots.every((root) => root.traceId === traceId)).toBe(true);
  });

  test("is not there for an execution that is not traced, that is too old, or for a malformed id", async () => {
    for (const { executionId } of [untraced, old]) {
      const { traceId } = new TraceIds(executionId, undefined);
      expect((await list.trace(traceId)).roots).toEqual([]);
    }
    for (const id of ["", "x", "%", "0".repeat(32)]) expect((await list.trace(id)).roots).toEqual([]);
  });
});

test("the age of traces is measured by the given clock", async () => {
  const later = new TraceList(store, hour, { now: () => Date.now() + 2 * hour });
  const { page } = await later.page({ entityType: "workflow" }, undefined, 10);
  expect(page.filter(({ executionId }) => executionId !== null)).toEqual([]);
  expect((await list.page({ entityType: "workflow" }, undefined, 10)).page).toHaveLength(10);
});
