// Which tool approvals were used, and the secret that their requests are signed with.
import type { ApprovalStore } from "@andante/core/store";
import { text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

const secretName = "tool-approvals";

export function approvals(readers: Readers, s: string): ApprovalStore {
  const trim = `delete from ${s}.used_approvals where expires_at < $1`;
  const insert = `insert into ${s}.used_approvals (approval_key, expires_at, use_key)
    values ($1, $2, $3) on conflict do nothing`;
  const repeated = `select from ${s}.used_approvals where approval_key = $1 and use_key = $2`;
  const keepSecret = `insert into ${s}.secrets (name, value) values ($1, $2) on conflict do nothing`;
  const readSecret = `select value from ${s}.secrets where name = $1`;
  return {
    // Of those who try, one succeeds. Those that have expired are forgotten.
    use: ({ key, approval, expiresAt, at }) =>
      readers.write("useApproval", async (query) => {
        await query(trim, [at]);
        if ((await query(insert, [approval, expiresAt, key])).count === 1) return true;
        return (await query(repeated, [approval, key])).count === 1;
      }),
    secret: (candidate) =>
      readers.write("approvalSecret", async (query) => {
        await query(keepSecret, [secretName, candidate]);
        const [row] = (await query(readSecret, [secretName])).rows;
        return row === undefined ? candidate : text(row, "value");
      }),
  };
}
