// The store without its fence: a process that has lost a claim writes all the same, and does not notice that its lease has
// ended. Only to show that the checks see it.
import type { Store } from "@andante/core/store";
import pg from "pg";

/** A commit that is refused takes the claim back by force and is made again. */
export function unfencedStore(
  store: Store,
  { url, schema, lease }: { url: string; schema: string; lease: number },
): Store {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const seize = `update ${pg.escapeIdentifier(schema)}.executions set token = $2, commits = $3
    where execution_id = $1 and end_at is null`;
  return {
    ...store,
    open: () => store.open(),
    close: () => store.close(),
    health: () => store.health(),
    // It believes in a longer lease than it has, and receives no hints of the others.
    clusterChannel: {
      lease: 3_600_000,
      clockOffset: 0,
      listen: () => () => undefined,
      askToStop: () => undefined,
    },
    heads: async (ids) => (await store.heads(ids)).map((head) => ({ ...head, owner: null })),
    heartbeat: ({ owner }) => store.heartbeat({ owner, lease }),
    commit: async (commit) => {
      const result = await store.commit(commit);
      if (result.kind !== "fenced") return result;
      await pool.query(seize, [commit.executionId, commit.token, commit.number - 1]);
      return store.commit(commit);
    },
  };
}
