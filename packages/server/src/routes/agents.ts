// Agents: list them and call them.
import type { Andante } from "@andante/core";
import { InvalidOptionError, InvalidSchemaError, QueuedMessageNotFoundError } from "@andante/core/errors";
import type { StartReplyOptions } from "@andante/core/internal";
import type { z } from "zod";
import { isWithoutId } from "../auth/inject-user.ts";
import { isObject } from "../is-object.ts";
import { headerOf } from "../request/node-request.ts";
import { success } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type RouteContext, route } from "../route.ts";
import {
  agentBody,
  agentDetail,
  agentList,
  chatBody,
  chatChunk,
  objectBody,
  objectPart,
  objectReply,
  playground,
  playgroundBody,
  queue,
  startedReply,
  stopped,
  streamPart,
  textReply,
  withdrawn,
} from "../schemas/agent-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { idsIn, ownerFor } from "./conversation-ids.ts";
import { prefersAsync } from "./delivery.ts";
import { givenInput, startOptions } from "./start-options.ts";

const tag = "Agents";

/** An unknown agent is a 404, before any other check. */
function check(andante: Andante, params: Readonly<Record<string, string>>): void {
  andante.agents.check(params.id ?? "");
}

/** A call whose reply can be read later. */
const early = {
  accepted: "The reply is made in its conversation (Prefer: respond-async); see Location",
  acceptedData: startedReply,
} as const;

const definition = { method: "GET", contract: true, access: "public", resource: ["agentId"], tag } as const;
/** Rows that call an agent or concern a conversation with it. */
const conversation = {
  access: "protected",
  resource: ["agentId", "conversationId", "userId"],
  tag,
  check,
} as const;
const call = {
  ...conversation,
  method: "POST",
  contract: true,
  headers: ["traceparent"],
  errors: [400, 403, 404, 409, 413, 415, 502, 503],
} as const;
/** Rows about replies of an agent that a caller has changed. */
const inPlayground = {
  ...conversation,
  path: "/api/agents/:id/playground",
  action: "agents.playground",
  explicit: true,
  check: (andante: Andante, params: Readonly<Record<string, string>>) => {
    andante.agents.playground(params.id ?? "");
  },
} as const;
/** Rows about the replies of a conversation. */
const replies = {
  ...conversation,
  ids: ({ andante, params }: Pick<RouteContext, "andante" | "params">) =>
    idsIn(andante, params.conversationId),
  reveals: "own",
  errors: [404, 503],
} as const;
/** Rows about the one that runs. */
const runningReply = { ...replies, path: "/agents/:id/chat/:conversationId/stream" } as const;
const queuePath = "/agents/:id/chat/:conversationId/queue";

