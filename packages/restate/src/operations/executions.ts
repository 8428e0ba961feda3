// The operations on executions that need more than one call: claims and times over all shards, lists, deletion.
import { readPage } from "@andante/core/internal";
import type {
  ClaimAbandoned,
  DeleteFinished,
  ListQuery,
  Store,
  WaitingQuery,
  WaitingSuspension,
} from "@andante/core/store";
import type { Found } from "../client/ingress.ts";
import type { Shards } from "../client/shards.ts";
import { keys } from "../engine/layout.ts";
import { columns, field, tagField, waitingColumns } from "../engine/lines.ts";
import { bySuspension } from "../engine/read-row.ts";
import { byOrder, byStart, byTime } from "../engine/reads.ts";
import {
  beyond,
  compared,
  isOptional,
  isText,
  literal,
  number,
  numberIn,
  optionalIn,
  textIn,
} from "./sql.ts";

const { executionId: id, kind: executionKind, endAt: endText, tags, trace, workflowId: workflow } = columns;
const startAt = number(columns.startAt);
const endAt = number(endText);
const isWorkflow = `and ${executionKind} = 'workflow'`;

/** Calls `read` with the ids of each shard; the results in any order. */
async function byShard<Value>(
  shards: Shards,
  ids: readonly string[],
  read: (shard: number, ids: readonly string[]) => Promise<readonly Value[]>,
): Promise<Value[]> {
  const groups = new Map<number, string[]>();
  for (const each of ids) groups.set(shards.of(each), [...(groups.get(shards.of(each)) ?? []), each]);
  return (await Promise.all([...groups].map(([shard, its]) => read(shard, its)))).flat();
}

/** Whether a query finds nothing, suspects and others together: most do, on an idle node. */
async function isNothingLeft(shards: Shards, { except: _, ...query }: ClaimAbandoned) {
  const { workflowIds, agentIds } = query;
  const any = { ...query, suspects: false, suspectAfter: Number.MAX_SAFE_INTEGER, limit: 100 };
  const found = await shards.look("abandoned", any, JSON.stringify([workflowIds, agentIds]));
  return found.every((its) => its.length === 0);
}

async function claimAbandoned(shards: Shards, query: ClaimAbandoned) {
  const { owner, key, suspects, limit, only } = query;
  if (only === undefined && (await isNothingLeft(shards, query))) return [];
  const candidates = await shards.readAll("abandoned", query);
  for (const [shard, its] of candidates.entries())
    for (const { executionId } of its) shards.noteMoved(executionId, shard);
  const found = candidates.flat().sort(byOrder(suspects));
  const own = found.filter(({ isOwn }) => isOwn);
  const chosen =
    own.length > 0
      ? own
      : found
          .slice(0, only === undefined ? limit : 1)
          .map(({ executionId, ...rest }, index) => ({ ...rest, executionId, token: `${key}.${index}` }));
  const ids = chosen.map(({ executionId }) => executionId);
  const claimed = await byShard(shards, ids, (shard, its) => {
    const claims = chosen.filter(({ executionId }) => its.includes(executionId));
    return shards.write(shard, "claim", { owner, claims });
  });
  const byId = new Map(claimed.map((each) => [each.row.executionId, each]));
  return ids.flatMap((executionId) => byId.get(executionId) ?? []);
}

async function heads(shards: Shards, executionIds: readonly string[]) {
  const ask = async (shard: number, ids: readonly string[]) => [await shards.read(shard, "heads", ids)];
  const first = await byShard(shards, [...new Set(executionIds)], ask);
  const moved = first.flatMap((each) => each.moved);
  for (const [executionId, shard] of moved) shards.noteMoved(executionId, shard);
  const elsewhere = await byShard(
    shards,
    moved.map(([executionId]) => executionId),
    ask,
  );
  return [...first, ...elsewhere].flatMap((each) => each.heads);
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
    executionId === undefined ? "" : ` and key = ${literal(keys.line(executionId))}`,
    isOptional(trace, traceId),
    query.traced ? ` and ${trace} <> ''` : "",
    tag === undefined ? "" : ` and strpos(${tags}, ${literal(tagField(tag))}) > 0`,
    idPrefix === "" ? "" : ` and starts_with(${id}, ${literal(field(idPrefix))})`,
    compared(startAt, ">=", from),
    compared(startAt, "<", to),
    beyond("<", [startAt, id], before && [before.startAt, before.executionId]),
  ];
  const rest = `${conditions.join("")} order by start_at desc, id desc limit ${limit}`;
  const rows = await shards.search(`${id} as id, ${startAt} as start_at`, "x/", rest);
  const ids = rows.map((row) => textIn(row, "id"));
  const found = await byShard(shards, ids, (shard, its) => shards.read(shard, "listed", its));
  const newestFirst = found.sort((a, b) => byStart(b, a));
  return readPage(newestFirst, (row) => row, length);
}

