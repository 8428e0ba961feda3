// The facts that agents keep of users and in conversations: read, change and remove them.
import { ConversationNotFoundError } from "@andante/core/errors";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { type RouteContext, route } from "../route.ts";
import { agentFacts, factsBody, factsOfAgents, removedFacts } from "../schemas/agent-schemas.ts";
import { conversationInPath, ownerFor } from "./conversation-ids.ts";

const ofUser = {
  path: "/api/users/:userId/facts",
  access: "protected",
  resource: ["userId"],
  reveals: "own",
  tag: "Facts",
} as const;
const ofConversation = {
  path: "/api/conversations/:conversationId/facts",
  access: "protected",
  resource: ["conversationId", "agentId", "userId"],
  ids: conversationInPath,
  reveals: "own",
  tag: "Facts",
} as const;
const reading = {
  method: "GET",
  action: "facts.read",
  costs: "read",
  response: { kind: "json", description: "The facts of each agent that keeps some", data: factsOfAgents },
} as const;
const changing = {
  method: "PATCH",
  action: "facts.change",
  body: factsBody,
  response: { kind: "json", description: "The facts of the agent", data: agentFacts },
} as const;

export const factRoutes = [
  route({
    ...ofUser,
    ...reading,
    operationId: "getUserFacts",
    summary: "Show the facts that agents keep of a user",
    errors: [400],
    handle: async (context) => ({ facts: await context.andante.facts.read(userIn(context)) }),
  }),
  route({
    ...ofUser,
    ...changing,
    operationId: "changeUserFacts",
    summary: "Change the facts that an agent keeps of a user",
    errors: [400, 404, 413, 415, 503],
    handle: (context) => {
      const { facts, agentId } = context.body;
      const options = { agentId: agentId ?? undefined, by: context.caller.userId };
      return context.andante.facts.change(userIn(context), facts, options);
    },
  }),
  route({
    ...ofUser,
    method: "DELETE",
    action: "facts.remove",
    operationId: "removeUserFacts",
    summary: "Remove all facts that agents keep of a user, with their history",
    response: { kind: "json", description: "They are removed", data: removedFacts },
    errors: [400, 503],
    handle: async (context) => {
      const owner = userIn(context);
      await context.andante.facts.remove(owner);
      return owner;
    },
  }),
  route({
    ...ofConversation,
    ...reading,
    operationId: "getConversationFacts",
    summary: "Show the facts that agents keep in a conversation",
    errors: [404],
    handle: async (context) => ({ facts: await context.andante.facts.read(await conversationIn(context)) }),
  }),
  route({
    ...ofConversation,
    ...changing,
    operationId: "changeConversationFacts",
    summary: "Change the facts that an agent keeps in a conversation",
    errors: [400, 404, 413, 415, 503],
    handle: async (context) => {
      const { facts, agentId } = context.body;
      const options = { agentId: agentId ?? undefined, by: context.caller.userId };
      return context.andante.facts.change(await conversationIn(context), facts, options);
    },
  }),
];

/** The user in the path: a caller that is limited to its own data is that user. */
function userIn({ scope, caller, params }: RouteContext): { userId: string } {
  const { userId = "" } = params;
  if (scope !== "all" && caller.userId !== userId)
    throw new ForbiddenError({ action: "the facts of another user" });
  return { userId };
}

/** The conversation in the path, which the caller may see. */
async function conversationIn(context: RouteContext): Promise<{ conversationId: string }> {
  const { conversationId = "" } = context.params;
  const owner = ownerFor(context);
  if (owner === undefined) throw new ConversationNotFoundError({ conversationId });
  await context.andante.conversations.read(conversationId, owner);
  return { conversationId };
}
