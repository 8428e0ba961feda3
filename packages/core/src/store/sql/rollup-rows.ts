// Rows of counts over time as the contract names them, in any SQL database.
import { isRollupKind, type RollupPoint, type RollupTotal } from "../rollup-store.ts";
import { integer, type Row, text } from "./columns.ts";

export function toPoint(row: Row): RollupPoint {
  return { index: integer(row, "point"), ...countOf(row) };
}

export function toTotal(row: Row): RollupTotal {
  return { workflowId: text(row, "workflow_id"), step: text(row, "step"), ...countOf(row) };
}

function countOf(row: Row) {
  const kind = text(row, "kind");
  if (!isRollupKind(kind)) throw new TypeError(`unknown kind ${kind}`);
  return { kind, bucket: integer(row, "bucket"), count: integer(row, "count") };
}
