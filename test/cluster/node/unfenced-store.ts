// The store without its fence: whoever has lost a claim writes all the same. Only to show that the checks see it.
import type { Store } from "@andante/core/store";
import pg from "pg";

/** A commit that is refused takes the claim back by force and is made again. */
export function unfencedStore(store: Store, { url, schema }: { url: string; schema: string }): Store {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const seize = `update ${pg.escapeIdentifier(schema)}.executions set token = $2, commits = $3
    where execution_id = $1 and end_at is null`;
  return {
    ...store,
    open: () => store.open(),
    close: () => store.close(),
    health: () => store.health(),
    commit: async (commit) => {
      const result = await store.commit(commit);
      if (result.kind !== "fenced") return result;
      await pool.query(seize, [commit.executionId, commit.token, commit.number - 1]);
      return store.commit(commit);
    },
  };
}
