// The operations on conversations of the store contract.
import type { ConversationStore } from "@andante/core/store";
import type { Query } from "../../connection/client.ts";
import type { Readers } from "../../connection/readers.ts";
import { changeConversation } from "./change-conversation.ts";
import { forkConversation } from "./fork-conversation.ts";
import { recordedOnce } from "./once.ts";
import { postMessage } from "./post-message.ts";
import { leaveQueue, leftQueues, queuedMessages } from "./queue.ts";
import { conversationMessages, listConversations, readConversation, recentMessages } from "./reads.ts";
import { removeConversation } from "./remove-conversation.ts";
import { removeSummary } from "./remove-summary.ts";
import { removeUnchanged } from "./remove-unchanged.ts";
import { removeUnfinishedFork } from "./unfinished-forks.ts";

export function conversations(readers: Readers, s: string): ConversationStore {
  const once = recordedOnce(s);
  const write =
    <Argument extends { readonly conversationId: string }, Result>(
      operation: string,
      work: (query: Query, argument: Argument) => Promise<Result>,
    ) =>
    (argument: Argument & { readonly key: string }): Promise<Result> =>
      readers.write(operation, (query) => once(query, argument, work));
  return {
    post: write("postMessage", postMessage(s)),
    change: write("changeConversation", changeConversation(s)),
    fork: write("forkConversation", forkConversation(s)),
    remove: write("removeConversation", removeConversation(s)),
    leaveQueue: write("leaveQueue", leaveQueue(s)),
    queue: readers.forCallers(queuedMessages(readers, s)),
    leftQueues: leftQueues(readers, s),
    removeSummary: write("removeSummary", removeSummary(s)),
    removeUnchanged: removeUnchanged(readers, s),
    removeUnfinishedFork: removeUnfinishedFork(readers, s),
    recent: readers.forCallers(recentMessages(readers, s)),
    messages: readers.forCallers(conversationMessages(readers, s)),
    read: readers.forCallers(readConversation(readers, s)),
    list: readers.forCallers(listConversations(readers, s)),
  };
}
