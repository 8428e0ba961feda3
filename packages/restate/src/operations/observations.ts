// Logs, traces and counts over time: written to the log object, read by SQL.
import { randomUUID } from "node:crypto";
import { readPage } from "@andante/core/internal";
import {
  isRollupKind,
  type LogQuery,
  type ObservationStore,
  type RollupKind,
  type RollupRange,
  type RollupStore,
  type SpanChunk,
  type StoredLog,
  type TraceQuery,
  type TraceRoot,
  type Trim,
} from "@andante/core/store";
import type { Found } from "../client/ingress.ts";
import type { Shards } from "../client/shards.ts";
import { chunkColumns, logColumns, rollupColumns, rootColumns } from "../engine/observations.ts";
import { columns } from "../engine/read-row.ts";
import { beyond, compared, isOptional, isText, literal, number, numberIn, textIn, wholeIn } from "./sql.ts";

const logId = number(logColumns.id);
const startAt = number(rootColumns.startAt);
const endedAt = number(chunkColumns.timestamp);
const oneLog = `${logColumns.whole} as whole, ${logId} as id`;
const oneRoot = `${rootColumns.whole} as whole, ${startAt} as start_at, ${rootColumns.rootSpanId} as span`;
const oneChunk = `${chunkColumns.whole} as whole, ${endedAt} as ended_at, ${number(chunkColumns.number)} as number`;

async function logs(shards: Shards, query: LogQuery): Promise<readonly StoredLog[]> {
  const names = ["workflowId", "executionId", "agentId", "conversationId", "userId"] as const;
  const conditions = [
    compared(number(logColumns.level), ">=", query.level),
    ...names.map((name) => isOptional(logColumns[name], query[name])),
    compared(logId, ">=", query.from),
    compared(logId, "<=", query.upTo),
  ];
  const rest = `${conditions.join("")} order by id desc limit ${query.limit}`;
  return readPage(await shards.searchLog(oneLog, "L/", rest), (row) => wholeIn<StoredLog>(row)).reverse();
}

async function traces(shards: Shards, query: TraceQuery): Promise<readonly TraceRoot[]> {
  const { before, limit, length } = query;
  const conditions = [
    isText(rootColumns.entityType, query.entityType),
    isText(rootColumns.entityId, query.entityId),
    isOptional(rootColumns.executionId, query.executionId),
    isOptional(rootColumns.userId, query.userId),
    isText(rootColumns.status, query.status),
    compared(startAt, ">=", query.from),
    compared(startAt, "<", query.to),
    beyond("<", [startAt, rootColumns.rootSpanId], before && [before.startAt, before.rootSpanId]),
  ];
  const rest = `${conditions.join("")} order by start_at desc, span desc limit ${limit}`;
  return readPage(await shards.searchLog(oneRoot, "T/", rest), (row) => wholeIn<TraceRoot>(row), length);
}

async function trace(shards: Shards, traceId: string) {
  const ofTrace = (column: string, order: string) => `and ${column} = ${literal(traceId)} order by ${order}`;
  const [roots, chunks] = await Promise.all([
    shards.searchLog(oneRoot, "T/", ofTrace(rootColumns.traceId, "start_at, span limit 1000")),
    shards.searchLog(oneChunk, "S/", ofTrace(chunkColumns.traceId, "ended_at, number")),
  ]);
  return {
    roots: readPage(roots, (row) => wholeIn<TraceRoot>(row)),
    chunks: readPage(chunks, (row) => wholeIn<SpanChunk>(row)),
  };
}

/** The number at a place from the newest on; 0 when there are not as many. */
async function numberAt(shards: Shards, prefix: string, expression: string, count: number): Promise<number> {
  const rest = `order by place desc limit 1 offset ${Math.max(0, count - 1)}`;
  const [row] = await shards.searchLog(`${expression} as place`, prefix, rest);
  return row === undefined ? 0 : numberIn(row, "place");
}

async function trim(shards: Shards, { logs: fromLog, traces: fromTrace, limit }: Trim): Promise<number> {
  const oldest = (prefix: string, place: string, from: number) =>
    shards.oldest(shards.log, prefix, compared(place, "<", from), place, limit);
  const oldLogs = await oldest("L/", logId, fromLog);
  const oldRoots = await oldest("T/", startAt, fromTrace);
  const spans = oldRoots.map((key) => literal(key.split("/").at(-1) ?? ""));
  const areTheirs = `and ${chunkColumns.rootSpanId} in (${spans.join(", ")})`;
  const withRoots = spans.length === 0 ? [] : await shards.searchLog("key", "S/", areTheirs);
  const gone = new Set(withRoots.map((row) => String(row.key)));
  const oldChunks = (await oldest("S/", endedAt, fromTrace)).filter((key) => !gone.has(key));
  const removed = [...oldLogs, ...oldRoots, ...oldChunks];
  if (removed.length > 0) await shards.write(shards.log, "clearKeys", [...removed, ...gone]);
  return removed.length;
}

