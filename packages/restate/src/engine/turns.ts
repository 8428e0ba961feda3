// Turns: each is in the shard of its conversation, so that message and turn, and reply and end, are one write.
import {
  type BeginTurn,
  type BeginTurnResult,
  beforeTurn,
  type ChangeConversation,
  type CommitResult,
  type ConversationRow,
  type EndTurn,
  type ExecutionHead,
  type ForkResult,
  nothingUsed,
  type OneConversation,
  type PostMessage,
  type PostResult,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import {
  type Conversation,
  change,
  conversationOf,
  firstResult,
  forkState,
  type KeepForkPage,
  keepConversation,
  keepForkPage,
  keepReply,
  messages,
  messagesBefore,
  once,
  post,
  readForkPage,
  recent,
  removeConversation,
  removeOldFork,
  replaceLast,
} from "./conversations.ts";
import { commit, insert, remove } from "./executions.ts";
import { removeEvents } from "./journal.ts";
import { type Kept, keys } from "./layout.ts";
import { headOf } from "./read-row.ts";

/** The row of the turn that is live in a conversation. */
async function liveTurnOf(cells: Cells, conversation: Conversation | undefined): Promise<Kept | undefined> {
  if (conversation?.turn == null) return undefined;
  const kept = await cells.read<Kept>(keys.row(conversation.turn));
  return kept?.record.endAt === null ? kept : undefined;
}

async function beginTurn(cells: Cells, argument: BeginTurn): Promise<BeginTurnResult> {
  const { turn, message, before } = argument;
  const { conversationId, userId, agentId, executionId } = turn;
  const began = async (): Promise<BeginTurnResult> => {
    if (before === undefined || message.kind !== "post") return { kind: "begun" };
    return { kind: "begun", before: await messagesBefore(cells, conversationId, message.messageId, before) };
  };
  const there = await cells.read<Kept>(keys.row(executionId));
  const conversation = await conversationOf(cells, { conversationId });
  const early = beforeTurn(turn, {
    token: there?.record.token,
    owner: conversation?.row.userId,
    live: (await liveTurnOf(cells, conversation))?.record.executionId,
  });
  if (early === "repeated") return began();
  if (early !== undefined) return early;
  if (message.kind === "replace") {
    if (!(await replaceLast(cells, { ...message, conversationId, userId }))) return { kind: "changed" };
  } else {
    const { kind } = await post(cells, { ...message, conversationId, userId, agentId }, executionId);
    if (kind !== "posted") return { kind };
  }
  await insert(
    cells,
    turn,
    { kind: "turn", stepIndex: 0, resumes: 0, usage: null, definition: null },
    { workflowId: "", agentId, tags: [], replayOf: null, trace: null },
    null,
  );
  const kept = await conversationOf(cells, { conversationId });
  if (kept !== undefined) keepConversation(cells, { ...kept, turn: executionId });
  return began();
}

async function endTurn(
  cells: Cells,
  { commit: argument, reply }: EndTurn,
  at: number,
): Promise<CommitResult> {
  const row = keys.row(argument.executionId);
  const wasLive = (await cells.read<Kept>(row))?.record.endAt === null;
  const result = await commit(cells, argument, at);
  const usage = cells.get<Kept>(row)?.record.usage ?? nothingUsed;
  if (wasLive && result.kind === "ok") await keepReply(cells, { ...reply, usage });
  return result;
}

/** Removes a conversation and the turn that runs in it. */
async function removeWithTurn(cells: Cells, conversation: Conversation): Promise<void> {
  const live = await liveTurnOf(cells, conversation);
  if (live !== undefined) {
    await removeEvents(cells, live, Number.POSITIVE_INFINITY);
    await remove(cells, live);
  }
  removeConversation(cells, conversation);
}

/** Removes a conversation unless it was changed since `before` or a turn runs in it. */
async function removeUnchanged(
  cells: Cells,
  { conversationId, before }: { conversationId: string; before: number },
): Promise<boolean> {
  const found = await conversationOf(cells, { conversationId });
  if (found === undefined || found.row.updatedAt >= before) return false;
  if ((await liveTurnOf(cells, found)) !== undefined) return false;
  removeConversation(cells, found);
  return true;
}

export const conversationWrites = {
  beginTurn,
  endTurn,
  post: (cells: Cells, message: PostMessage): Promise<PostResult> =>
    once(cells, message.key, () => post(cells, message, message.key)),
  change: (cells: Cells, argument: ChangeConversation): Promise<boolean> =>
    once(cells, argument.key, () => change(cells, argument)),
  remove: (cells: Cells, which: OneConversation & { readonly key: string }): Promise<boolean> =>
    once(cells, which.key, async () => {
      const found = await conversationOf(cells, which);
      if (found !== undefined) await removeWithTurn(cells, found);
      return found !== undefined;
    }),
  removeUnchanged,
  removeOldFork,
  keepForkPage: (cells: Cells, page: KeepForkPage & { readonly key: string }) =>
    once(cells, page.key, () => keepForkPage(cells, page)),
};

export const conversationReads = {
  liveTurn: async (cells: Cells, conversationId: string): Promise<ExecutionHead | undefined> => {
    const live = await liveTurnOf(cells, await conversationOf(cells, { conversationId }));
    return live && headOf(live);
  },
  recent,
  messages,
  conversation: async (cells: Cells, which: OneConversation): Promise<ConversationRow | undefined> =>
    (await conversationOf(cells, which))?.row,
  readForkPage,
  forkState,
  forkResult: (cells: Cells, key: string) => firstResult<ForkResult>(cells, key),
};
