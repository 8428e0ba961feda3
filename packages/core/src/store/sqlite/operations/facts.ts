// The facts of agents: changes are appended, read in order, and folded into one.
import type { DatabaseSync } from "node:sqlite";
import { type FactChange, type FactSubject, type KeptFact, maxFacts } from "../../fact-store.ts";
import { integer, nullableText, text } from "../columns.ts";

const of = "scope = ? and subject = ? and agent_id = ?";

export function appendFact(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into facts (scope, subject, agent_id, at, change_id, patch, changed_by, changes)
     values (?, ?, ?, ?, ?, ?, ?, 1) on conflict do nothing`,
  );
  return ({ scope, subject, agentId, at, changeId, patch, by }: FactChange): void =>
    void insert.run(scope, subject, agentId, at, changeId, patch, by);
}

export function readFacts(database: DatabaseSync) {
  const select = database.prepare(
    `select at, change_id, patch, changed_by, changes from facts where ${of}
     order by at desc, change_id desc limit ${maxFacts}`,
  );
  return ({ scope, subject, agentId }: FactSubject): KeptFact[] => {
    const rows = select.all(scope, subject, agentId).reverse();
    return rows.map((row) => ({
      changeId: text(row, "change_id"),
      patch: text(row, "patch"),
      by: nullableText(row, "changed_by"),
      at: integer(row, "at"),
      changes: integer(row, "changes"),
    }));
  };
}

export function foldFacts(database: DatabaseSync) {
  const remove = database.prepare(`delete from facts where ${of} and (at, change_id) <= (?, ?)`);
  const insert = database.prepare(
    `insert into facts (scope, subject, agent_id, at, change_id, patch, changed_by, changes)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (base: FactChange & Pick<KeptFact, "changes">): void => {
    const { scope, subject, agentId, at, changeId, patch, by, changes } = base;
    const place = [scope, subject, agentId, at, changeId] as const;
    remove.run(...place);
    insert.run(...place, patch, by, changes);
  };
}

export function removeFacts(database: DatabaseSync) {
  const remove = database.prepare("delete from facts where scope = ? and subject = ?");
  return ({ scope, subject }: Omit<FactSubject, "agentId">): void => void remove.run(scope, subject);
}
