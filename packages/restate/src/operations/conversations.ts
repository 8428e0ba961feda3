// The operations on conversations: those of one shard, lists by SQL, and copies from one shard to another.
import { readPage } from "@andante/core/internal";
import type {
  BeginTurn,
  ConversationQuery,
  ConversationStore,
  ForkConversation,
  ForkResult,
  Store,
} from "@andante/core/store";
import { each, type Shards } from "../client/shards.ts";
import { conversationColumns, forkColumns, lower } from "../engine/conversations.ts";
import { field } from "../engine/lines.ts";
import { columns } from "../engine/read-row.ts";
import { removeFacts } from "./facts.ts";
import { beyond, isOptional, isText, literal, number, textIn } from "./sql.ts";

const { conversationId: id } = conversationColumns;
const updatedAt = number(conversationColumns.updatedAt);
const place = `${id} as id, ${updatedAt} as updated_at`;

async function list(shards: Shards, query: ConversationQuery) {
  const { userId, agentId, title = "", before, limit, length } = query;
  const conditions = [
    isOptional(conversationColumns.userId, userId),
    isText(conversationColumns.agentId, agentId),
    title === "" ? "" : ` and strpos(${conversationColumns.title}, ${literal(lower(field(title)))}) > 0`,
    beyond("<", [updatedAt, id], before && [before.updatedAt, before.conversationId]),
  ];
  const rest = `${conditions.join("")} order by updated_at desc, id desc limit ${limit}`;
  const rows = await shards.search(place, "cv/", rest);
  const ids = rows.map((row) => textIn(row, "id"));
  const found = await each(ids, (conversationId) =>
    shards.read(conversationId, "conversation", { conversationId }),
  );
  return readPage(found, (row) => row, length);
}

/** Deletes the facts and the turns of a conversation that is removed. `live`: the turn that went with it. */
async function removeTurns(shards: Shards, conversationId: string, live: string | null): Promise<void> {
  if (live !== null) await shards.forget(live, shards.of(conversationId));
  await removeFacts(shards, { scope: "conversation", subject: conversationId });
  const rest = `and ${columns.kind} = 'turn'${isOptional(columns.conversationId, conversationId)}`;
  const rows = await shards.search(`${columns.executionId} as id`, "r/", rest);
  for (const row of rows) {
    const executionId = textIn(row, "id");
    await shards.write(executionId, "drop", { executionId, events: Number.MAX_SAFE_INTEGER });
    await shards.forget(executionId);
  }
}

async function removeUnchanged(shards: Shards, { before, limit }: { before: number; limit: number }) {
  // Some of them may have a turn that runs.
  const rest = `and ${updatedAt} < ${before} order by updated_at, id limit ${limit + 100}`;
  const rows = await shards.search(place, "cv/", rest);
  const removed: string[] = [];
  for (const conversationId of rows.map((row) => textIn(row, "id"))) {
    if (removed.length === limit) break;
    const gone = await shards.write(conversationId, "removeUnchanged", { conversationId, before });
    if (gone === undefined) continue;
    await removeTurns(shards, conversationId, gone.turn);
    removed.push(conversationId);
  }
  return removed;
}

async function removeUnfinishedFork(shards: Shards, before: number): Promise<boolean> {
  const changedAt = number(forkColumns.changedAt);
  const rest = `and ${changedAt} < ${before} order by changed_at limit 1`;
  const [row] = await shards.search(`${forkColumns.forkId} as id, ${changedAt} as changed_at`, "fk/", rest);
  if (row === undefined) return false;
  const forkId = textIn(row, "id");
  return await shards.write(forkId, "removeOldFork", { forkId, before });
}

/** Reads a page at the source and keeps it at the copy: a page of a source that was changed meanwhile starts over. */
async function fork(shards: Shards, argument: ForkConversation): Promise<ForkResult> {
  const { key, forkId, copyId, conversationId, at } = argument;
  const first = await shards.read(forkId, "forkResult", key);
  if (first !== undefined) return first;
  for (;;) {
    const { isTaken, fork: under } = await shards.read(forkId, "forkState", forkId);
    const from = under?.copyId === copyId ? under : undefined;
    const read = await shards.read(conversationId, "readForkPage", { ...argument, from });
    if (read === "missing") return { kind: "missing" };
    if (isTaken) return { kind: "taken" };
    if (read === "too-long") return { kind: "too-long" };
    const after = from?.revision === read.revision ? from.copied : 0;
    const kept = await shards.write(forkId, "keepForkPage", { key, forkId, copyId, page: read, after, at });
    if (kept !== undefined) return kept;
  }
}

export function conversationOperations(shards: Shards): ConversationStore {
  return {
    post: (message) => shards.write(message.conversationId, "post", message),
    recent: (query) => shards.read(query.conversationId, "recent", query),
    messages: (query) => shards.read(query.conversationId, "messages", query),
    read: (which) => shards.read(which.conversationId, "conversation", which),
    list: (query) => list(shards, query),
    change: (change) => shards.write(change.conversationId, "change", change),
    fork: (argument) => fork(shards, argument),
    removeUnfinishedFork: ({ before }) => removeUnfinishedFork(shards, before),
    remove: async (which) => {
      const removed = await shards.write(which.conversationId, "remove", which);
      if (removed !== undefined) await removeTurns(shards, which.conversationId, removed.turn);
      return removed !== undefined;
    },
    queue: (which) => shards.read(which.conversationId, "queue", which),
    leaveQueue: (which) => shards.write(which.conversationId, "leaveQueue", which),
    leftQueues: async (asked) => {
      const found = (await shards.look("leftQueues", asked)).flat().sort((a, b) => a.at - b.at);
      return found.slice(0, asked.limit).map(({ at: _, ...left }) => left);
    },
    removeSummary: (which) => shards.write(which.conversationId, "removeSummary", which),
    removeUnchanged: (which) => removeUnchanged(shards, which),
  };
}

export function turnOperations(shards: Shards) {
  return {
    beginTurn: async (argument: BeginTurn) => {
      const { executionId, conversationId } = argument.turn;
      await shards.point(executionId, shards.of(conversationId));
      const result = await shards.write(conversationId, "beginTurn", argument);
      // It has an id of its own, which nothing else will ask for.
      if (result.kind !== "begun") await shards.forget(executionId);
      shards.wrote(executionId);
      return result;
    },
    endTurn: async (end) => {
      const result = await shards.write(end.reply.conversationId, "endTurn", end);
      shards.wrote(end.commit.executionId);
      return result;
    },
    liveTurn: (conversationId) => shards.read(conversationId, "liveTurn", conversationId),
  } satisfies Partial<Store>;
}

export function approvalOperations(shards: Shards): Store["approvals"] {
  return {
    use: (approval) => shards.write(approval.approval, "useApproval", approval),
    secret: (candidate) => shards.write(0, "secret", candidate),
  };
}
