// Adds log lines, trace roots and spans.
import type { ObservationBatch, SpanChunk } from "@andante/core/store";
import type { Readers } from "../../connection/readers.ts";

type Column<Item> = readonly [type: string, value: (item: Item) => unknown];

/** `select` of the rows that the items make, and the arrays that it takes. */
function rowsOf<Item>(items: readonly Item[], columns: readonly Column<Item>[]) {
  const arrays = columns.map(([type], index) => `$${index + 1}::${type}[]`).join(", ");
  return { rows: `select * from unnest(${arrays})`, values: columns.map(([, value]) => items.map(value)) };
}

/** `node`: which process writes them. Two may write a line in the same microsecond. */
export function append(readers: Readers, s: string, node: string) {
  // Each chunk has a number of its own, so that it is kept once also when it comes again because a result was lost.
  const numbers = new WeakMap<SpanChunk, number>();
  let last = 0;
  const numberOf = (chunk: SpanChunk) => {
    const number = numbers.get(chunk) ?? ++last;
    numbers.set(chunk, number);
    return number;
  };
  return ({ logs, roots, chunks }: ObservationBatch): Promise<void> =>
    readers.write("appendObservations", async (query) => {
      if (logs.length > 0) {
        const { rows, values } = rowsOf(logs, [
          ["bigint", ({ id }) => id],
          ["text", () => node],
          ["bigint", ({ timestamp }) => timestamp],
          ["integer", ({ level }) => level],
          ["text", ({ workflowId }) => workflowId],
          ["text", ({ executionId }) => executionId],
          ["text", ({ agentId }) => agentId],
          ["text", ({ conversationId }) => conversationId],
          ["text", ({ userId }) => userId],
          ["text", ({ record }) => record],
        ]);
        await query(
          `insert into ${s}.logs (id, node, timestamp, level, workflow_id, execution_id, agent_id, conversation_id, user_id,
             record)
           ${rows} on conflict (id, node) do nothing`,
          values,
        );
      }
      if (roots.length > 0) {
        // The last of those with the same key, because a statement cannot change a row twice; in one order on every node.
        const last = new Map(roots.map((root) => [`${root.traceId} ${root.rootSpanId}`, root]));
        const sorted = [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, root]) => root);
        const { rows, values } = rowsOf(sorted, [
          ["text", ({ traceId }) => traceId],
          ["text", ({ rootSpanId }) => rootSpanId],
          ["text", ({ entityType }) => entityType],
          ["text", ({ entityId }) => entityId],
          ["text", ({ executionId }) => executionId],
          ["text", ({ userId }) => userId],
          ["text", ({ conversationId }) => conversationId],
          ["bigint", ({ startAt }) => startAt],
          ["bigint", ({ endAt }) => endAt],
          ["text", ({ status }) => status],
        ]);
        await query(
          `insert into ${s}.trace_roots (trace_id, root_span_id, entity_type, entity_id, execution_id, user_id,
             conversation_id, start_at, end_at, status)
           ${rows}
           on conflict (trace_id, root_span_id) do update set end_at = excluded.end_at, status = excluded.status`,
          values,
        );
      }
      if (chunks.length > 0) {
        const { rows, values } = rowsOf(chunks, [
          ["text", ({ traceId }) => traceId],
          ["text", ({ rootSpanId }) => rootSpanId],
          ["bigint", ({ timestamp }) => timestamp],
          ["text", ({ spans }) => spans],
          ["text", () => node],
          ["bigint", numberOf],
        ]);
        await query(
          `insert into ${s}.span_chunks (trace_id, root_span_id, timestamp, spans, node, number) ${rows}
           on conflict (node, number) do nothing`,
          values,
        );
      }
    });
}
