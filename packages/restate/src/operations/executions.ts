// The operations on executions that need more than one call: claims and times over all shards, lists, deletion.
import { readPage } from "@andante/core/internal";
import type {
  ClaimAbandoned,
  DeleteFinished,
  DueTimer,
  ListQuery,
  OwnedClaim,
  Store,
  StoreNode,
  StoreNodes,
  WaitingQuery,
  WaitingSuspension,
} from "@andante/core/store";
import { each, type Shards } from "../client/shards.ts";
import { keys } from "../engine/layout.ts";
import { field, tagField } from "../engine/lines.ts";
import { columns, waitingColumns } from "../engine/read-row.ts";
import { byOrder, byStart, byTime } from "../engine/reads.ts";
import { beyond, compared, isOptional, isText, literal, number, numberIn, textIn, wholeIn } from "./sql.ts";

const { executionId: id, kind: executionKind, endAt: endText, tags, trace, workflowId: workflow } = columns;
const startAt = number(columns.startAt);
const hour = 3_600_000;
const endAt = number(endText);
const isWorkflow = `and ${executionKind} = 'workflow'`;

/** Whether a query finds nothing, suspects and others together: most do, on an idle node. */
async function isNothingLeft(shards: Shards, { except: _, ...query }: ClaimAbandoned) {
  const { workflowIds, agentIds } = query;
  const any = { ...query, suspects: false, suspectAfter: Number.MAX_SAFE_INTEGER, limit: 100 };
  const found = await shards.look("abandoned", any, JSON.stringify([workflowIds, agentIds]));
  return found.every((its) => its.length === 0);
}

/** Calls whose choices are remembered. */
const maxChoices = 100;

type Choices = Map<string, readonly Omit<OwnedClaim, "startAt">[]>;

/** A call that is repeated with its key, because the result was lost, claims the same executions. */
async function claimAbandoned(shards: Shards, choices: Choices, query: ClaimAbandoned) {
  const { owner, key } = query;
  const chosen = choices.get(key) ?? (await choose(shards, query));
  if (choices.size >= maxChoices) choices.clear();
  if (chosen.length > 0) choices.set(key, chosen);
  return await each(chosen, ({ executionId, token }) =>
    shards.write(executionId, "claim", { executionId, owner, token }),
  );
}

/** The first executions of all shards that the query may claim, with their new tokens. */
async function choose(shards: Shards, query: ClaimAbandoned) {
  const { key, suspects, limit, only } = query;
  if (only === undefined && (await isNothingLeft(shards, query))) return [];
  const found = (await shards.readAll("abandoned", query)).flat().sort(byOrder(suspects));
  const first = found.slice(0, only === undefined ? limit : 1);
  return first.map(([, , executionId], index) => ({ executionId, token: `${key}.${index}` }));
}

async function list(shards: Shards, query: ListQuery) {
  const { before, limit, length, tag, idPrefix = "", from, to, executionId, traceId } = query;
  // A trace of its own has no name.
  if (traceId === "") return [];
  const conditions = [
    isWorkflow,
    isText(workflow, query.workflowId),
    isText(columns.status, query.status),
    isOptional(columns.userId, query.userId),
    // By its key: Restate's planner refuses an order by a field that a condition makes constant.
    executionId === undefined ? "" : ` and key = ${literal(keys.row(executionId))}`,
    isOptional(trace, traceId),
    isOptional(columns.replayOf, query.replayOf),
    isText(columns.parked, query.parked ? "parked" : undefined),
    query.traced ? ` and ${trace} <> ''` : "",
    tag === undefined ? "" : ` and strpos(${tags}, ${literal(tagField(tag))}) > 0`,
    idPrefix === "" ? "" : ` and starts_with(${id}, ${literal(field(idPrefix))})`,
    compared(startAt, ">=", from),
    compared(startAt, "<", to),
    beyond("<", [startAt, id], before && [before.startAt, before.executionId]),
  ];
  const rest = `${conditions.join("")} order by start_at desc, id desc limit ${limit}`;
  const rows = await shards.search(`${id} as id, ${startAt} as start_at`, "r/", rest);
  const ids = rows.map((row) => textIn(row, "id"));
  return readPage(await each(ids, (found) => shards.read(found, "listed", found)), (row) => row, length);
}

