// Lists the claims of one owner, page by page.
import type { OwnedClaim, Store } from "@andante/core/store";
import { integer, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { withWork } from "./claim-abandoned.ts";

export function claimsStatement(s: string): string {
  return `select execution_id, start_at, token from ${s}.executions
    where ${withWork} and owner = $1 and token is not null and (start_at, execution_id) > ($2, $3)
    order by start_at, execution_id limit $4`;
}

export function claims(readers: Readers, s: string): Store["claims"] {
  const select = claimsStatement(s);
  return async ({ owner, after, limit }) => {
    const from = [after?.startAt ?? Number.MIN_SAFE_INTEGER, after?.executionId ?? ""];
    const rows = await readers.read(select, [owner, ...from, limit]);
    return rows.map(
      (row): OwnedClaim => ({
        executionId: text(row, "execution_id"),
        startAt: integer(row, "start_at"),
        token: text(row, "token"),
      }),
    );
  };
}
