// Records a commit whose row was made before it came: what most commits are.
import type { DatabaseSync } from "node:sqlite";
import type { ShortCommit } from "../packed-writes.ts";
import { moveRow } from "./move-row.ts";
import { writeKey } from "./recorded-commit.ts";

/** Returns a function that is false, and has changed nothing, when the execution is not as its owner knows it. */
export function commitShort(database: DatabaseSync) {
  const move = moveRow(database);
  return (packed: ShortCommit): boolean => {
    const [executionId, token, number, after, stepIndex, progress, row, , count, end, endAt] = packed;
    const key = writeKey({ token, number }, "ok", false);
    const which = { executionId, token, number, after, stepIndex, progress };
    return move({ ...which, row, count, key, end, endAt, usage: null });
  };
}
