// Keeps which values of a workflow's executions are not searched. When that changes, the index starts over: it passes
// over executions whose entries are up to date.
import type { DatabaseSync } from "node:sqlite";
import type { SearchRules } from "../../../search-store.ts";

export function defineSearch(database: DatabaseSync) {
  const define = database.prepare(
    `insert into search_rules (workflow_id, exclude, version) values (?, ?, 1)
     on conflict (workflow_id) do update set exclude = excluded.exclude, version = version + 1
       where exclude <> excluded.exclude
     returning version`,
  );
  const startOver = database.prepare("delete from search_cursors where list = 'start'");
  return (rules: readonly SearchRules[]): void => {
    let isChanged = false;
    for (const { workflowId, exclude } of rules) {
      const row = define.get(workflowId, JSON.stringify(exclude));
      isChanged ||= row !== undefined && row.version !== 1;
    }
    if (isChanged) startOver.run();
  };
}
