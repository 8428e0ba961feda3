// Notes that an approval was used: of those who try, one succeeds. Those that have expired are forgotten.
import type { DatabaseSync } from "node:sqlite";
import type { UseApproval } from "../../../approval-store.ts";

export function useApproval(database: DatabaseSync) {
  const trim = database.prepare("delete from used_approvals where expires_at < ?");
  const insert = database.prepare(
    "insert into used_approvals (approval_key, expires_at, use_key) values (?, ?, ?) on conflict do nothing",
  );
  const repeated = database.prepare("select 1 from used_approvals where approval_key = ? and use_key = ?");
  return ({ key, approval, expiresAt, at }: UseApproval): boolean => {
    trim.run(at);
    if (insert.run(approval, expiresAt, key).changes === 1) return true;
    return repeated.get(approval, key) !== undefined;
  };
}
