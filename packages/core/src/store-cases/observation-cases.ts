// The cases that the observations of every store must pass.
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservationBatch, SpanChunk, StoredLog, TraceRoot } from "../store/observation-store.ts";
import type { Store } from "../store/store.ts";
import { commitOf, execution, suspension } from "./store-cases.ts";

let lastId = 0;
function log(fields: Partial<StoredLog> = {}): StoredLog {
  const none = { workflowId: null, executionId: null, agentId: null, conversationId: null, userId: null };
  return { id: ++lastId, timestamp: 1_000, level: 1, ...none, record: "{}", ...fields };
}

function root(fields: Partial<TraceRoot> = {}): TraceRoot {
  return {
    traceId: randomBytes(16).toString("hex"),
    rootSpanId: randomBytes(8).toString("hex"),
    entityType: "workflow",
    entityId: "publish",
    executionId: null,
    userId: null,
    conversationId: null,
    startAt: 1_000,
    endAt: 2_000,
    status: "completed",
    ...fields,
  };
}

function chunk({ traceId, rootSpanId }: TraceRoot, fields: Partial<SpanChunk> = {}): SpanChunk {
  return { traceId, rootSpanId, timestamp: 2_000, spans: "[]", ...fields };
}

export function observationCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of observations`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    const append = (batch: Partial<ObservationBatch>) =>
      store.observations.append({ logs: [], roots: [], chunks: [], ...batch });

    test("lines come back as they were put, by every filter, newest last", async () => {
      const workflowId = randomUUID();
      const ids = { workflowId, executionId: "e", agentId: "a", conversationId: "c", userId: "u" };
      const lines = [
        log({ workflowId, level: 0, timestamp: 10 }),
        log({ ...ids, timestamp: 20, record: '{"msg":"\\u0000ü"}' }),
        log({ workflowId, level: 3, timestamp: 30 }),
      ];
      await append({ logs: lines });
      const read = (filter: object) => store.observations.logs({ workflowId, limit: 10, ...filter });
      expect(await read({})).toEqual(lines);
      expect(await read({ limit: 1 })).toEqual([lines[2]]);
      for (const filter of [
        { executionId: "e" },
        { agentId: "a" },
        { conversationId: "c" },
        { userId: "u" },
      ]) {
        expect(await read(filter)).toEqual([lines[1]]);
      }
      expect(await read({ level: 1 })).toEqual([lines[1], lines[2]]);
      expect(await read({ from: lines[1]?.id })).toEqual([lines[1], lines[2]]);
      expect(await read({ upTo: lines[1]?.id })).toEqual([lines[0], lines[1]]);
    });

    test("a batch that is written again adds nothing", async () => {
      const workflowId = randomUUID();
      const line = log({ workflowId });
      await append({ logs: [line] });
      await append({ logs: [line] });
      expect(await store.observations.logs({ workflowId, limit: 10 })).toEqual([line]);
    });

    test("traces are listed newest first, by every filter, a page at a time", async () => {
      const entityId = randomUUID();
      const first = root({ entityId, startAt: 10, userId: "ada" });
      const second = root({ entityId, startAt: 20, entityType: "agent", status: "error" });
      const third = root({ entityId, startAt: 30, executionId: `e-${entityId}` });
      await append({ roots: [second, first, third] });
      const list = (filter: object) => store.observations.traces({ entityId, limit: 10, ...filter });
      expect(await list({})).toEqual([third, second, first]);
      expect(await list({ entityType: "agent" })).toEqual([second]);
      expect(await list({ userId: "ada" })).toEqual([first]);
      expect(await list({ status: "error" })).toEqual([second]);
      expect(await list({ executionId: `e-${entityId}` })).toEqual([third]);
      expect(await list({ from: 20 })).toEqual([third, second]);
      expect(await list({ to: 20 })).toEqual([first]);
      const page = await list({ limit: 2 });
      expect(page).toEqual([third, second]);
      const before = { startAt: second.startAt, rootSpanId: second.rootSpanId };
      expect(await list({ limit: 2, before })).toEqual([first]);
    });

    test("a trace has its roots and spans in order; a root that is written again is replaced", async () => {
      const running = root({ status: "running", endAt: null });
      const beside = root({ traceId: running.traceId, startAt: 5 });
      await append({ roots: [running, beside], chunks: [chunk(running, { spans: "[1]" })] });
      const ended = { ...running, status: "completed", endAt: 9_000 };
      await append({ roots: [ended], chunks: [chunk(running, { spans: "[2]" })] });
      const { roots, chunks } = await store.observations.trace(running.traceId);
      expect(roots).toEqual([beside, ended]);
      expect(chunks.map(({ spans }) => spans)).toEqual(["[1]", "[2]"]);
      expect(await store.observations.trace("0".repeat(32))).toEqual({ roots: [], chunks: [] });
    });

    test("trimming removes old observations, the spans with their trace, a bounded number at a time", async () => {
      const workflowId = randomUUID();
      const old = Array.from({ length: 5 }, (_, n) => log({ workflowId, id: n - 100 }));
      const young = log({ workflowId });
      const gone = root({ startAt: -20 });
      const stays = root({ startAt: 50_000 });
      await append({ logs: [...old, young], roots: [gone, stays], chunks: [chunk(gone), chunk(stays)] });
      const trim = () => store.observations.trim({ logs: -10, traces: -10, limit: 3 });
      expect(await trim()).toBe(3 + 1);
      expect(await trim()).toBe(2);
      expect(await trim()).toBe(0);
      expect(await store.observations.logs({ workflowId, limit: 10 })).toEqual([young]);
      expect(await store.observations.trace(gone.traceId)).toEqual({ roots: [], chunks: [] });
      expect((await store.observations.trace(stays.traceId)).chunks).toHaveLength(1);
    });

    test("trimming removes the oldest of too many", async () => {
      const workflowId = randomUUID();
      const lines = Array.from({ length: 4 }, (_, n) => log({ workflowId, timestamp: 60_000 + n }));
      const roots = Array.from({ length: 4 }, (_, n) => root({ startAt: 60_000 + n }));
      await append({ logs: lines, roots });
      const from = await store.observations.keepFrom({ logs: 2, traces: 2 });
      for (let removed = 1; removed > 0; ) {
        removed = await store.observations.trim({ ...from, limit: 100 });
      }
      expect(await store.observations.logs({ limit: 10 })).toEqual(lines.slice(2));
      expect(await store.observations.traces({ limit: 10 })).toEqual([roots[3], roots[2]]);
      expect(await store.observations.keepFrom({ logs: 100, traces: 100 })).toEqual({ logs: 0, traces: 0 });
    });

    test("executions are listed by their traces: of any, of one that they name, by their own ids", async () => {
      const workflowId = randomUUID();
      const traceId = randomBytes(16).toString("hex");
      const own = execution({ workflowId, startAt: 10, trace: "" });
      const named = execution({ workflowId, startAt: 20, trace: traceId });
      const untraced = execution({ workflowId, startAt: 30 });
      for (const each of [own, named, untraced]) await store.create(each);
      const list = async (filter: object) =>
        (await store.list({ limit: 10, ...filter })).map(({ executionId, trace }) => [executionId, trace]);
      const both = [
        [named.executionId, traceId],
        [own.executionId, ""],
      ];
      expect(await list({ workflowId, traced: true })).toEqual(both);
      expect(await list({ workflowId })).toEqual([[untraced.executionId, null], ...both]);
      expect(await list({ traceId })).toEqual([[named.executionId, traceId]]);
      expect(await list({ traceId: "" })).toEqual([]);
      expect(await list({ executionId: own.executionId, traced: true })).toEqual([[own.executionId, ""]]);
      expect(await list({ executionId: untraced.executionId, traced: true })).toEqual([]);
      const place = { startAt: 20, executionId: named.executionId };
      expect(await list({ workflowId, traced: true, before: place })).toEqual([[own.executionId, ""]]);
    });

    test("suspended executions are counted", async () => {
      const before = await store.observations.countSuspended();
      const made = execution();
      await store.create(made);
      await store.commit(commitOf(made.executionId, { open: [suspension()] }));
      expect(await store.observations.countSuspended()).toBe(before + 1);
    });
  });
}
