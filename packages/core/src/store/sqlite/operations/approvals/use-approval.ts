// Notes that an approval was used: of those who try, one succeeds. Those that have expired are forgotten.
import type { DatabaseSync } from "node:sqlite";
import type { UseApproval } from "../../../approval-store.ts";

export function useApproval(database: DatabaseSync) {
  const trim = database.prepare("delete from used_approvals where expires_at < ?");
  const insert = database.prepare(
    "insert into used_approvals (approval_key, expires_at) values (?, ?) on conflict do nothing",
  );
  return ({ key, expiresAt, at }: UseApproval): boolean => {
    trim.run(at);
    return insert.run(key, expiresAt).changes === 1;
  };
}
