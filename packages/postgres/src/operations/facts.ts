// The facts of agents: changes are appended, read in order, and folded into one.
import { type FactStore, maxFacts } from "@andante/core/store";
import { integer, nullableText, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { factStatement } from "../write/changes.ts";

export function facts(readers: Readers, s: string): FactStore {
  const of = "scope = $1 and subject = $2 and agent_id = $3";
  const select = `select at, change_id, patch, changed_by, changes from ${s}.facts where ${of}
    order by at desc, change_id desc limit ${maxFacts}`;
  const clear = `delete from ${s}.facts where ${of} and (at, change_id) < ($4, $5)`;
  const keep = `insert into ${s}.facts (scope, subject, agent_id, at, change_id, patch, changed_by, changes)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (scope, subject, agent_id, at, change_id)
      do update set patch = excluded.patch, changes = excluded.changes`;
  const remove = `delete from ${s}.facts where scope = $1 and subject = $2`;
  return {
    append: async (change) => {
      await readers.write("appendFact", (query) => query(...factStatement(s, [change])));
    },
    read: readers.forCallers(async ({ scope, subject, agentId }) => {
      const rows = await readers.read(select, [scope, subject, agentId]);
      const found = rows.map((row) => ({
        changeId: text(row, "change_id"),
        patch: text(row, "patch"),
        by: nullableText(row, "changed_by"),
        at: integer(row, "at"),
        changes: integer(row, "changes"),
      }));
      return found.reverse();
    }),
    fold: ({ scope, subject, agentId, at, changeId, patch, by, changes }) =>
      readers.write("foldFacts", async (query) => {
        const place = [scope, subject, agentId, at, changeId];
        await query(keep, [...place, patch, by, changes]);
        await query(clear, place);
      }),
    remove: async ({ scope, subject }) => {
      await readers.write("removeFacts", (query) => query(remove, [scope, subject]));
    },
  };
}
