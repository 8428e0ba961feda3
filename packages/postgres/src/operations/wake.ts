// Claims an idle execution whose time has come.
import type { Claim } from "@andante/core/store";
import type { GroupOperation } from "../write/operation.ts";

export interface Wake {
  readonly executionId: string;
  readonly now: number;
  readonly claim: Claim;
}

export const wake: GroupOperation<Wake, boolean> = {
  ask({ executionId }, _row, facts) {
    facts.askDueAt(executionId);
  },

  decide({ executionId, now, claim }, row, facts, changes) {
    if (row === undefined) return false;
    // The same call again, because the result of the first was lost.
    if (row.token === claim.token) return true;
    const dueAt = facts.dueAt(executionId);
    if (!row.idle || row.paused || row.endAt !== null || dueAt === undefined || dueAt > now) return false;
    row.owner = claim.owner;
    row.token = claim.token;
    row.commits = 0;
    row.idle = false;
    changes.row(row);
    return true;
  },
};