async function waiting(shards: Shards, query: WaitingQuery) {
  const { workflowId, agentId, userId, suspensionIds, after, limit, length } = query;
  const { suspensionId, executionId: execution } = waitingColumns;
  const at = number(waitingColumns.suspendedAt);
  const conditions = [
    isText(waitingColumns.workflowId, workflowId),
    isOptional(waitingColumns.agentId, agentId),
    isOptional(waitingColumns.userId, userId),
    suspensionIds === undefined ? "" : ` and key in (${suspensionIds.map(waitingKey).join(", ")})`,
    beyond(">", [at, suspensionId], after && [after.suspendedAt, after.suspensionId]),
  ];
  if (suspensionIds?.length === 0) return [];
  const select = `${at} as at, ${suspensionId} as suspension, ${execution} as execution`;
  const rest = `${conditions.join("")} order by at, suspension limit ${limit}`;
  const whole = query.brief ? `, ${waitingColumns.whole} as whole` : "";
  const rows = await shards.search(select + whole, "y/", rest);
  if (query.brief) return rows.map((row) => wholeIn<WaitingSuspension>(row));
  const found = await each(rows, (row) => {
    const executionId = textIn(row, "execution");
    return shards.read(executionId, "waiting", { executionId, suspensionId: textIn(row, "suspension") });
  });
  return readPage(found, (each) => each, length);
}

const waitingKey = (suspensionId: string) => literal(keys.waiting(suspensionId));

async function countUnfinished(shards: Shards) {
  const rest = `${isWorkflow} and ${endText} = '' group by ${workflow} order by workflow`;
  const rows = await shards.search(`${workflow} as workflow, count(*) as executions`, "r/", rest);
  return rows.map((row) => ({ workflowId: textIn(row, "workflow"), count: numberIn(row, "executions") }));
}

const ended = `${id} as id, ${endAt} as end_at`;

async function endedBeyond(shards: Shards, keep: number) {
  const rest = `${isWorkflow} and ${endText} <> '' order by end_at desc, id desc limit 1 offset ${keep}`;
  const [row] = await shards.search(ended, "r/", rest);
  return row && { endAt: numberIn(row, "end_at"), executionId: textIn(row, "id") };
}

async function deleteFinished(shards: Shards, { kind = "workflow", upTo, limit, events }: DeleteFinished) {
  const isOld = beyond("<=", [endAt, id], [upTo.endAt, upTo.executionId]);
  const isEnded = `and ${executionKind} = '${kind}' and ${endText} <> ''${isOld}`;
  const rows = await shards.search(ended, "r/", `${isEnded} order by end_at, id limit ${limit}`);
  const executionIds: string[] = [];
  let left = events;
  for (const executionId of rows.map((row) => textIn(row, "id"))) {
    executionIds.push(executionId);
    const dropped = await shards.write(executionId, "drop", { executionId, events: left });
    left -= dropped.events;
    if (dropped.isGone) await shards.forget(executionId);
    if (left <= 0 || !dropped.isGone) return { executionIds, more: true };
  }
  return { executionIds, more: rows.length >= limit };
}

async function unpark(
  shards: Shards,
  { workflowId, definition, own = false }: Parameters<Store["unpark"]>[0],
) {
  const parked = (await shards.readAll("parked", { workflowId, definition, own })).flat();
  const unparked = parked.map((executionId) =>
    shards.write(executionId, "unpark", { executionId, definition, own }),
  );
  await Promise.all(unparked);
}

/** The shards count their own executions. */
async function nodes(shards: Shards): Promise<StoreNodes> {
  const found = new Map<string, { readonly isAlive: boolean; readonly executions: number }>();
  const [counts, descriptions] = await Promise.all([shards.readAll("owners", null), shards.descriptions()]);
  for (const [owner, isAlive, executions] of counts.flat()) {
    const before = found.get(owner);
    found.set(owner, {
      isAlive: isAlive || (before?.isAlive ?? false),
      executions: executions + (before?.executions ?? 0),
    });
  }
  const unowned = found.get("")?.executions ?? 0;
  found.delete("");
  const aboutOf = (owner: string) => descriptions.get(owner) ?? null;
  const all = [...found].map(([owner, counted]) => ({ owner, about: aboutOf(owner), ...counted }));
  const isBefore = (one: StoreNode, other: StoreNode) =>
    Number(other.isAlive) - Number(one.isAlive) || (one.owner < other.owner ? -1 : 1);
  return { nodes: all.sort(isBefore).slice(0, 200), unowned };
}

