// The operations on conversations by name, bound to one open database.
import type { DatabaseSync } from "node:sqlite";
import { changeConversation } from "./change-conversation.ts";
import { conversationMessages } from "./conversation-messages.ts";
import { forkConversation } from "./fork-conversation.ts";
import { listConversations } from "./list-conversations.ts";
import { postMessage } from "./post-message.ts";
import { readConversation } from "./read-conversation.ts";
import { recentMessages } from "./recent-messages.ts";
import { recordedOnce } from "./recorded-once.ts";
import { removeConversation } from "./remove-conversation.ts";
import { removeUnchanged } from "./remove-unchanged.ts";

export function conversationWrites(database: DatabaseSync) {
  const once = recordedOnce(database);
  return {
    postMessage: once(postMessage(database)),
    changeConversation: once(changeConversation(database)),
    forkConversation: once(forkConversation(database)),
    removeConversation: once(removeConversation(database)),
    // Without a key: what is repeated removes what is left.
    removeUnchanged: removeUnchanged(database),
  };
}

export function conversationReads(database: DatabaseSync) {
  return {
    recentMessages: recentMessages(database),
    conversationMessages: conversationMessages(database),
    readConversation: readConversation(database),
    listConversations: listConversations(database),
  };
}
