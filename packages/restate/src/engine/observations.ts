// Logs, spans and counts in the state of the log object: a line for each, with its fields and the whole as JSON.
import type { RollupBatch, RollupCount, SpanChunk, StoredLog, TraceRoot } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { columnsOf, field, lastField, line, optional } from "./lines.ts";

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
    cells.setText(`L/${id}/${node}`, line(id, level, ...names, node, JSON.stringify(log)));
  }
  const keyOf = ({ traceId, rootSpanId }: TraceRoot) => `T/${traceId}/${rootSpanId}`;
  await cells.load(roots.map(keyOf));
  for (const root of roots) {
    const before = lastField(cells.text(keyOf(root)));
    const first: TraceRoot = before === undefined ? root : JSON.parse(before);
    const kept = { ...first, endAt: root.endAt, status: root.status };
    const { startAt, rootSpanId, traceId, entityType, entityId, executionId, userId, status } = kept;
    const names = [field(entityId), optional(executionId), optional(userId), status];
    cells.setText(
      keyOf(root),
      line(startAt, rootSpanId, traceId, entityType, ...names, JSON.stringify(kept)),
    );
  }
  for (const { number, ...chunk } of chunks) {
    const { timestamp, traceId, rootSpanId } = chunk;
    const text = line(timestamp, number, node, traceId, rootSpanId, JSON.stringify(chunk));
    cells.setText(`S/${rootSpanId}/${node}/${number}`, text);
  }
}

async function clearKeys(cells: Cells, given: readonly string[]): Promise<void> {
  for (const key of given) cells.clear(key);
}

/** Processes whose last batch is remembered. */
const keptWriters = 200;

async function addCounts(cells: Cells, { writer, number, counts }: RollupBatch): Promise<void> {
  const keyOf = ({ minute, workflowId, step, kind, bucket }: RollupCount) =>
    `R/${minute}/${JSON.stringify([workflowId, step, kind, bucket])}`;
  await cells.load(["writers", ...counts.map(keyOf)]);
  const writers = cells.get<[string, number][]>("writers") ?? [];
  if ((writers.find(([each]) => each === writer)?.[1] ?? 0) >= number) return;
  const others = writers.filter(([each]) => each !== writer);
  cells.set("writers", [...others, [writer, number]].slice(-keptWriters));
  for (const each of counts) {
    const { minute, workflowId, step, kind, bucket, count } = each;
    const before = Number(lastField(cells.text(keyOf(each))) ?? 0);
    cells.setText(keyOf(each), line(minute, field(workflowId), field(step), kind, bucket, before + count));
  }
}

export const observationWrites = { observe, clearKeys, addCounts };
