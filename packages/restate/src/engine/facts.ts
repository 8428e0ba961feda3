// The facts of agents in the state of shards: each change is a line in the shard that commits it, so that it is one write with
// the call of its tool. A search finds the lines of all shards.
import type { FactChange, KeptFact } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { columnsOf, field, optional } from "./lines.ts";

export const factColumns = columnsOf("scope subject agentId at changeId by changes whole");

/** `changes`: the facts are kept in place of the change. Else one that is kept stays, because other changes may be folded into it by now. */
export async function keepFact(
  cells: Cells,
  change: FactChange & Partial<Pick<KeptFact, "changes">>,
): Promise<void> {
  const { scope, subject, agentId, changeId, patch, by, at, changes } = change;
  const key = `fa/${JSON.stringify([scope, subject, agentId, at, changeId])}`;
  if (changes === undefined && (await cells.read(key)) !== undefined) return;
  const names = [scope, field(subject), field(agentId)];
  cells.set(key, patch, ...names, at, field(changeId), optional(by), changes ?? 1);
}

export const factWrites = { keepFact };
