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
import type { Shards } from "../client/shards.ts";
import { conversationColumns, lower } from "../engine/conversations.ts";
import { column, columns, field, literal, numberColumn, optional } from "../engine/lines.ts";
import { claiming, textIn } from "./executions.ts";

const updatedAt = numberColumn(conversationColumns.updatedAt);
const id = column(conversationColumns.conversationId);

async function list(shards: Shards, query: ConversationQuery) {
  const { userId, agentId, title, before, limit, length } = query;
  const conditions = [
    userId === undefined ? "" : ` and ${column(conversationColumns.userId)} = ${literal(optional(userId))}`,
    agentId === undefined ? "" : ` and ${column(conversationColumns.agentId)} = ${literal(field(agentId))}`,
    title === undefined || title === ""
      ? ""
      : ` and strpos(${column(conversationColumns.title)}, ${literal(lower(field(title)))}) > 0`,
    before === undefined
      ? ""
      : ` and (${updatedAt} < ${before.updatedAt}
           or (${updatedAt} = ${before.updatedAt} and ${id} < ${literal(field(before.conversationId))}))`,
  ];
  const rows = await shards.search(
    `${id} as id, ${updatedAt} as updated_at`,
    "z/",
    `${conditions.join("")} order by updated_at desc, id desc limit ${limit}`,
  );
  const found = await Promise.all(
    rows.map((row) => {
      const conversationId = textIn(row, "id");
      return shards.read(conversationId, "conversation", { conversationId });
    }),
  );
  return readPage(
    found.filter((row) => row !== undefined),
    (row) => row,
    length,
  );
}

/** Deletes the turns of a conversation that is removed. */
async function removeTurns(shards: Shards, conversationId: string): Promise<void> {
  const rows = await shards.search(
    `${column(columns.executionId)} as id`,
    "x/",
    `and ${column(columns.kind)} = 'turn'
     and ${column(columns.conversationId)} = ${literal(optional(conversationId))}`,
  );
  for (const row of rows) {
    const executionId = textIn(row, "id");
    await shards.write(executionId, "drop", { executionId, events: Number.MAX_SAFE_INTEGER });
    await shards.forget(executionId);
  }
}

async function removeUnchanged(shards: Shards, { before, limit }: { before: number; limit: number }) {
  // Some of them may have a turn that runs.
  const rows = await shards.search(
    `${id} as id, ${updatedAt} as updated_at`,
    "z/",
    `and ${updatedAt} < ${before} order by updated_at, id limit ${limit + 100}`,
  );
  const removed: string[] = [];
  for (const conversationId of rows.map((row) => textIn(row, "id"))) {
    if (removed.length === limit) break;
    if (!(await shards.write(conversationId, "removeUnchanged", { conversationId, before }))) continue;
    await removeTurns(shards, conversationId);
    removed.push(conversationId);
  }
  return removed;
}

async function removeUnfinishedFork(shards: Shards, before: number): Promise<boolean> {
  const changedAt = numberColumn(1);
  const [row] = await shards.search(
    `${column(2)} as id, ${changedAt} as changed_at`,
    "q/",
    `and ${changedAt} < ${before} order by changed_at limit 1`,
  );
  if (row === undefined) return false;
  const forkId = textIn(row, "id");
  return await shards.write(forkId, "removeOldFork", { forkId, before });
}

/** Reads a page at the source and keeps it at the copy: a page of a source that was changed meanwhile starts over. */
async function fork(shards: Shards, argument: ForkConversation): Promise<ForkResult> {
  const { key, forkId, copyId, conversationId, userId, upTo, maxBytes, page, at } = argument;
  const first = await shards.read(forkId, "forkResult", key);
  if (first !== undefined) return first;
  for (;;) {
    const { isTaken, fork: under } = await shards.read(forkId, "forkState", forkId);
    const from = under?.copyId === copyId ? under : undefined;
    const read = await shards.read(conversationId, "readForkPage", {
      conversationId,
      userId,
      upTo,
      maxBytes,
      page,
      from,
    });
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
      if (removed) await removeTurns(shards, which.conversationId);
      return removed;
    },
    removeUnchanged: (which) => removeUnchanged(shards, which),
  };
}

export function turnOperations(shards: Shards) {
  return {
    beginTurn: async (argument: BeginTurn) => {
      const { executionId, conversationId, claim } = argument.turn;
      await shards.point(executionId, shards.of(conversationId));
      const claims = [{ executionId, token: claim.token }];
      const begin = () => shards.write(conversationId, "beginTurn", argument);
      const result = await claiming(shards, claims, begin);
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
