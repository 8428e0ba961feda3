// The stores without their fence: a process that has lost a claim writes all the same, and does not notice that its lease
// has ended. Only to show that the checks see it.
import { decisions, type Store } from "@andante/core/store";
import pg from "pg";
import type { NodeSettings } from "./settings.ts";

/** A commit that is refused takes the claim back by force and is made again. */
export function unfencedPostgres(store: Store, settings: NodeSettings): Store {
  const pool = new pg.Pool({ connectionString: settings.url, max: 2 });
  const seize = `update ${pg.escapeIdentifier(settings.schema)}.executions set token = $2, commits = $3
    where execution_id = $1 and end_at is null`;
  return {
    ...unaware(store, settings),
    commit: async (commit) => {
      const result = await store.commit(commit);
      if (result.kind !== "fenced") return result;
      await pool.query(seize, [commit.executionId, commit.token, commit.number - 1]);
      return store.commit(commit);
    },
  };
}

/** The same, where Restate calls this process to decide: a decision that refuses decides again with the claim in the row. */
export function unfencedRestate(store: Store, settings: NodeSettings): Store {
  const { decide, ...rest } = decisions.commit;
  decisions.commit = {
    ...rest,
    decide: (commit, record, facts, changes) => {
      const result = decide(commit, record, facts, changes);
      if (result.kind !== "fenced" || record === undefined) return result;
      const seized = { ...record, token: commit.token, commits: commit.number - 1 };
      return decide(commit, seized, facts, changes);
    },
  };
  return unaware(store, settings);
}

/** It believes in a longer lease than it has, and receives no hints of the others. */
function unaware(store: Store, { lease }: NodeSettings): Store {
  return {
    ...store,
    open: () => store.open(),
    close: () => store.close(),
    health: () => store.health(),
    clusterChannel: {
      lease: 3_600_000,
      clockOffset: 0,
      listen: () => () => undefined,
      askToStop: () => undefined,
    },
    heads: async (ids) => (await store.heads(ids)).map((head) => ({ ...head, owner: null })),
    heartbeat: ({ owner }) => store.heartbeat({ owner, lease }),
  };
}
