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
import type { Found, Shards } from "../client/shards.ts";
import { column, columns, field, literal, numberColumn, optional } from "../engine/lines.ts";
import { chunkColumns, logColumns, rollupColumns, rootColumns } from "../engine/observations.ts";
import { numberIn, textIn } from "./executions.ts";

/** The value that a line holds whole. */
function wholeIn<Value>(row: Found): Value {
  const text = row.whole;
  const value: Value = JSON.parse(typeof text === "string" ? text : "null");
  return value;
}

const logId = numberColumn(logColumns.id);
const wholeLog = `${column(logColumns.whole)} as whole`;
const startAt = numberColumn(rootColumns.startAt);
const rootSpan = column(rootColumns.rootSpanId);
const wholeRoot = `${column(rootColumns.whole)} as whole`;
const endedAt = numberColumn(chunkColumns.timestamp);
const chunkNumber = numberColumn(chunkColumns.number);
const wholeChunk = `${column(chunkColumns.whole)} as whole`;

function equal(position: number, value: string | undefined): string {
  return value === undefined ? "" : ` and ${column(position)} = ${literal(optional(value))}`;
}

function compared(expression: string, operator: string, value: number | undefined): string {
  return value === undefined ? "" : ` and ${expression} ${operator} ${value}`;
}

async function logs(shards: Shards, query: LogQuery): Promise<readonly StoredLog[]> {
  const conditions = [
    compared(numberColumn(logColumns.level), ">=", query.level),
    equal(logColumns.workflowId, query.workflowId),
    equal(logColumns.executionId, query.executionId),
    equal(logColumns.agentId, query.agentId),
    equal(logColumns.conversationId, query.conversationId),
    equal(logColumns.userId, query.userId),
    compared(logId, ">=", query.from),
    compared(logId, "<=", query.upTo),
  ];
  const rest = `${conditions.join("")} order by id desc limit ${query.limit}`;
  const rows = await shards.searchLog(`${wholeLog}, ${logId} as id`, "L/", rest);
  return readPage(rows, (row) => wholeIn<StoredLog>(row)).reverse();
}

async function traces(shards: Shards, query: TraceQuery): Promise<readonly TraceRoot[]> {
  const { entityType, entityId, executionId, userId, status, from, to, before, limit, length } = query;
  const isText = (position: number, value: string | undefined) =>
    value === undefined ? "" : ` and ${column(position)} = ${literal(field(value))}`;
  const conditions = [
    isText(rootColumns.entityType, entityType),
    isText(rootColumns.entityId, entityId),
    equal(rootColumns.executionId, executionId),
    equal(rootColumns.userId, userId),
    isText(rootColumns.status, status),
    compared(startAt, ">=", from),
    compared(startAt, "<", to),
    before === undefined
      ? ""
      : ` and (${startAt} < ${before.startAt}
           or (${startAt} = ${before.startAt} and ${rootSpan} < ${literal(before.rootSpanId)}))`,
  ];
  const rest = `${conditions.join("")} order by start_at desc, span desc limit ${limit}`;
  const rows = await shards.searchLog(
    `${wholeRoot}, ${startAt} as start_at, ${rootSpan} as span`,
    "T/",
    rest,
  );
  return readPage(rows, (row) => wholeIn<TraceRoot>(row), length);
}

