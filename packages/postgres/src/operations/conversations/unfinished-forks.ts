// Removes the pages of forks that have not been copied to their end.
import type { Readers } from "../../connection/readers.ts";

/**
 * The beginning of a statement that also removes the forks of a condition, each with its pages: only the transaction that
 * deletes the row of a fork deletes its pages.
 */
export function dropping(s: string, condition: string): string {
  return `with dropped as (delete from ${s}.forks where ${condition} returning fork_id),
    emptied as (delete from ${s}.messages where conversation_id in (select fork_id from dropped))`;
}

/** Of one fork that was left. A page that is written meanwhile keeps it. */
export function removeUnfinishedFork(readers: Readers, s: string) {
  const oldest = `fork_id = (select fork_id from ${s}.forks where changed_at < $1 order by changed_at limit 1)`;
  const remove = `${dropping(s, `${oldest} and changed_at < $1`)} select from dropped`;
  return ({ before }: { readonly before: number }): Promise<boolean> =>
    readers.write("removeUnfinishedFork", async (query) => (await query(remove, [before])).count > 0);
}
