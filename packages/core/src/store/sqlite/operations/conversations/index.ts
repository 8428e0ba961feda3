// The operations on conversations by name, bound to one open database.
import type { DatabaseSync } from "node:sqlite";
import { conversationMessages } from "./conversation-messages.ts";
import { keepReply } from "./keep-reply.ts";
import { listConversations } from "./list-conversations.ts";
import { postMessage } from "./post-message.ts";
import { readConversation } from "./read-conversation.ts";
import { recentMessages } from "./recent-messages.ts";
import { recordedOnce } from "./recorded-once.ts";
import { removeConversation } from "./remove-conversation.ts";
import { renameConversation } from "./rename-conversation.ts";
import { replaceLast } from "./replace-last.ts";

export function conversationWrites(database: DatabaseSync) {
  const once = recordedOnce(database);
  return {
    postMessage: once(postMessage(database)),
    keepReply: once(keepReply(database)),
    replaceLast: once(replaceLast(database)),
    renameConversation: once(renameConversation(database)),
    removeConversation: once(removeConversation(database)),
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
