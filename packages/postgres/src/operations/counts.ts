// Counts executions that run or wait, and those of each process.
import type { StoreNodes, UnfinishedCount } from "@andante/core/store";
import { integer, nullableText, text, truth } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { withWork } from "./claim-abandoned.ts";

/** By workflow. Two indexes lead to these alone, however many have ended. */
export function countUnfinished(readers: Readers, s: string) {
  const count = `select workflow_id, count(*) as count from (
      select workflow_id from ${s}.executions where status = 'running' and kind = 'workflow'
      union all
      select workflow_id from ${s}.executions
      where status = 'suspended' and status <> 'running' and kind = 'workflow') as unfinished
    group by workflow_id order by workflow_id`;
  return async (): Promise<UnfinishedCount[]> =>
    (await readers.read(count, [])).map((row) => ({
      workflowId: text(row, "workflow_id"),
      count: integer(row, "count"),
    }));
}

export function countSuspended(readers: Readers, s: string) {
  const count = `select count(*) as count from ${s}.executions
    where status = 'suspended' and status <> 'running' and kind = 'workflow'`;
  return async (): Promise<number> => {
    const [row] = await readers.read(count, []);
    return row === undefined ? 0 : integer(row, "count");
  };
}

/** The processes that use the store, with the number of their executions. */
export function nodes(readers: Readers, s: string) {
  const work = `from ${s}.executions where ${withWork}`;
  const isAlive = "expires_at > clock_timestamp()";
  const select = `select owners.owner, about, ${isAlive} as alive, coalesce(claimed, 0) as executions
    from ${s}.owners left join (select owner, count(*) as claimed ${work} group by owner) as work on work.owner = owners.owner
    where ${isAlive} or claimed > 0 order by alive desc, owners.owner limit 200`;
  const unowned = `select count(*) as executions ${work} and owner is null`;
  return async (): Promise<StoreNodes> => {
    const [found, [left]] = await Promise.all([readers.read(select, []), readers.read(unowned, [])]);
    return {
      nodes: found.map((row) => ({
        owner: text(row, "owner"),
        about: nullableText(row, "about"),
        isAlive: truth(row, "alive"),
        executions: integer(row, "executions"),
      })),
      unowned: left === undefined ? 0 : integer(left, "executions"),
    };
  };
}
