// Reads the records that decisions change from locked rows, and writes them back.
import type { ExecutionRecord } from "@andante/core/store";
import {
  integer,
  nullableInteger,
  nullableText,
  type Row,
  readFreeText,
  readUsage,
  status,
  text,
  truth,
  writeFreeText,
} from "../columns.ts";

/** The columns that a group may change, with their types, in the order of `valuesOf`. */
const changeable: readonly (readonly [column: string, type: string])[] = [
  ["status", "text"],
  ["sequence", "bigint"],
  ["step_index", "integer"],
  ["open_suspensions", "integer"],
  ["paused", "boolean"],
  ["resumes", "integer"],
  ["owner", "text"],
  ["token", "text"],
  ["commits", "bigint"],
  ["idle", "boolean"],
  ["recoveries", "integer"],
  ["usage", "text"],
  ["end_at", "bigint"],
  ["parked", "text"],
  ["parked_under", "text"],
  ["definition", "text"],
  ["links", "text"],
];

export const lockedColumns = ["execution_id", "kind", ...changeable.map(([column]) => column)].join(", ");

export function toRecord(row: Row): ExecutionRecord {
  return {
    executionId: text(row, "execution_id"),
    kind: row.kind === "turn" ? "turn" : "workflow",
    status: status(row),
    sequence: integer(row, "sequence"),
    stepIndex: integer(row, "step_index"),
    openSuspensions: integer(row, "open_suspensions"),
    paused: truth(row, "paused"),
    resumes: integer(row, "resumes"),
    owner: nullableText(row, "owner"),
    token: nullableText(row, "token"),
    commits: integer(row, "commits"),
    idle: truth(row, "idle"),
    recoveries: integer(row, "recoveries"),
    usage: readUsage(row.usage),
    endAt: nullableInteger(row, "end_at"),
    parked: row.parked === null ? null : readFreeText(text(row, "parked")),
    parkedUnder: nullableText(row, "parked_under"),
    definition: nullableText(row, "definition"),
    links: nullableText(row, "links"),
  };
}

/** Writes all changeable columns of several rows. */
export function updateRows(schema: string): string {
  const set = changeable.map(([column]) => `${column} = changed.${column}`).join(", ");
  const columns = changeable.map(([column]) => column).join(", ");
  const arrays = changeable.map(([, type], index) => `$${index + 2}::${type}[]`).join(", ");
  return `update ${schema}.executions set ${set}
    from unnest($1::text[], ${arrays}) as changed (execution_id, ${columns})
    where executions.execution_id = changed.execution_id`;
}

/** The arrays that `updateRows` takes. */
export function valuesOf(rows: readonly ExecutionRecord[]): unknown[][] {
  return [
    rows.map((row) => row.executionId),
    rows.map((row) => row.status),
    rows.map((row) => row.sequence),
    rows.map((row) => row.stepIndex),
    rows.map((row) => row.openSuspensions),
    rows.map((row) => row.paused),
    rows.map((row) => row.resumes),
    rows.map((row) => row.owner),
    rows.map((row) => row.token),
    rows.map((row) => row.commits),
    rows.map((row) => row.idle),
    rows.map((row) => row.recoveries),
    rows.map((row) => row.usage && JSON.stringify(row.usage)),
    rows.map((row) => row.endAt),
    rows.map((row) => (row.parked === null ? null : writeFreeText(row.parked))),
    rows.map((row) => row.parkedUnder),
    rows.map((row) => row.definition),
    rows.map((row) => row.links),
  ];
}
