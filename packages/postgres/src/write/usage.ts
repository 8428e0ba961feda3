// Adds usage of models to the rows that are there.
import { usageCountColumns, usageKeyColumns, usageValues } from "@andante/core/internal";
import type { UsageEntry } from "@andante/core/store";
import type { Statement } from "../connection/parameters.ts";

const columns = [...usageKeyColumns, ...usageCountColumns];
const types = columns.map((column) =>
  column === "day" ? "integer" : usageKeyColumns.some((key) => key === column) ? "text" : "bigint",
);

/** A column of text cannot hold a NUL. Adds entries, each key once and in one order on every node: two that add to the same rows do not wait in a circle. */
export function spendStatement(s: string, entries: readonly UsageEntry[]): Statement {
  const rows = entries.map((entry) =>
    usageValues(entry).map((value) => (typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value)),
  );
  return [spendText(s), columns.map((_, index) => rows.map((row) => row[index]))];
}

function spendText(s: string): string {
  const given = types.map((type, index) => `$${index + 1}::${type}[]`).join(", ");
  const sums = usageCountColumns.map((column) => `${column} = usage.${column} + excluded.${column}`);
  return `insert into ${s}.usage (${columns.join(", ")}) select * from unnest(${given})
    on conflict (${usageKeyColumns.join(", ")}) do update set ${sums.join(", ")}`;
}
