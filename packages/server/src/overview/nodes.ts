// The processes that share the store, and the definitions of a workflow that they have registered.
import type { Andante } from "@andante/core";
import { readOutline } from "@andante/core/internal";
import { z } from "zod";
import type { Value } from "../schemas/component.ts";
import type { definitionHistory, nodes } from "../schemas/overview-schemas.ts";

type Nodes = Value<typeof nodes>;

/** As processes write it; one of another release may leave fields out. */
const described = z.object({
  ...{ name: z.string(), pid: z.int(), startedAt: z.number(), seenAt: z.number() },
  ...{ running: z.int(), limit: z.int(), definitions: z.string() },
  ...{ cpu: z.number().nullable(), memory: z.int() },
});

export async function readNodes(andante: Andante): Promise<Nodes> {
  await andante.ready();
  const { nodes: found, unowned, self } = await andante.live.nodes();
  const all = found.map(({ owner, about, isAlive, executions }) => ({
    ...{ id: owner, isSelf: owner === self, isAlive, executions },
    process: about === null ? null : processOf(JSON.parse(about)),
  }));
  return { nodes: all, unowned };
}

function processOf(about: unknown): Nodes["nodes"][number]["process"] {
  const { data } = described.safeParse(about);
  if (data === undefined) return null;
  const [startedAt, seenAt] = [data.startedAt, data.seenAt].map((time) => new Date(time).toISOString());
  return { ...data, startedAt: startedAt ?? "", seenAt: seenAt ?? "" };
}

/** Definitions that are shown. */
const shown = 20;
/** Executions of a status whose definitions are counted. */
const mostCounted = 500;

/** `userId`: only executions of this user are counted; undefined for those of all, null for none. */
export async function readDefinitions(
  andante: Andante,
  { workflowId, userId }: { readonly workflowId: string; readonly userId: string | null | undefined },
): Promise<Value<typeof definitionHistory>> {
  await andante.ready();
  const { live, store } = andante;
  const list = async (status: "running" | "suspended") =>
    userId === null ? [] : store.list({ workflowId, status, userId, limit: mostCounted + 1 });
  const [seen, running, suspended] = await Promise.all([
    store.definitions(workflowId),
    list("running"),
    list("suspended"),
  ]);
  const open = new Map<string | null, number>();
  for (const rows of [running, suspended])
    for (const { definition } of rows.slice(0, mostCounted))
      open.set(definition, (open.get(definition) ?? 0) + 1);
  const current = live.definitionOf(workflowId);
  // A store that was restored from a backup may not know it yet.
  const known = seen.some(({ definition }) => definition === current)
    ? seen
    : [{ definition: current, firstAt: undefined, lastAt: undefined }, ...seen];
  const definitions = known.slice(0, shown).map(async ({ definition, firstAt, lastAt }) => {
    const outline = await store.outline(definition);
    return {
      definition,
      isCurrent: definition === current,
      firstAt: timeOf(firstAt),
      lastAt: timeOf(lastAt),
      open: open.get(definition) ?? 0,
      steps: outline === undefined ? null : readOutline(outline).map(({ id }) => id),
    };
  });
  const complete = [running, suspended].every((rows) => rows.length <= mostCounted);
  return { definitions: await Promise.all(definitions), complete };
}

function timeOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