function withShards(timers: readonly DueTimer[], shard: number): readonly DueTimer[] {
  return timers.map((timer) =>
    timer.kind === "signal" ? { ...timer, executionId: `${shard}:${timer.executionId}` } : timer,
  );
}

/** The kinds of due timers that share a limit. */
const limitOf: Readonly<Record<DueTimer["kind"], string>> = {
  ...{ timer: "timer", end: "timer", schedule: "schedule", delivery: "schedule", signal: "signal" },
  ...{ deadline: "limit", timeout: "limit" },
};

export function executionOperations(shards: Shards) {
  /** The definitions that are kept for good. */
  const defined = new Set<string>();
  /** When this process last noted a definition of a workflow. */
  const notedAt = new Map<string, number>();
  const choices: Choices = new Map();
  return {
    create: (made) => shards.write(made.executionId, "create", made),
    commit: (commit) => shards.write(commit.executionId, "commit", commit),
    pause: (pause) => shards.write(pause.executionId, "pause", pause),
    resume: (resume) => shards.write(resume.executionId, "resume", resume),
    cancel: (cancel) => shards.write(cancel.executionId, "cancel", cancel),
    wake: (wake) => shards.write(wake.executionId, "wake", wake),
    endHandled: (ended) => shards.write(ended.executionId, "endHandled", ended),
    release: (release) => shards.write(release.executionId, "release", release),
    park: (park) => shards.write(park.executionId, "park", park),
    adopt: (adopt) => shards.write(adopt.executionId, "adopt", adopt),
    keepSnapshot: (snapshot) => shards.write(snapshot.executionId, "keepSnapshot", snapshot),
    heartbeat: (beat) => shards.heartbeat(beat),
    claimAbandoned: (query) => claimAbandoned(shards, choices, query),
    claims: async (query) => (await shards.look("claims", query)).flat().sort(byStart).slice(0, query.limit),
    due: async (query) => {
      // Each question about a backlog is another one.
      const of = await (query.after === undefined ? shards.look("due", query) : shards.readAll("due", query));
      // Work is found again by the shard that holds it.
      const found = of.flatMap(withShards).sort(byTime);
      const first = [...Map.groupBy(found, ({ kind }) => limitOf[kind]).values()];
      return first.flatMap((each) => each.slice(0, query.limit)).sort(byTime);
    },
    state: (executionId) => shards.read(executionId, "state", executionId),
    heads: (executionIds) => each([...new Set(executionIds)], (executionId) => shards.head(executionId)),
    events: (query) => shards.read(query.executionId, "events", query),
    snapshot: (executionId) => shards.read(executionId, "snapshot", executionId),
    list: (query) => list(shards, query),
    waiting: (query) => waiting(shards, query),
    define: async ({ seen, ...made }) => {
      if (!defined.has(made.definition)) await shards.write(made.definition, "define", made);
      defined.add(made.definition);
      const place = `${seen?.workflowId} ${made.definition}`;
      if (seen === undefined || seen.at < (notedAt.get(place) ?? Number.NEGATIVE_INFINITY) + hour) return;
      await shards.write(seen.workflowId, "defined", { ...seen, definition: made.definition });
      notedAt.set(place, seen.at);
    },
    definitions: (workflowId) => shards.read(workflowId, "definitions", workflowId),
    nodes: () => nodes(shards),
    outline: (definition) => shards.read(definition, "outline", definition),
    unpark: (query) => unpark(shards, query),
    countUnfinished: () => countUnfinished(shards),
    endedBeyond: ({ keep }) => endedBeyond(shards, keep),
    deleteFinished: (query) => deleteFinished(shards, query),
    compact: async () => ({ more: false }),
  } satisfies Partial<Store>;
}
