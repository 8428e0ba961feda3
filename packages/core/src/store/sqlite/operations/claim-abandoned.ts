// Claims executions that have work to do and no live owner, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { ClaimAbandoned, ClaimedExecution } from "../../store.ts";
import { shortColumns, text, toClaimed } from "../columns.ts";
import { leaseTime } from "./heartbeat.ts";

export function claimAbandoned(database: DatabaseSync) {
  // The index is named: left alone the planner goes through every execution that the workflows ever had, which held the
  // writer up for 175 ms at a million of them; through the index it is 0.3 ms.
  const select = database.prepare(
    `select execution_id from executions indexed by executions_with_work
     where idle = 0 and end_at is null and parked is null
       and (kind = 'workflow' and workflow_id in (select value from json_each(?))
         or kind = 'turn' and agent_id in (select value from json_each(?)))
       and execution_id not in (select value from json_each(?))
       and (recoveries >= ?) = ?
       and (token is null or not exists (select 1 from owners where owners.owner = executions.owner and expires_at > ?))
     order by recoveries * ?, start_at, execution_id limit ?`,
  );
  const selectOne = database.prepare(
    `select execution_id from executions
     where execution_id = ? and idle = 0 and end_at is null and parked is null and (recoveries >= ?) = ?
       and (token is null or not exists (select 1 from owners where owners.owner = executions.owner and expires_at > ?))`,
  );
  // A claim that was given back in order, or whose owner never had a heartbeat, is not a crash and does not count.
  const claim = database.prepare(
    `update executions set
       recoveries = recoveries + (token is not null and owner in (select owner from owners)),
       owner = ?, token = ?, commits = 0
     where execution_id = ? returning ${shortColumns}`,
  );
  // The same call again, because the reply to the first was lost: its claims begin with the key.
  const claimedBefore = database.prepare(
    `select ${shortColumns}, token from executions indexed by executions_with_work
     where idle = 0 and end_at is null and parked is null and owner = ? and substr(token, 1, length(?)) = ?`,
  );
  return (query: ClaimAbandoned): { row: ClaimedExecution; token: string }[] => {
    const { owner, key, limit, suspectAfter } = query;
    const before = claimedBefore.all(owner, key, key);
    if (before.length > 0) return before.map((row) => ({ row: toClaimed(row), token: text(row, "token") }));
    const suspects = query.suspects ? 1 : 0;
    const now = leaseTime();
    const ids = JSON.stringify(query.workflowIds);
    const agents = JSON.stringify(query.agentIds ?? []);
    const except = JSON.stringify(query.except ?? []);
    const found =
      query.only === undefined
        ? select.all(ids, agents, except, suspectAfter, suspects, now, suspects, limit)
        : selectOne.all(query.only, suspectAfter, suspects, now);
    const claimed: { row: ClaimedExecution; token: string }[] = [];
    for (const [index, row] of found.entries()) {
      const token = `${key}.${index}`;
      const taken = claim.get(owner, token, text(row, "execution_id"));
      if (taken !== undefined) claimed.push({ row: toClaimed(taken), token });
    }
    return claimed;
  };
}