export function observationOperations(shards: Shards): ObservationStore {
  const node = randomUUID();
  let chunkCount = 0;
  return {
    append: (batch) => {
      const chunks = batch.chunks.map((chunk) => ({ ...chunk, number: ++chunkCount }));
      return shards.write(shards.log, "observe", { ...batch, chunks, node });
    },
    logs: (query) => logs(shards, query),
    logsElsewhere: async ({ from, limit }) => {
      const other = logColumns.node;
      const rest = `and ${logId} >= ${from} and ${other} <> '${node}' order by id desc limit ${limit}`;
      const rows = await shards.searchLog(`${oneLog}, ${other} as node`, "L/", rest);
      const read = (row: Found) => ({ ...wholeIn<StoredLog>(row), node: textIn(row, "node") });
      return readPage(rows, read).reverse();
    },
    spansElsewhere: async ({ from, limit }) => {
      const isElsewhere = `and ${endedAt} >= ${from} and ${chunkColumns.node} <> '${node}'`;
      const rest = `${isElsewhere} order by ended_at desc, number desc limit ${limit}`;
      const rows = await shards.searchLog(`${oneChunk}, key`, "S/", rest);
      return readPage(rows, (row) => ({ ...wholeIn<SpanChunk>(row), id: String(row.key) })).reverse();
    },
    traces: (query) => traces(shards, query),
    trace: (traceId) => trace(shards, traceId),
    keepFrom: async (counts) => ({
      logs: await numberAt(shards, "L/", logId, counts.logs),
      traces: await numberAt(shards, "T/", startAt, counts.traces),
    }),
    trim: (bounds) => trim(shards, bounds),
    countSuspended: async () => {
      const isSuspended = `and ${columns.kind} = 'workflow' and ${columns.status} = 'suspended'`;
      const [row] = await shards.search("count(*) as executions", "r/", isSuspended);
      return row === undefined ? 0 : numberIn(row, "executions");
    },
  };
}

const { step, workflowId: workflow, kind: countKind, bucket, count: counted } = rollupColumns;
const minute = number(rollupColumns.minute);
const kindAndBucket = `${countKind} as kind, ${number(bucket)} as bucket`;
const sum = `sum(${number(counted)}) as total`;

function within({ from, to, workflowId }: RollupRange, ofSteps: boolean): string {
  const isStep = `${step} ${ofSteps ? "<>" : "="} ''`;
  return `and ${minute} >= ${from} and ${minute} < ${to} and ${isStep}${isText(workflow, workflowId)}`;
}

function countIn(row: Found): { kind: RollupKind; bucket: number; count: number } {
  const kind = textIn(row, "kind");
  if (isRollupKind(kind)) return { kind, bucket: numberIn(row, "bucket"), count: numberIn(row, "total") };
  throw new TypeError(`${kind} is not a kind of count`);
}

export function rollupOperations(shards: Shards): RollupStore {
  return {
    add: (batch) => shards.write(shards.log, "addCounts", batch),
    overTime: async ({ width, ...range }) => {
      const place = `(${minute} - ${range.from}) / ${width} as place`;
      const rest = `${within(range, false)} group by place, kind, bucket`;
      const rows = await shards.searchLog(`${place}, ${kindAndBucket}, ${sum}`, "R/", rest);
      return rows.map((row) => ({ index: numberIn(row, "place"), ...countIn(row) }));
    },
    totals: async ({ of, ...range }) => {
      const rest = `${within(range, of === "steps")} group by workflow, step, kind, bucket`;
      const select = `${workflow} as workflow, ${step} as step, ${kindAndBucket}, ${sum}`;
      const rows = await shards.searchLog(select, "R/", rest);
      return rows.map((row) => {
        const names = { workflowId: textIn(row, "workflow"), step: textIn(row, "step") };
        return { ...names, ...countIn(row) };
      });
    },
    trim: async ({ executions, steps, limit }) => {
      const oldest = (to: number, ofSteps: boolean) => {
        const condition = within({ from: Number.MIN_SAFE_INTEGER, to }, ofSteps);
        return shards.trim(shards.log, "R/", condition, minute, limit);
      };
      return (await oldest(executions, false)) + (await oldest(steps, true));
    },
  };
}
