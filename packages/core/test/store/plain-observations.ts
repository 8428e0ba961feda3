// Logs and traces of the store of maps.
import type {
  KeepCounts,
  LogQuery,
  ObservationBatch,
  SpanChunk,
  StoredLog,
  StoredTrace,
  TraceQuery,
  TraceRoot,
  Trim,
} from "../../src/store/observation-store.ts";
import { readPage } from "../../src/store/sql/read-page.ts";

export function plainObservations() {
  const logs = new Map<number, StoredLog>();
  const roots = new Map<string, TraceRoot>();
  let chunks: SpanChunk[] = [];
  const keyOf = ({ traceId, rootSpanId }: Pick<TraceRoot, "traceId" | "rootSpanId">) =>
    `${traceId} ${rootSpanId}`;
  const newestRoots = () =>
    [...roots.values()].sort((a, b) => b.startAt - a.startAt || (a.rootSpanId < b.rootSpanId ? 1 : -1));
  const newestLogs = () => [...logs.values()].sort((a, b) => b.id - a.id);
  return {
    append: (batch: ObservationBatch): void => {
      for (const log of batch.logs) if (!logs.has(log.id)) logs.set(log.id, log);
      for (const root of batch.roots) {
        const { endAt, status } = root;
        roots.set(keyOf(root), { ...(roots.get(keyOf(root)) ?? root), endAt, status });
      }
      chunks.push(...batch.chunks);
    },
    logs: ({ level = 0, from = 0, upTo = Number.MAX_SAFE_INTEGER, limit, ...fields }: LogQuery) => {
      const found = newestLogs().filter(
        (log) => log.level >= level && log.id >= from && log.id <= upTo && fits(log, fields),
      );
      return readPage(found.slice(0, limit), (log) => log).reverse();
    },
    traces: (query: TraceQuery) => {
      const { from = 0, to = Number.MAX_SAFE_INTEGER, before, limit, length, ...fields } = query;
      const found = newestRoots().filter(
        (root) =>
          root.startAt >= from &&
          root.startAt < to &&
          fits(root, fields) &&
          (before === undefined ||
            root.startAt < before.startAt ||
            (root.startAt === before.startAt && root.rootSpanId < before.rootSpanId)),
      );
      return readPage(found.slice(0, limit), (root) => root, length);
    },
    trace: (traceId: string): StoredTrace => ({
      roots: readPage(
        newestRoots()
          .filter((root) => root.traceId === traceId)
          .reverse()
          .slice(0, 1000),
        (root) => root,
      ),
      chunks: readPage(
        chunks.filter((chunk) => chunk.traceId === traceId),
        (chunk) => chunk,
      ),
    }),
    keepFrom: (counts: KeepCounts) => ({
      logs: newestLogs()[Math.max(0, counts.logs - 1)]?.id ?? 0,
      traces: newestRoots()[Math.max(0, counts.traces - 1)]?.startAt ?? 0,
    }),
    trim: (bounds: Trim): number => {
      const oldLogs = newestLogs()
        .filter(({ id }) => id < bounds.logs)
        .slice(-bounds.limit);
      for (const { id } of oldLogs) logs.delete(id);
      const oldRoots = newestRoots()
        .filter(({ startAt }) => startAt < bounds.traces)
        .slice(-bounds.limit);
      for (const root of oldRoots) {
        roots.delete(keyOf(root));
        chunks = chunks.filter((chunk) => keyOf(chunk) !== keyOf(root));
      }
      const oldChunks = chunks
        .toSorted((a, b) => a.timestamp - b.timestamp)
        .filter(({ timestamp }) => timestamp < bounds.traces)
        .slice(0, bounds.limit);
      chunks = chunks.filter((chunk) => !oldChunks.includes(chunk));
      return oldLogs.length + oldRoots.length + oldChunks.length;
    },
  };
}

function fits(row: object, fields: object): boolean {
  const values = new Map<string, unknown>(Object.entries(row));
  return Object.entries(fields).every(([name, value]) => value === undefined || values.get(name) === value);
}
