// Conversations: list, read, change, fork, export and remove them.
import { ConversationNotFoundError } from "@andante/core/errors";
import { entryIds } from "../auth/entry-ids.ts";
import { jsonLines, jsonLinesType } from "../response/json-lines.ts";
import { type RouteContext, route } from "../route.ts";
import {
  changeBody,
  conversation,
  conversationPage,
  conversationsQuery,
  forkBody,
  messagePage,
  messagesQuery,
  removed,
} from "../schemas/agent-schemas.ts";
import { conversationInPath, forkedConversation } from "./conversation-ids.ts";
import { ownerFor } from "./owner.ts";

const tag = "Conversations";
const one = "/api/conversations/:conversationId";

export const conversationRoutes = [
  route({
    method: "GET",
    path: "/api/conversations",
    access: "protected",
    action: "conversations.list",
    resource: ["agentId", "conversationId", "userId"],
    reveals: "own",
    costs: "read",
    operationId: "listConversations",
    summary: "List conversations, the most recently changed first",
    tag,
    query: conversationsQuery,
    response: { kind: "json", description: "A page of conversations", data: conversationPage },
    errors: [400],
    handle: async (context) => {
      const { andante, query, permission } = context;
      const owner = ownerFor(context);
      const others =
        owner?.userId !== undefined && query.userId !== undefined && query.userId !== owner.userId;
      if (owner === undefined || others) return { conversations: [], nextCursor: null };
      const page = await andante.conversations.list({ ...query, ...owner });
      return { ...page, conversations: await permission.visible(page.conversations, entryIds) };
    },
  }),
  route({
    method: "GET",
    path: one,
    access: "protected",
    action: "conversations.read",
    resource: ["conversationId", "agentId", "userId"],
    ids: conversationInPath,
    reveals: "own",
    costs: "read",
    operationId: "getConversation",
    summary: "Show one conversation and what it has used",
    tag,
    response: { kind: "json", description: "The conversation", data: conversation },
    errors: [404],
    handle: (context) => context.andante.conversations.read(...mine(context)),
  }),
  route({
    method: "GET",
    path: `${one}/messages`,
    access: "protected",
    action: "conversations.messages",
    resource: ["conversationId", "agentId", "userId"],
    ids: conversationInPath,
    reveals: "own",
    costs: "read",
    operationId: "listMessages",
    summary: "Read the messages of a conversation, oldest or newest first",
    tag,
    query: messagesQuery,
    response: {
      kind: "json",
      description: "A page of messages, as chat clients expect them",
      data: messagePage,
    },
    errors: [400, 404],
    handle: (context) => {
      const [conversationId, owner] = mine(context);
      return context.andante.conversations.messages(conversationId, { ...context.query, ...owner });
    },
  }),
  route({
    method: "PATCH",
    path: one,
    access: "protected",
    action: "conversations.rename",
    resource: ["conversationId", "agentId", "userId"],
    ids: conversationInPath,
    reveals: "own",
    operationId: "renameConversation",
    summary: "Give a conversation another title, or other metadata",
    tag,
    body: changeBody,
    response: { kind: "json", description: "The conversation", data: conversation },
    errors: [400, 404, 413, 415, 503],
    handle: (context) => {
      const [conversationId, owner] = mine(context);
      return context.andante.conversations.change(conversationId, context.body, owner);
    },
  }),
  route({
    method: "GET",
    path: `${one}/export`,
    access: "protected",
    action: "conversations.export",
    requires: ["conversations.read", "conversations.messages"],
    resource: ["conversationId", "agentId", "userId"],
    ids: conversationInPath,
    reveals: "own",
    costs: "export",
    operationId: "exportConversation",
    summary: "Export a conversation with all its messages, one JSON value on each line",
    tag,
    response: {
      kind: "other",
      description: "The conversation, then its messages",
      contentType: jsonLinesType,
    },
    errors: [404],
    handle: async (context) =>
      jsonLines(await context.andante.conversations.export(...mine(context)), context),
  }),
  route({
    method: "POST",
    path: `${one}/fork`,
    access: "protected",
    action: "conversations.fork",
    requires: ["conversations.messages"],
    resource: ["conversationId", "agentId", "userId"],
    ids: (known) => forkedConversation(known),
    reveals: "own",
    operationId: "forkConversation",
    summary: "Begin another conversation with the messages of this one",
    tag,
    body: forkBody,
    response: { kind: "json", description: "The new conversation", data: conversation },
    errors: [400, 404, 409, 413, 415, 429, 503],
    handle: (context) => {
      const [conversationId, owner] = mine(context);
      const { conversationId: forkId, upTo } = context.body;
      const { signal } = context.http.req.raw;
      const callerId = context.caller.userId;
      const fork = { forkId: forkId ?? undefined, upTo: upTo ?? undefined, callerId, signal, ...owner };
      return context.andante.conversations.fork(conversationId, fork);
    },
  }),
  route({
    method: "DELETE",
    path: one,
    access: "protected",
    action: "conversations.remove",
    resource: ["conversationId", "agentId", "userId"],
    ids: conversationInPath,
    reveals: "own",
    operationId: "removeConversation",
    summary: "Remove a conversation with its messages",
    tag,
    response: { kind: "json", description: "It is removed", data: removed },
    errors: [404, 503],
    handle: async (context) => {
      const [conversationId, owner] = mine(context);
      await context.andante.conversations.remove(conversationId, owner);
      return { conversationId };
    },
  }),
];

/** The id of the conversation and its required owner. */
function mine(
  context: RouteContext,
): [conversationId: string, owner: { userId?: string | null | undefined }] {
  const { conversationId = "" } = context.params;
  const owner = ownerFor(context);
  if (owner === undefined) throw new ConversationNotFoundError({ conversationId });
  return [conversationId, owner];
}