export const agentRoutes = [
  route({
    ...definition,
    path: "/agents",
    action: "agents.list",
    operationId: "listAgents",
    summary: "List the registered agents",
    response: { kind: "json", description: "The agents in order of registration", data: agentList },
    errors: [],
    handle: async ({ andante, permission }) =>
      permission.visible(await andante.agents.list(), ({ id }) => ({ agentId: id })),
  }),
  route({
    ...definition,
    path: "/agents/:id",
    action: "agents.read",
    operationId: "getAgent",
    summary: "Show one agent with its instructions and tools",
    response: { kind: "json", description: "The agent", data: agentDetail },
    errors: [404],
    check,
    handle: async ({ andante, params, caller, gate }) => {
      const agent = await andante.agents.read(params.id ?? "");
      // With authentication, callers without a token do not see the agent's instructions.
      return gate.enabled && caller.user === undefined ? { ...agent, instructions: null } : agent;
    },
  }),
  route({
    ...call,
    path: "/agents/:id/text",
    action: "agents.text",
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "generateText",
    summary: "Ask an agent for a text reply",
    headers: [...call.headers, "prefer"],
    body: agentBody,
    response: { kind: "json", description: "The reply", data: textReply, ...early },
    handle: (context) => {
      const { andante, params, body } = context;
      if (isAsync(context)) return startReply(context, givenInput(body), body.options);
      return andante.agents.text(params.id ?? "", givenInput(body), optionsOf(context, body.options));
    },
  }),
  route({
    ...call,
    path: "/agents/:id/object",
    action: "agents.object",
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "generateObject",
    summary: "Ask an agent for an object that fits a JSON Schema",
    headers: [...call.headers, "prefer"],
    body: objectBody,
    response: { kind: "json", description: "The object", data: objectReply, ...early },
    errors: [...call.errors, 422],
    handle: (context) => {
      const { andante, params, body } = context;
      if (isAsync(context))
        return startReply(context, givenInput(body), body.options, { schema: givenSchema(body) });
      const options = optionsOf(context, body.options);
      const input = givenInput(body);
      return andante.agents.object(params.id ?? "", input, givenSchema(body), options);
    },
  }),
  route({
    ...call,
    path: "/agents/:id/stream",
    action: "agents.stream",
    requires: ["agents.text"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "streamText",
    summary: "Ask an agent and stream every part of its reply",
    body: agentBody,
    response: { kind: "events", description: "The parts of the reply", event: streamPart },
    handle: async (context) => {
      const { andante, params, body } = context;
      const options = optionsOf(context, body.options);
      return eventResponse(await andante.agents.stream(params.id ?? "", givenInput(body), options), context);
    },
  }),
  route({
    ...call,
    path: "/agents/:id/stream-object",
    action: "agents.streamObject",
    requires: ["agents.object"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "streamObject",
    summary: "Ask an agent for an object and stream it as it grows",
    body: objectBody,
    response: { kind: "events", description: "The object as it grows, then complete", event: objectPart },
    handle: async (context) => {
      const { andante, params, body } = context;
      const options = optionsOf(context, body.options);
      const parts = await andante.agents.streamObject(
        params.id ?? "",
        givenInput(body),
        givenSchema(body),
        options,
      );
      return eventResponse(parts, context);
    },
  }),
  route({
    ...call,
    path: "/agents/:id/chat",
    action: "agents.chat",
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId ?? body.id),
    operationId: "chatWithAgent",
    summary: "Chat with an agent; accepts what chat clients of the AI SDK send",
    headers: [...call.headers, "prefer"],
    body: chatBody,
    response: {
      kind: "events",
      description: "The reply as a UI message stream",
      event: chatChunk,
      ...early,
    },
    handle: (context) => chat(context),
  }),
  route({
    ...runningReply,
    method: "GET",
    action: "agents.attach",
    operationId: "attachToChat",
    summary: "Read the reply that runs in a conversation from its beginning; 204 when none does",
    response: {
      kind: "events",
      description: "The reply as a UI message stream",
      event: chatChunk,
      empty: "No reply is running",
    },
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const [id, conversationId] = [params.id ?? "", params.conversationId ?? ""];
      const chunks = owner && (await andante.agents.attach(id, conversationId, owner));
      if (chunks === undefined) return new RouteResponse(null, { status: 204 });
      return eventResponse(chunks, context, uiMessageStream);
    },
  }),
  route({
    ...runningReply,
    method: "DELETE",
    action: "agents.stop",
    operationId: "stopChat",
    summary: "Stop the reply that runs in a conversation; it is kept as far as it came",
    response: { kind: "json", description: "Whether one was running", data: stopped },
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const [id, conversationId] = [params.id ?? "", params.conversationId ?? ""];
      return { stopped: owner !== undefined && (await andante.agents.stop(id, conversationId, owner)) };
    },
  }),
  route({
    ...replies,
    path: queuePath,
    method: "GET",
    action: "agents.queue",
    operationId: "listQueue",
    summary: "List the messages that wait for their replies in a conversation",
    response: { kind: "json", description: "The messages, the next one first", data: queue },
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const [id, conversationId] = [params.id ?? "", params.conversationId ?? ""];
      return { messages: owner === undefined ? [] : await andante.agents.queue(id, conversationId, owner) };
    },
  }),
  route({
    ...replies,
    path: `${queuePath}/:messageId`,
    method: "DELETE",
    action: "agents.withdraw",
    operationId: "withdrawMessage",
    summary: "Take back a message that waits for its reply",
    response: { kind: "json", description: "It is removed", data: withdrawn },
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const { id = "", conversationId = "", messageId = "" } = params;
      if (owner === undefined) throw new QueuedMessageNotFoundError({ messageId });
      await andante.agents.withdraw(id, conversationId, messageId, owner);
      return { conversationId, messageId };
    },
  }),
  route({
    ...inPlayground,
    method: "GET",
    resource: ["agentId"],
    operationId: "getPlayground",
    summary: "Show what can be changed for single replies of an agent",
    response: { kind: "json", description: "The choices, and the agent's own settings", data: playground },
    errors: [404],
    handle: async ({ andante, params }) => {
      const id = params.id ?? "";
      const { model, instructions } = await andante.agents.read(id);
      return { model, instructions, ...andante.agents.playground(id) };
    },
  }),
  route({
    ...inPlayground,
    method: "POST",
    requires: ["agents.chat"],
    headers: call.headers,
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId ?? body.id),
    operationId: "chatInPlayground",
    summary: "Chat with an agent whose model, temperature or instructions are changed for this reply",
    body: playgroundBody,
    response: { kind: "events", description: "The reply as a UI message stream", event: chatChunk },
    errors: call.errors,
    handle: (context) => chat(context, context.body.playground ?? {}),
  }),
];

