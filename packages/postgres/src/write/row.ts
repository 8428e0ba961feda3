// The row of an execution as a group reads and changes it: what decisions need, without the values that may be long.
import type { ExecutionStatus } from "@andante/core/store";
import { integer, nullableInteger, nullableText, type Row, status, text, truth } from "../columns.ts";

export interface LockedRow {
  readonly executionId: string;
  readonly kind: string;
  status: ExecutionStatus;
  sequence: number;
  stepIndex: number;
  openSuspensions: number;
  paused: boolean;
  resumes: number;
  owner: string | null;
  token: string | null;
  commits: number;
  idle: boolean;
  recoveries: number;
  usage: string | null;
  endAt: number | null;
  parked: string | null;
  parkedUnder: string | null;
  definition: string | null;
}

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
];

export const lockedColumns = ["execution_id", "kind", ...changeable.map(([column]) => column)].join(", ");

export function toLocked(row: Row): LockedRow {
  return {
    executionId: text(row, "execution_id"),
    kind: text(row, "kind"),
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
    usage: nullableText(row, "usage"),
    endAt: nullableInteger(row, "end_at"),
    parked: nullableText(row, "parked"),
    parkedUnder: nullableText(row, "parked_under"),
    definition: nullableText(row, "definition"),
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
export function valuesOf(rows: readonly LockedRow[]): unknown[][] {
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
    rows.map((row) => row.usage),
    rows.map((row) => row.endAt),
    rows.map((row) => row.parked),
    rows.map((row) => row.parkedUnder),
    rows.map((row) => row.definition),
  ];
}
