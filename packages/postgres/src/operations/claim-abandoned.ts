// Claims executions that have work to do and no live owner, oldest first.
//
// First the owners of executions with work are listed, by leaps through their index, and those whose lease has ended are
// picked out; then only their executions are read. So running executions are not read, however many they are.
import type { ClaimAbandoned, ClaimedExecution, Store } from "@andante/core/store";
import { columnsOf, shortColumns, text, toClaimed } from "../columns.ts";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";

type Claimed = { readonly row: ClaimedExecution; readonly token: string };

export const withWork = "not idle and end_at is null and parked is null";
const columns = columnsOf("executions", shortColumns);

export function deadOwnersStatement(s: string): string {
  const next = (condition: string) =>
    `select owner from ${s}.executions where ${withWork} and ${condition} order by owner limit 1`;
  return `with recursive known (owner) as (
      (${next("owner is not null")})
      union all
      select (${next("owner > known.owner")}) from known where known.owner is not null)
    select owner from known where owner is not null and not exists (
      select from ${s}.owners where owners.owner = known.owner and expires_at > clock_timestamp())`;
}

/** $1 dead owners, $2 and $3 are only counted on with `suspects`, $4 workflows, $5 agents, $6 exceptions, $7 limit. */
export function abandonedStatement(s: string): string {
  return `select execution_id from ${s}.executions
    where ${withWork} and (owner is null or owner = any($1)) and (recoveries >= $2::bigint) = $3
      and (kind = 'workflow' and workflow_id = any($4) or kind = 'turn' and agent_id = any($5))
      and execution_id <> all($6)
    order by case when $3 then recoveries else 0 end, start_at, execution_id limit $7 for update skip locked`;
}

/** Releases the claims of a call whose result was lost; waits as long as the database fails. */
function giveBackClaims(readers: Readers, s: string) {
  const update = `update ${s}.executions set owner = null, token = null
    where ${withWork} and owner = $1 and left(token, length($2)) = $2`;
  return ({ owner, key }: ClaimAbandoned): Promise<unknown> =>
    readers.write("release", (query) => query(update, [owner, `${key}.`]), { patient: true });
}

export function claimAbandoned(readers: Readers, s: string): Store["claimAbandoned"] {
  const giveBack = giveBackClaims(readers, s);
  const selectOne = `select execution_id from ${s}.executions
    where ${withWork} and (owner is null or owner = any($1)) and (recoveries >= $2::bigint) = $3 and execution_id = $4
    for update skip locked`;
  // The same call again, because the result of the first was lost: its claims begin with the key.
  const claimedBefore = `select ${columns}, token from ${s}.executions
    where ${withWork} and owner = $1 and left(token, length($2)) = $2`;
  // A claim that was given back in order, or whose owner never had a heartbeat, is not a crash and does not count.
  const crashed = `executions.token is not null and executions.owner in (select owners.owner from ${s}.owners)`;
  const claim = `update ${s}.executions
    set recoveries = recoveries + (${crashed})::integer, owner = $1, token = claims.token, commits = 0
    from unnest($2::text[], $3::text[]) as claims (execution_id, token)
    where executions.execution_id = claims.execution_id returning ${columns}, executions.token`;

  const find = async (query: Query, asked: ClaimAbandoned): Promise<string[]> => {
    const { suspectAfter, suspects, workflowIds, agentIds = [], except = [], limit, only } = asked;
    const dead = (await query(deadOwnersStatement(s), [], "planned")).rows.map((row) => text(row, "owner"));
    const how = [dead, suspectAfter, suspects];
    const { rows } =
      only === undefined
        ? await query(abandonedStatement(s), [...how, workflowIds, agentIds, except, limit], "planned")
        : await query(selectOne, [...how, only]);
    return rows.map((row) => text(row, "execution_id"));
  };

  const claimOnce = (asked: ClaimAbandoned): Promise<Claimed[]> =>
    readers.write("claimAbandoned", async (query) => {
      const { owner, key } = asked;
      const before = await query(claimedBefore, [owner, key]);
      if (before.count > 0)
        return before.rows.map((row) => ({ row: toClaimed(row), token: text(row, "token") }));
      const ids = await find(query, asked);
      if (ids.length === 0) return [];
      const tokens = ids.map((_, index) => `${key}.${index}`);
      const { rows } = await query(claim, [owner, ids, tokens]);
      const claimed = new Map(
        rows.map((row) => [text(row, "token"), { row: toClaimed(row), token: text(row, "token") }]),
      );
      return tokens.flatMap((token) => claimed.get(token) ?? []);
    });

  return async (asked) => {
    try {
      return await claimOnce(asked);
    } catch (error) {
      // It is uncertain whether it was committed: if so, no process runs its claims. Once closed, the lease ends them.
      giveBack(asked).catch(() => {});
      throw error;
    }
  };
}