async function trace(shards: Shards, traceId: string) {
  const [roots, chunks] = await Promise.all([
    shards.searchLog(
      `${wholeRoot}, ${startAt} as start_at, ${rootSpan} as span`,
      "T/",
      `and ${column(rootColumns.traceId)} = ${literal(traceId)} order by start_at, span limit 1000`,
    ),
    shards.searchLog(
      `${wholeChunk}, ${endedAt} as ended_at, ${chunkNumber} as number`,
      "S/",
      `and ${column(chunkColumns.traceId)} = ${literal(traceId)} order by ended_at, number`,
    ),
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
  const oldest = (prefix: string, expression: string, from: number) =>
    shards.searchLog(
      `key, ${expression} as place`,
      prefix,
      `and ${expression} < ${from} order by place limit ${limit}`,
    );
  const keyOf = (row: Found) => String(row.key);
  const oldLogs = (await oldest("L/", logId, fromLog)).map(keyOf);
  const oldRoots = (await oldest("T/", startAt, fromTrace)).map(keyOf);
  const spans = oldRoots.map((key) => `${literal(key.split("/").at(-1) ?? "")}`);
  const withRoots =
    spans.length === 0
      ? []
      : await shards.searchLog(
          "key",
          "S/",
          `and ${column(chunkColumns.rootSpanId)} in (${spans.join(", ")})`,
        );
  const gone = new Set(withRoots.map(keyOf));
  const oldChunks = (await oldest("S/", endedAt, fromTrace)).map(keyOf).filter((key) => !gone.has(key));
  const removed = [...oldLogs, ...oldRoots, ...oldChunks];
  if (removed.length > 0) await shards.write(shards.log, "clearKeys", [...removed, ...gone]);
  return removed.length;
}

export function observationOperations(shards: Shards): ObservationStore {
  const node = randomUUID();
  let chunkCount = 0;
  const isElsewhere = (position: number) => `and ${column(position)} <> '${node}'`;
  return {
    append: (batch) => {
      const chunks = batch.chunks.map((chunk) => ({ ...chunk, number: ++chunkCount }));
      return shards.write(shards.log, "observe", { ...batch, chunks, node });
    },
    logs: (query) => logs(shards, query),
    logsElsewhere: async ({ from, limit }) => {
      const other = column(logColumns.node);
      const rows = await shards.searchLog(
        `${wholeLog}, ${logId} as id, ${other} as node`,
        "L/",
        `and ${logId} >= ${from} ${isElsewhere(logColumns.node)} order by id desc limit ${limit}`,
      );
      const read = (row: Found) => ({ ...wholeIn<StoredLog>(row), node: textIn(row, "node") });
      return readPage(rows, read).reverse();
    },
    spansElsewhere: async ({ from, limit }) => {
      const rows = await shards.searchLog(
        `${wholeChunk}, key, ${endedAt} as ended_at, ${chunkNumber} as number`,
        "S/",
        `and ${endedAt} >= ${from} ${isElsewhere(chunkColumns.node)}
         order by ended_at desc, number desc limit ${limit}`,
      );
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
      const isSuspended = `${column(columns.kind)} = 'workflow' and ${column(columns.status)} = 'suspended'`;
      const [row] = await shards.search("count(*) as executions", "x/", `and ${isSuspended}`);
      return row === undefined ? 0 : numberIn(row, "executions");
    },
  };
}

const minute = numberColumn(rollupColumns.minute);
const step = column(rollupColumns.step);
const places = [
  `${column(rollupColumns.workflowId)} as workflow`,
  `${step} as step`,
  `${column(rollupColumns.kind)} as kind`,
  `${numberColumn(rollupColumns.bucket)} as bucket`,
].join(", ");
const sum = `sum(${numberColumn(rollupColumns.count)}) as total`;

function within({ from, to, workflowId }: RollupRange, ofSteps: boolean): string {
  const isWorkflow =
    workflowId === undefined
      ? ""
      : ` and ${column(rollupColumns.workflowId)} = ${literal(field(workflowId))}`;
  return `and ${minute} >= ${from} and ${minute} < ${to} and ${step} ${ofSteps ? "<>" : "="} ''${isWorkflow}`;
}

function kindIn(row: Found): RollupKind {
  const kind = textIn(row, "kind");
  if (isRollupKind(kind)) return kind;
  throw new TypeError(`${kind} is not a kind of count`);
}

export function rollupOperations(shards: Shards): RollupStore {
  return {
    add: (batch) => shards.write(shards.log, "addCounts", batch),
    overTime: async ({ width, ...range }) => {
      const rows = await shards.searchLog(
        `(${minute} - ${range.from}) / ${width} as place, ${places}, ${sum}`,
        "R/",
        `${within(range, false)} group by place, workflow, step, kind, bucket`,
      );
      const points = new Map<string, { index: number; kind: RollupKind; bucket: number; count: number }>();
      for (const row of rows) {
        const point = { index: numberIn(row, "place"), kind: kindIn(row), bucket: numberIn(row, "bucket") };
        const key = JSON.stringify(point);
        const count = (points.get(key)?.count ?? 0) + numberIn(row, "total");
        points.set(key, { ...point, count });
      }
      return [...points.values()];
    },
    totals: async ({ of, ...range }) => {
      const rest = `${within(range, of === "steps")} group by workflow, step, kind, bucket`;
      const rows = await shards.searchLog(`${places}, ${sum}`, "R/", rest);
      return rows.map((row) => ({
        workflowId: textIn(row, "workflow"),
        step: textIn(row, "step"),
        kind: kindIn(row),
        bucket: numberIn(row, "bucket"),
        count: numberIn(row, "total"),
      }));
    },
    trim: async ({ executions, steps, limit }) => {
      const oldest = async (to: number, ofSteps: boolean) => {
        const range = { from: Number.MIN_SAFE_INTEGER, to };
        const rest = `${within(range, ofSteps)} order by place limit ${limit}`;
        return await shards.searchLog(`key, ${minute} as place`, "R/", rest);
      };
      const rows = [...(await oldest(executions, false)), ...(await oldest(steps, true))];
      const removed = rows.map((row) => String(row.key));
      if (removed.length > 0) await shards.write(shards.log, "clearKeys", removed);
      return removed.length;
    },
  };
}