async function waiting(shards: Shards, query: WaitingQuery) {
  const { workflowId, userId, suspensionIds, after, limit, length } = query;
  const { suspensionId, executionId: execution } = waitingColumns;
  const at = number(waitingColumns.suspendedAt);
  const conditions = [
    isText(waitingColumns.workflowId, workflowId),
    isOptional(waitingColumns.userId, userId),
    suspensionIds === undefined ? "" : ` and key in (${suspensionIds.map(waitingKey).join(", ")})`,
    beyond(">", [at, suspensionId], after && [after.suspendedAt, after.suspensionId]),
  ];
  if (suspensionIds?.length === 0) return [];
  const select = `${at} as at, ${suspensionId} as suspension, ${execution} as execution, service_key as shard`;
  const rest = `${conditions.join("")} order by at, suspension limit ${limit}`;
  if (query.brief) return (await shards.search(`${select}, ${briefSelect}`, "y/", rest)).map(briefOf);
  const wanted = (await shards.search(select, "y/", rest)).map((row) => {
    const executionId = textIn(row, "execution");
    shards.noteMoved(executionId, Number(textIn(row, "shard").split(".").at(-1)));
    return { executionId, suspensionId: textIn(row, "suspension") };
  });
  const ids = [...new Set(wanted.map(({ executionId }) => executionId))];
  const found = await byShard(shards, ids, (shard, its) => {
    const here = wanted.filter(({ executionId }) => its.includes(executionId));
    return shards.read(shard, "waiting", here);
  });
  const sorted = found.sort((a, b) => bySuspension(a.suspension, b.suspension));
  return readPage(sorted, (each) => each, length);
}

const waitingKey = (suspensionId: string) => literal(keys.waitingLine(suspensionId));
const briefNames = [
  "workflowId",
  "userId",
  "conversationId",
  "agentId",
  "startAt",
  "deadline",
  "stepIndex",
  "path",
] as const;
const briefSelect = briefNames.map((name) => `${waitingColumns[name]} as ${name.toLowerCase()}`).join(", ");

/** A suspension from its line alone. */
function briefOf(row: Found): WaitingSuspension {
  const deadline = textIn(row, "deadline");
  return {
    executionId: textIn(row, "execution"),
    workflowId: textIn(row, "workflowid"),
    userId: optionalIn(row, "userid"),
    conversationId: optionalIn(row, "conversationid"),
    agentId: optionalIn(row, "agentid"),
    startAt: numberIn(row, "startat"),
    suspension: {
      suspensionId: textIn(row, "suspension"),
      path: optionalIn(row, "path"),
      stepIndex: numberIn(row, "stepindex"),
      reason: "",
      data: null,
      suspendedAt: numberIn(row, "at"),
      deadline: deadline === "" ? null : Number(deadline),
      onDeadline: null,
    },
  };
}

async function countUnfinished(shards: Shards) {
  const rest = `${isWorkflow} and ${endText} = '' group by ${workflow} order by workflow`;
  const rows = await shards.search(`${workflow} as workflow, count(*) as executions`, "x/", rest);
  return rows.map((row) => ({ workflowId: textIn(row, "workflow"), count: numberIn(row, "executions") }));
}

const ended = `${id} as id, ${endAt} as end_at`;

async function endedBeyond(shards: Shards, keep: number) {
  const rest = `${isWorkflow} and ${endText} <> '' order by end_at desc, id desc limit 1 offset ${keep}`;
  const [row] = await shards.search(ended, "x/", rest);
  return row && { endAt: numberIn(row, "end_at"), executionId: textIn(row, "id") };
}

async function deleteFinished(shards: Shards, { kind = "workflow", upTo, limit, events }: DeleteFinished) {
  const isOld = beyond("<=", [endAt, id], [upTo.endAt, upTo.executionId]);
  const isEnded = `and ${executionKind} = '${kind}' and ${endText} <> ''${isOld}`;
  const rows = await shards.search(ended, "x/", `${isEnded} order by end_at, id limit ${limit}`);
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

export function executionOperations(shards: Shards) {
  /** The definitions that are kept for good. */
  const defined = new Set<string>();
  return {
    create: (made) => shards.write(made.executionId, "create", made),
    commit: (commit) => shards.write(commit.executionId, "commit", commit),
    pause: (pause) => shards.write(pause.executionId, "pause", pause),
    resume: (resume) => shards.write(resume.executionId, "resume", resume),
    cancel: (cancel) => shards.write(cancel.executionId, "cancel", cancel),
    wake: (wake) => shards.write(wake.executionId, "wake", wake),
    release: (release) => shards.write(release.executionId, "release", release),
    park: (park) => shards.write(park.executionId, "park", park),
    adopt: (adopt) => shards.write(adopt.executionId, "adopt", adopt),
    keepSnapshot: (snapshot) => shards.write(snapshot.executionId, "keepSnapshot", snapshot),
    heartbeat: (beat) => shards.heartbeat(beat),
    claimAbandoned: (query) => claimAbandoned(shards, query),
    claims: async (query) => (await shards.look("claims", query)).flat().sort(byStart).slice(0, query.limit),
    due: async (query) => {
      const found = (await shards.look("due", query)).flat().sort(byTime);
      const isTimer = ({ kind }: (typeof found)[number]) => kind === "timer";
      const first = [found.filter(isTimer), found.filter((each) => !isTimer(each))];
      return first.flatMap((each) => each.slice(0, query.limit)).sort(byTime);
    },
    state: (executionId) => shards.read(executionId, "state", executionId),
    heads: (executionIds) => heads(shards, executionIds),
    events: (query) => shards.read(query.executionId, "events", query),
    snapshot: (executionId) => shards.read(executionId, "snapshot", executionId),
    list: (query) => list(shards, query),
    waiting: (query) => waiting(shards, query),
    define: async (made) => {
      if (!defined.has(made.definition)) await shards.write(made.definition, "define", made);
      defined.add(made.definition);
    },
    outline: (definition) => shards.read(definition, "outline", definition),
    unpark: (query) => unpark(shards, query),
    countUnfinished: () => countUnfinished(shards),
    endedBeyond: ({ keep }) => endedBeyond(shards, keep),
    deleteFinished: (query) => deleteFinished(shards, query),
    compact: async () => ({ more: false }),
  } satisfies Partial<Store>;
}
