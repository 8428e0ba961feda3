// Claims an idle execution whose time has come.
import type { DatabaseSync } from "node:sqlite";
import type { Claim } from "../../store.ts";

export function wake(database: DatabaseSync) {
  const claim = database.prepare(
    `update executions set owner = ?, token = ?, commits = 0, idle = 0
     where execution_id = ? and idle = 1 and paused = 0 and end_at is null
       and exists (select 1 from timers where timers.execution_id = executions.execution_id and due_at <= ?)`,
  );
  const isClaimed = database.prepare("select 1 from executions where execution_id = ? and token = ?");
  return (argument: { executionId: string; now: number; claim: Claim }): boolean => {
    const { executionId, now } = argument;
    const { owner, token } = argument.claim;
    if (Number(claim.run(owner, token, executionId, now).changes) === 1) return true;
    // The same call again, because the reply to the first was lost.
    return isClaimed.get(executionId, token) !== undefined;
  };
}
