// Logs, spans and counts in the state of the log object, each with its fields.
import type { RollupBatch, RollupCount, SpanChunk, StoredLog, TraceRoot } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { columnsOf, field, optional } from "./lines.ts";

export const logColumns = columnsOf(
  "id level workflowId executionId agentId conversationId userId node whole",
);
export const rootColumns = columnsOf(
  "startAt rootSpanId traceId entityType entityId executionId userId status whole",
);
export const chunkColumns = columnsOf("timestamp number node traceId rootSpanId whole");
export const rollupColumns = columnsOf("minute workflowId step kind bucket count");

/** A batch of one process, whose chunks are numbered. */
export interface KeptBatch {
  readonly node: string;
  readonly logs: readonly StoredLog[];
  readonly roots: readonly TraceRoot[];
  readonly chunks: readonly (SpanChunk & { readonly number: number })[];
}

async function observe(cells: Cells, { node, logs, roots, chunks }: KeptBatch): Promise<void> {
  for (const log of logs) {
    const { id, level, workflowId, executionId, agentId, conversationId, userId } = log;
    const names = [workflowId, executionId, agentId, conversationId, userId].map(optional);
    cells.set(`L/${id}/${node}`, log, id, level, ...names, node);
  }
  const keyOf = ({ traceId, rootSpanId }: TraceRoot) => `T/${traceId}/${rootSpanId}`;
  await cells.load(roots.map(keyOf));
  for (const root of roots) {
    const kept = { ...(cells.get<TraceRoot>(keyOf(root)) ?? root), endAt: root.endAt, status: root.status };
    const { startAt, rootSpanId, traceId, entityType, entityId, executionId, userId, status } = kept;
    const names = [field(entityId), optional(executionId), optional(userId), status];
    cells.set(keyOf(root), kept, startAt, rootSpanId, traceId, entityType, ...names);
  }
  for (const { number, ...chunk } of chunks) {
    const { timestamp, traceId, rootSpanId } = chunk;
    cells.set(`S/${rootSpanId}/${node}/${number}`, chunk, timestamp, number, node, traceId, rootSpanId);
  }
}

async function clearKeys(cells: Cells, given: readonly string[]): Promise<void> {
  for (const key of given) cells.clear(key);
}

/** Processes whose last batch is remembered. */
const keptWriters = 200;

/** Adds a batch of a process, unless it was added, which a mark of its kind says. */
export async function addOnce(
  cells: Cells,
  key: string,
  { writer, number }: Pick<RollupBatch, "writer" | "number">,
  add: () => Promise<void>,
): Promise<void> {
  const writers = (await cells.read<[string, number][]>(key)) ?? [];
  if ((writers.find(([each]) => each === writer)?.[1] ?? 0) >= number) return;
  await add();
  const others = writers.filter(([each]) => each !== writer);
  cells.set(key, [...others, [writer, number]].slice(-keptWriters));
}

async function addCounts(cells: Cells, { counts }: RollupBatch): Promise<void> {
  const keyOf = ({ minute, workflowId, step, kind, bucket }: RollupCount) =>
    `R/${minute}/${JSON.stringify([workflowId, step, kind, bucket])}`;
  await cells.load(counts.map(keyOf));
  for (const each of counts) {
    const { minute, workflowId, step, kind, bucket, count } = each;
    const before = cells.get<number>(keyOf(each)) ?? 0;
    cells.set(keyOf(each), before + count, minute, field(workflowId), field(step), kind, bucket);
  }
}

export const observationWrites = {
  observe,
  clearKeys,
  addCounts: (cells: Cells, batch: RollupBatch): Promise<void> =>
    addOnce(cells, "writers", batch, () => addCounts(cells, batch)),
};
