// Claims an idle execution whose time has come.
import type { DatabaseSync } from "node:sqlite";
import type { Claim } from "../../store.ts";

export function wake(database: DatabaseSync) {
  const claim = database.prepare(
    `update executions set owner = ?, token = ?, idle = 0
     where execution_id = ? and idle = 1 and paused = 0 and end_at is null
       and exists (select 1 from timers where timers.execution_id = executions.execution_id and due_at <= ?)`,
  );
  return (argument: { executionId: string; now: number; claim: Claim }): boolean => {
    const { owner, token } = argument.claim;
    return Number(claim.run(owner, token, argument.executionId, argument.now).changes) === 1;
  };
}
