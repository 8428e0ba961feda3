// The virtual objects that Restate calls. A name carries a format number: the commands behind it never change.
import type { BudgetCharge, Commit } from "@andante/core/store";
import {
  type GenericSend,
  handlers,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  TerminalError,
} from "@restatedev/restate-sdk";
import { budgetReads, budgetWrites } from "./budgets.ts";
import { Cells, type StateReader, type StateWriter } from "./cells.ts";
import { conversationReads, conversationWrites } from "./conversations.ts";
import { executionWrites, Moved } from "./executions.ts";
import { factWrites } from "./facts.ts";
import { hints } from "./hints.ts";
import { keepsakeReads, keepsakeWrites } from "./keepsakes.ts";
import { keys, sets } from "./layout.ts";
import { observationWrites } from "./observations.ts";
import { executionReads } from "./reads.ts";
import { scheduleReads, scheduleWrites } from "./schedules.ts";
import { keysOfSet } from "./sets.ts";
import { json, objectSettings } from "./settings.ts";
import { signalReads, signalWrites } from "./signals.ts";
import { usageKeys, usageWrites } from "./usage.ts";

export const writes = {
  ...executionWrites,
  ...conversationWrites,
  ...factWrites,
  ...keepsakeWrites,
  ...observationWrites,
  ...usageWrites,
  ...budgetWrites,
  ...scheduleWrites,
  ...signalWrites,
};
export const reads = {
  ...budgetReads,
  ...executionReads,
  ...conversationReads,
  ...keepsakeReads,
  ...scheduleReads,
  ...signalReads,
};

export type Writes = typeof writes;
export type Reads = typeof reads;

/** One write or read of a group. */
export interface Item<Name> {
  readonly name: Name;
  readonly argument: never;
}

export interface Group<Name> {
  /** The time of the call. */
  readonly at: number;
  readonly items: readonly Item<Name>[];
}

/** The result of an item: its value, why it failed, or which shard holds its execution. */
export interface ItemResult {
  readonly value?: unknown;
  readonly error?: string;
  readonly moved?: number;
}

type Operation = (cells: Cells, argument: never, at: number) => Promise<unknown>;

async function perform(
  cells: Cells,
  items: readonly Item<string>[],
  operations: Readonly<Record<string, Operation>>,
  at: number,
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  for (const { name, argument } of items) {
    let result: ItemResult;
    try {
      const operation = operations[name];
      if (operation === undefined) throw new Error(`this release does not know the operation ${name}`);
      result = { value: await operation(cells, argument, at) };
      cells.end(true);
    } catch (error) {
      cells.end(false);
      if (cells.fault !== undefined) throw error;
      result = error instanceof Moved ? { moved: error.shard } : { error: String(error) };
    }
    results.push(result);
  }
  return results;
}

/** The values that a group needs in any case, and the sets that its writes change most often. */
function firstKeys(items: readonly Item<string>[]): string[] {
  return items.flatMap(({ name, argument }) => {
    if (["state", "head", "listed"].includes(name)) return [keys.row(argument)];
    if (name === "snapshot") return [keys.snapshot(argument)];
    const { executionId, end, idle, spent }: Partial<Pick<Commit, "executionId" | "end" | "idle" | "spent">> =
      argument ?? {};
    if (executionId === undefined) return [];
    const row = keys.row(executionId);
    const used = usageKeys(spent);
    if (["events", "waiting"].includes(name) || (name === "commit" && !end && !idle)) return [row, ...used];
    const found = [
      ...used,
      ...keysOfSet(sets.working),
      ...(name === "wake" || name === "endHandled" || idle ? keysOfSet(sets.timers) : []),
    ];
    return [row, ...found, ...(name === "resume" || name === "claim" ? [keys.leases] : [])];
  });
}

export const shardName = "AndanteShard1";

function sendCharges(
  context: Sender,
  { items, at }: { readonly items: readonly BudgetCharge[]; readonly at: number },
): void {
  context.genericSend({
    service: shardName,
    method: "write",
    key: `${context.key.slice(0, context.key.lastIndexOf("."))}.log`,
    parameter: { at, items: [{ name: "chargeBudgets", argument: items }] },
    inputSerde: json,
  });
}

interface Sender {
  readonly key: string;
  genericSend(call: GenericSend<unknown>): unknown;
}

