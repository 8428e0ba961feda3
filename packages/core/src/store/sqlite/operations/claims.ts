// Lists the claims of one owner, page by page.
import type { DatabaseSync } from "node:sqlite";
import type { ClaimsQuery, OwnedClaim } from "../../store.ts";
import { integer, text } from "../columns.ts";

export function claims(database: DatabaseSync) {
  const select = database.prepare(
    `select execution_id, start_at, token from executions indexed by executions_with_work
     where idle = 0 and end_at is null and parked is null and owner = ? and token is not null
       and (start_at, execution_id) > (?, ?)
     order by start_at, execution_id limit ?`,
  );
  return ({ owner, after, limit }: ClaimsQuery): OwnedClaim[] => {
    const from = [after?.startAt ?? Number.MIN_SAFE_INTEGER, after?.executionId ?? ""];
    return select.all(owner, ...from, limit).map((row) => ({
      executionId: text(row, "execution_id"),
      startAt: integer(row, "start_at"),
      token: text(row, "token"),
    }));
  };
}