async function chat(
  context: RouteContext<z.infer<ReturnType<typeof chatBody>>>,
  playground?: z.infer<ReturnType<typeof playgroundBody>>["playground"],
) {
  const { andante, params, body } = context;
  const { resumable, ...given } = body.options ?? {};
  // Chat clients always send an id and all their messages; a user without an id has no stored conversation.
  const chatId = isWithoutId(context.caller) ? undefined : body.id;
  const own = { ...given, conversationId: given.conversationId ?? chatId };
  const again = body.trigger === "regenerate-message";
  const replaces = again ? (body.messageId ?? undefined) : undefined;
  const input = givenInput({ input: body.input ?? body.messages });
  if (playground === undefined && isAsync(context))
    return startReply(context, input, own, { again, replaces });
  const how = { ...optionsOf(context, own), resumable, again, replaces, playground };
  const chunks = await andante.agents.chat(params.id ?? "", input, how);
  return eventResponse(chunks, context, uiMessageStream);
}

function isAsync({ http }: RouteContext): boolean {
  return prefersAsync(headerOf(http.req, "prefer"));
}

/** 202 at once, with the address of the reply. */
async function startReply<Options extends { readonly conversationId?: string | undefined }>(
  context: RouteContext,
  input: unknown,
  given: Options | undefined,
  more: Pick<StartReplyOptions, "schema" | "again" | "replaces"> = {},
) {
  if (isWithoutId(context.caller)) {
    const problem =
      "the conversation of a reply that is read later belongs to a user, and this token gives no user id";
    throw new InvalidOptionError({ option: "conversationId", problem });
  }
  const { signal: _, ...options } = optionsOf(context, given);
  const { andante, params, basePath } = context;
  const { conversationId, messageId } = await andante.agents.start(params.id ?? "", input, {
    ...options,
    ...more,
  });
  const path = `/api/conversations/${encodeURIComponent(conversationId)}/messages`;
  const location = `${basePath}${path}?replyTo=${encodeURIComponent(messageId)}`;
  return success({ conversationId, messageId, status: "running" }, 202, { location });
}

/** The permitted options of a call. A dropped connection aborts the signal. */
export function optionsOf<Options extends { readonly conversationId?: string | undefined }>(
  context: RouteContext,
  options: Options | undefined,
) {
  if (options?.conversationId !== undefined && isWithoutId(context.caller)) {
    const problem = "a conversation belongs to a user, and this token gives no user id";
    throw new InvalidOptionError({ option: "conversationId", problem });
  }
  return { ...startOptions(context, options ?? {}), signal: context.http.req.raw.signal };
}

/** The last line and the header by which chat clients recognise the protocol. */
const uiMessageStream = { headers: { "x-vercel-ai-ui-message-stream": "v1" }, last: "[DONE]" };

/** The schema of the body; the core validates that it is a JSON Schema. */
function givenSchema({ schema }: { schema?: unknown }): Readonly<Record<string, unknown>> {
  if (isObject(schema)) return schema;
  throw new InvalidSchemaError({ detail: "expected a JSON Schema object" });
}