/** Performs a group of writes. */
export async function writeGroup(
  context: StateReader & StateWriter & Sender,
  { items, at }: Group<keyof Writes>,
): Promise<ItemResult[]> {
  const cells = new Cells(context);
  await cells.load(firstKeys(items));
  const results = await perform(cells, items, writes, at);
  if (cells.charged.length > 0) sendCharges(context, { items: cells.charged, at });
  await cells.write(context);
  return results;
}

const shard = object({
  name: shardName,
  handlers: {
    write: (context: ObjectContext, group: Group<keyof Writes>) => writeGroup(context, group),
    read: handlers.object.shared(
      async (context: ObjectSharedContext, { items, at }: Group<keyof Reads>): Promise<ItemResult[]> => {
        const cells = new Cells(context);
        await cells.load(firstKeys(items));
        return await perform(cells, items, reads, at);
      },
    ),
  },
  options: objectSettings,
});

export const nodeName = "AndanteNode1";

/** A sign of life of an owner, with the shards that learn when its lease begins or ends. */
export interface Beat {
  readonly namespace: string;
  readonly shards: number;
  readonly owner: string;
  /** Its number: the delayed message with the same number ends the lease, unless a later beat has come. */
  readonly beat: number;
  /** The lease ends at once. */
  readonly isLast: boolean;
  /** The description of the process; without one that of an earlier beat stays while the lease lasts. */
  readonly about?: string | undefined;
}

interface Lease {
  /** How often it has begun or ended. */
  readonly count: number;
  readonly beat: number;
  /** The last beat whose time is over: a beat whose response was lost comes again, perhaps after its time. */
  readonly expired: number;
}

const isValid = ({ beat, expired }: Omit<Lease, "count">) => beat > expired;

/** The lease of an owner, by Restate's clock: a delayed message ends it. */
const node = object({
  name: nodeName,
  handlers: {
    beat: async (context: ObjectContext, argument: Beat): Promise<void> => {
      const { beat, isLast } = argument;
      await changeLease(context, argument, { beat, expired: isLast ? beat : 0 });
    },
    expire: async (context: ObjectContext, argument: Beat): Promise<void> => {
      const { beat, namespace } = argument;
      if (!(await changeLease(context, argument, { beat: 0, expired: beat }))) return;
      context.objectSendClient(hints, namespace).put({ sender: "", wrote: [], stop: [], offered: true });
    },
  },
  // A lease has to end even when it does while no node responds.
  options: { ...objectSettings, retryPolicy: { ...objectSettings.retryPolicy, maxAttempts: 1e9 } },
});

/** Moves a lease forward, and notes in every shard when it begins or ends by that; returns whether it does. */
async function changeLease(
  context: ObjectContext,
  of: Beat,
  { beat, expired }: Omit<Lease, "count">,
): Promise<boolean> {
  const known = await context.get<Lease>("lease");
  const before = known ?? { count: 0, beat: 0, expired: 0 };
  const after = { beat: Math.max(beat, before.beat), expired: Math.max(expired, before.expired) };
  // Also an owner whose first beat is its last has had one.
  const isChanged = known === null || isValid(after) !== isValid(before);
  const count = before.count + (isChanged ? 1 : 0);
  context.set("lease", { ...after, count } satisfies Lease);
  if (!isValid(after)) context.clear("about");
  else if (of.about !== undefined) context.set("about", of.about);
  if (isChanged) await noteLease(context, of, count, isValid(after));
  return isChanged;
}

/** Notes in every shard whether an owner is alive. A shard that has given up the call is called again. */
async function noteLease(
  context: ObjectContext,
  { namespace, shards, owner }: Beat,
  count: number,
  isAlive: boolean,
): Promise<void> {
  for (let number = 0; number < shards; )
    try {
      await context.genericCall({
        service: shardName,
        method: "write",
        key: `${namespace}.${number}`,
        parameter: { at: 0, items: [{ name: "lease", argument: { owner, count, isAlive } }] },
        inputSerde: json,
        outputSerde: json,
      });
      number += 1;
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
    }
}

export const rootName = "AndanteRoot1";

/** The number of shards of a namespace: the first node decides it. */
const root = object({
  name: rootName,
  handlers: {
    found: async (context: ObjectContext, { shards }: { shards: number }): Promise<number> => {
      const before = await context.get<number>("shards");
      if (before === null) context.set("shards", shards);
      return before ?? shards;
    },
  },
  options: objectSettings,
});

export const services = [shard, node, root, hints];
