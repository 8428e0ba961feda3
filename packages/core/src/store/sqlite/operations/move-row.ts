// Moves the row of an execution on with one commit, in one statement that checks the fence as well; and writes its events.
//
// Nearly every commit finds its execution as its owner knows it. Reading the row first cost a fifth of the writer's time
// with trivial steps, and `returning` what it then holds a seventh.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Commit } from "../../store.ts";
import type { StoredUsage } from "../../usage.ts";
import { insertRow } from "../journal-rows.ts";

/** A commit that opens, closes and lets go of nothing. */
export interface Move {
  readonly executionId: string;
  readonly token: string;
  readonly number: number;
  readonly stepIndex: number;
  readonly progress: boolean;
  /** The last event that the owner knows of. */
  readonly after: number;
  /** The number of events that it writes, and the text of their row. */
  readonly count: number;
  readonly row: string;
  /** The key of its row. */
  readonly key: string;
  readonly end: Commit["end"];
  readonly endAt: number;
  /** What the execution has then used; null when the commit adds nothing. */
  readonly usage: StoredUsage | null;
}

/** The owner finds its execution as it knows it. */
export const asKnown =
  "where execution_id = ? and token = ? and paused = 0 and commits = ? - 1 and sequence = ?";

/** Returns a function that is false, and has changed nothing, when the execution is not as its owner knows it. */
export function moveRow(database: DatabaseSync) {
  const insert = insertRow(database);
  // What agents have used is another column of it, where they have.
  const advancing = (more: "" | "usage = ?," = "") =>
    database.prepare(
      `update executions set ${more} commits = ?, sequence = ?, step_index = ?, recoveries = recoveries * ? ${asKnown}`,
    );
  const ending = (more: "" | "usage = ?," = "") =>
    database.prepare(
      `update executions set ${more} sequence = ?, status = ?, end_at = ?, result = ?, result_at = ?, error = ?,
         step_index = ?, owner = null, token = null, recoveries = 0
       ${asKnown} and open_suspensions = 0`,
    );
  const [advance, advanceUsing] = [advancing(), advancing("usage = ?,")];
  const [finish, finishUsing] = [ending(), ending("usage = ?,")];
  return (move: Move): boolean => {
    const { executionId, token, number, stepIndex, after, count, end, usage } = move;
    const sequence = after + count;
    const how: SQLInputValue[] = usage === null ? [] : [JSON.stringify(usage)];
    let statement: StatementSync;
    if (end === null) {
      statement = usage === null ? advance : advanceUsing;
      how.push(number, sequence, stepIndex, move.progress ? 0 : 1);
    } else {
      statement = usage === null ? finish : finishUsing;
      const resultAt = isLong(end.result) ? sequence : null;
      how.push(sequence, end.status, move.endAt, inline(end.result), resultAt, end.error, stepIndex);
    }
    if (statement.run(...how, executionId, token, number, after).changes === 0) return false;
    if (count > 0) insert.run(executionId, sequence, move.row, move.key);
    return true;
  };
}

type Result = NonNullable<Commit["end"]>["result"];

/** True when the last event holds the result: the row then says which event that is. */
export function isLong(result: Result): boolean {
  return typeof result === "object" && result !== null;
}

export function inline(result: Result): string | null {
  return typeof result === "string" ? result : null;
}
