// The facts of agents in the state of shards: each change is a line in the shard that commits it, so that it is one write with
// the call of its tool. A search finds the lines of all shards.
import type { FactChange, KeptFact } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { columnsOf, field, optional } from "./lines.ts";

export const factColumns = columnsOf("scope subject agentId at changeId by changes whole");

const factKey = (changeId: string) => `fa/${changeId}`;

/** Keeps a change; one with the same id in this shard is replaced. */
export function keepFact(cells: Cells, change: FactChange & Partial<Pick<KeptFact, "changes">>): void {
  const { scope, subject, agentId, changeId, patch, by, at, changes = 1 } = change;
  const names = [scope, field(subject), field(agentId)];
  cells.set(factKey(changeId), patch, ...names, at, field(changeId), optional(by), changes);
}

export const factWrites = {
  keepFact: async (cells: Cells, change: FactChange & Partial<Pick<KeptFact, "changes">>): Promise<void> =>
    keepFact(cells, change),
  dropFacts: async (cells: Cells, changeIds: readonly string[]): Promise<void> => {
    for (const changeId of changeIds) cells.clear(factKey(changeId));
  },
};
