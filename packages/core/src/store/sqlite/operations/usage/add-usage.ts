// Adds usage to the rows that are there: within a commit, and in batches of calls that have no commit.
import type { DatabaseSync } from "node:sqlite";
import { usageCountColumns, usageKeyColumns, usageValues } from "../../../sql/usage-rows.ts";
import type { UsageBatch, UsageEntry } from "../../../usage-store.ts";

/** Returns a function that adds entries; it prepares its statement for the first ones. */
export function addEntries(database: DatabaseSync) {
  const columns = [...usageKeyColumns, ...usageCountColumns];
  const sums = usageCountColumns.map((column) => `${column} = ${column} + excluded.${column}`);
  const prepare = () =>
    database.prepare(
      `insert into usage (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})
       on conflict (${usageKeyColumns.join(", ")}) do update set ${sums.join(", ")}`,
    );
  let add: ReturnType<typeof prepare> | undefined;
  return (entries: readonly UsageEntry[]): void => {
    add ??= prepare();
    for (const entry of entries) add.run(...usageValues(entry));
  };
}

export function addUsage(database: DatabaseSync) {
  const begin = database.prepare(
    `insert into usage_writers (writer, number, day) values (?, ?, ?)
     on conflict (writer) do update set number = excluded.number, day = excluded.day
       where number < excluded.number`,
  );
  const add = addEntries(database);
  return ({ writer, number, entries }: UsageBatch): void => {
    const newest = entries.reduce((last, { day }) => Math.max(last, day), 0);
    if (begin.run(writer, number, newest).changes === 1) add(entries);
  };
}
