// The operations on facts: a change is written to one shard, and read from all of them by SQL.
import { type FactStore, type FactSubject, type KeptFact, maxFacts } from "@andante/core/store";
import type { Found } from "../client/ingress.ts";
import type { Shards } from "../client/shards.ts";
import { factColumns } from "../engine/facts.ts";
import { isText, number, numberIn, textIn, wholeIn } from "./sql.ts";

/** A change, and where it is kept. */
interface FoundFact {
  readonly shard: number;
  readonly key: string;
  readonly fact: KeptFact;
}

const { scope, subject, agentId, changeId, by, changes, whole } = factColumns;
const at = number(factColumns.at);
const selected = `service_key as shard, key, ${at} as at, ${changeId} as change_id, ${by} as changed_by,
  ${number(changes)} as changes, ${whole} as whole`;

function found(row: Found): FoundFact {
  // Null and a text are different fields.
  const changedBy = textIn(row, "changed_by");
  return {
    shard: Number(textIn(row, "shard").split(".").at(-1)),
    key: String(row.key),
    fact: {
      changeId: textIn(row, "change_id"),
      patch: wholeIn(row),
      by: changedBy === "" ? null : changedBy.slice(1),
      at: numberIn(row, "at"),
      changes: numberIn(row, "changes"),
    },
  };
}

/** The newest changes first. */
async function search(
  shards: Shards,
  of: Omit<FactSubject, "agentId"> & { readonly agentId?: string },
): Promise<FoundFact[]> {
  const conditions = `${isText(scope, of.scope)}${isText(subject, of.subject)}${isText(agentId, of.agentId)}`;
  const rest = `${conditions} order by at desc, change_id desc limit ${maxFacts}`;
  return (await shards.search(selected, "fa/", rest)).map(found);
}

/** One write to each shard that holds some of them. */
async function drop(shards: Shards, facts: readonly FoundFact[]): Promise<void> {
  for (const [shard, some] of Map.groupBy(facts, (each) => each.shard)) {
    const keys = some.map(({ key }) => key);
    await shards.write(shard, "clearKeys", keys);
  }
}

/** Removes the facts of a user or a conversation. */
export async function removeFacts(shards: Shards, which: Omit<FactSubject, "agentId">): Promise<void> {
  for (;;) {
    const some = await search(shards, which);
    await drop(shards, some);
    if (some.length < maxFacts) return;
  }
}

export function factOperations(shards: Shards): FactStore {
  return {
    append: (change) => shards.write(change.subject, "keepFact", change),
    read: async (of) => (await search(shards, of)).reverse().map(({ fact }) => fact),
    fold: async (base) => {
      const rows = await search(shards, base);
      const place = rows.findIndex(({ fact }) => fact.changeId === base.changeId && fact.at === base.at);
      const last = rows[place];
      if (last === undefined) return;
      // Changes before it do not count from now on, whether they are there or not.
      await shards.write(last.shard, "keepFact", base);
      await drop(shards, rows.slice(place + 1));
    },
    remove: (which) => removeFacts(shards, which),
  };
}
