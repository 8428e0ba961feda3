// Definitions, approvals and the secret, which are kept once, and the number of processes.
import type { SeenDefinition, UseApproval } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { keys, type Leases } from "./layout.ts";

async function define(
  cells: Cells,
  { definition, outline }: { definition: string; outline: string },
): Promise<void> {
  const key = `f/${definition}`;
  if ((await cells.read<string>(key)) === undefined) cells.set(key, outline);
}

/** The definitions of a workflow by their last registration. */
const historyOf = (workflowId: string) => `h/${workflowId}`;
const keptDefinitions = 100;

async function defined(
  cells: Cells,
  { workflowId, definition, at }: { workflowId: string; definition: string; at: number },
): Promise<void> {
  const known = (await cells.read<SeenDefinition[]>(historyOf(workflowId))) ?? [];
  const firstAt = known.find((each) => each.definition === definition)?.firstAt ?? at;
  const others = known.filter((each) => each.definition !== definition);
  const all = [{ definition, firstAt, lastAt: at }, ...others];
  cells.set(historyOf(workflowId), all.slice(0, keptDefinitions));
}

/** Uses by approval, each with its key and the time when the request expires. */
type Uses = Record<string, [key: string, expiresAt: number]>;

async function useApproval(cells: Cells, { key, approval, expiresAt, at }: UseApproval): Promise<boolean> {
  const before = (await cells.read<Uses>("approvals")) ?? {};
  const uses: Uses = Object.fromEntries(Object.entries(before).filter(([, [, expires]]) => expires >= at));
  const use = uses[approval] ?? [key, expiresAt];
  cells.set("approvals", { ...uses, [approval]: use });
  return use[0] === key;
}

async function secret(cells: Cells, candidate: string): Promise<string> {
  const before = await cells.read<string>("secret");
  if (before === undefined) cells.set("secret", candidate);
  return before ?? candidate;
}

/** Notes which shard holds a turn; null: none any more. */
async function point(cells: Cells, { id, shard }: { id: string; shard: number | null }): Promise<void> {
  if (shard === null) cells.clear(keys.moved(id));
  else cells.set(keys.moved(id), shard);
}

export const keepsakeWrites = { define, defined, useApproval, secret, point };

export const keepsakeReads = {
  outline: (cells: Cells, definition: string) => cells.read<string>(`f/${definition}`),
  definitions: async (cells: Cells, workflowId: string): Promise<readonly SeenDefinition[]> =>
    (await cells.read<SeenDefinition[]>(historyOf(workflowId))) ?? [],
  /** The processes whose leases have not ended. */
  nodes: async (cells: Cells, _: null): Promise<number> =>
    Object.values((await cells.read<Leases>(keys.leases)) ?? {}).filter(([, isAlive]) => isAlive).length,
};
