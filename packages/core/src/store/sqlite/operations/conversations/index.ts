// The operations on conversations by name, bound to one open database.
import type { DatabaseSync } from "node:sqlite";
import type { Bind } from "../late.ts";
import { changeConversation } from "./change-conversation.ts";
import { conversationMessages } from "./conversation-messages.ts";
import { forkConversation } from "./fork-conversation.ts";
import { listConversations } from "./list-conversations.ts";
import { postMessage } from "./post-message.ts";
import { leaveQueue, queuedMessages } from "./queue.ts";
import { readConversation } from "./read-conversation.ts";
import { recentMessages } from "./recent-messages.ts";
import { recordedOnce } from "./recorded-once.ts";
import { removeConversation } from "./remove-conversation.ts";
import { removeSummary } from "./remove-summary.ts";
import { removeUnchanged } from "./remove-unchanged.ts";
import { removeUnfinishedFork } from "./unfinished-forks.ts";

export function conversationWrites(database: DatabaseSync, bind: Bind) {
  return {
    postMessage: bind(database, recordedOnce(postMessage)),
    changeConversation: bind(database, recordedOnce(changeConversation)),
    forkConversation: bind(database, recordedOnce(forkConversation)),
    removeConversation: bind(database, recordedOnce(removeConversation)),
    leaveQueue: bind(database, recordedOnce(leaveQueue)),
    removeSummary: bind(database, recordedOnce(removeSummary)),
    // Without a key: a repeated call removes the rest.
    removeUnchanged: bind(database, removeUnchanged),
    removeUnfinishedFork: bind(database, removeUnfinishedFork),
  };
}

export function conversationReads(database: DatabaseSync, bind: Bind) {
  return {
    recentMessages: bind(database, recentMessages),
    conversationMessages: bind(database, conversationMessages),
    queuedMessages: bind(database, queuedMessages),
    readConversation: bind(database, readConversation),
    listConversations: bind(database, listConversations),
  };
}
