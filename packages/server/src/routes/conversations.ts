// Conversations: list, read, change, fork, export and remove them.
import { ConversationNotFoundError } from "@andante/core/errors";
import { entryIds } from "../auth/entry-ids.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { jsonLines, jsonLinesType } from "../response/json-lines.ts";
import { type RouteContext, route } from "../route.ts";
import {
  changeBody,
  conversation,
  conversationPage,
  conversationsQuery,
  decided,
  decisionBody,
  forkBody,
  messagePage,
  messagesQuery,
  removed,
  removedSummary,
  resumedTool,
  toolResumeBody,
} from "../schemas/agent-schemas.ts";
import { conversationInPath, forkedConversation, ownerFor } from "./conversation-ids.ts";

const tag = "Conversations";
const one = "/api/conversations/:conversationId";
/** Rows about one conversation. */
const ofConversation = {
  access: "protected",
  resource: ["conversationId", "agentId", "userId"],
  ids: conversationInPath,
  reveals: "own",
  tag,
} as const;

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
    ...ofConversation,
    method: "GET",
    path: one,
    action: "conversations.read",
    costs: "read",
    operationId: "getConversation",
    summary: "Show one conversation and what it has used",
    response: { kind: "json", description: "The conversation", data: conversation },
    errors: [404],
    handle: (context) => context.andante.conversations.read(...mine(context)),
  }),
  route({
    ...ofConversation,
    method: "GET",
    path: `${one}/messages`,
    action: "conversations.messages",
    costs: "read",
    operationId: "listMessages",
    summary: "Read the messages of a conversation, oldest or newest first",
    query: messagesQuery,
    response: {
      kind: "json",
      description: "A page of messages, as chat clients expect them",
      data: messagePage,
    },
    errors: [400, 404],
    handle: async (context) => {
      const [conversationId, owner] = mine(context);
      const { replyTo, ...query } = context.query;
      const { conversations, agents } = context.andante;
      if (replyTo === undefined) return conversations.messages(conversationId, { ...query, ...owner });
      const { status, message } = await agents.reply(conversationId, replyTo, owner);
      return { messages: message === undefined ? [] : [message], nextCursor: null, reply: status };
    },
  }),
  route({
    ...ofConversation,
    method: "PATCH",
    path: one,
    action: "conversations.rename",
    operationId: "renameConversation",
    summary: "Give a conversation another title, or other metadata",
    body: changeBody,
    response: { kind: "json", description: "The conversation", data: conversation },
    errors: [400, 404, 413, 415, 503],
    handle: (context) => {
      const [conversationId, owner] = mine(context);
      return context.andante.conversations.change(conversationId, context.body, owner);
    },
  }),
  route({
    ...ofConversation,
    method: "GET",
    path: `${one}/export`,
    action: "conversations.export",
    requires: ["conversations.read", "conversations.messages"],
    costs: "export",
    operationId: "exportConversation",
    summary: "Export a conversation with all its messages, one JSON value on each line",
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
    ...ofConversation,
    method: "POST",
    path: `${one}/fork`,
    action: "conversations.fork",
    requires: ["conversations.messages"],
    ids: (known) => forkedConversation(known),
    operationId: "forkConversation",
    summary: "Begin another conversation with the messages of this one",
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
    ...ofConversation,
    method: "POST",
    path: `${one}/decisions`,
    action: "conversations.decide",
    operationId: "decideApproval",
    summary: "Decide about a tool call that waits for approval; the reply continues by itself",
    body: decisionBody,
    response: { kind: "json", description: "The decision is kept", data: decided },
    errors: [400, 403, 404, 409, 413, 415, 429, 503],
    handle: async (context) => {
      const [conversationId, owner] = mine(context);
      const { reason, ...body } = context.body;
      // The user of a chat decides about the call as the model made it.
      if (body.input !== undefined && context.scope === "own")
        throw new ForbiddenError({ action: "conversations.decide" });
      const by = context.caller.userId;
      const decision = { ...body, reason: reason ?? undefined, by };
      const { waiting } = await context.andante.agents.decide(conversationId, decision, owner);
      const { approvalId, approved } = body;
      context.logger.info(
        { conversationId, approvalId, approved, userId: by },
        "a tool approval was decided",
      );
      return { conversationId, waiting };
    },
  }),
  route({
    ...ofConversation,
    method: "POST",
    path: `${one}/resume`,
    action: "conversations.decide",
    operationId: "resumeTool",
    summary: "Resume a tool that waits in its own code; the reply continues by itself",
    body: toolResumeBody,
    response: { kind: "json", description: "The data is kept", data: resumedTool },
    errors: [400, 403, 404, 413, 415, 429, 503],
    handle: async (context) => {
      const [conversationId, owner] = mine(context);
      const by = context.caller.userId;
      await context.andante.agents.resume(conversationId, { ...context.body, by }, owner);
      const { suspensionId } = context.body;
      context.logger.info({ conversationId, suspensionId, userId: by }, "a tool that waited was resumed");
      return { conversationId };
    },
  }),
  route({
    ...ofConversation,
    method: "DELETE",
    path: `${one}/summaries/:messageId`,
    action: "conversations.removeSummary",
    operationId: "removeSummary",
    summary: "Remove a summary: the model sees the messages again that it stands for",
    response: { kind: "json", description: "It is removed", data: removedSummary },
    errors: [404, 503],
    handle: async (context) => {
      const [conversationId, owner] = mine(context);
      const { messageId = "" } = context.params;
      await context.andante.conversations.removeSummary(conversationId, messageId, owner);
      return { conversationId, messageId };
    },
  }),
  route({
    ...ofConversation,
    method: "DELETE",
    path: one,
    action: "conversations.remove",
    operationId: "removeConversation",
    summary: "Remove a conversation with its messages",
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
