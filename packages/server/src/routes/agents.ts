// Agents: list them and call them.
import type { Andante } from "@andante/core";
import { InputValidationError, InvalidOptionError, InvalidSchemaError } from "@andante/core/errors";
import { isWithoutId, startOptionsOf } from "../auth/inject-user.ts";
import { isObject } from "../is-object.ts";
import { headerOf } from "../request/node-request.ts";
import { traceparentHeader } from "../response/envelope.ts";
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
  stopped,
  streamPart,
  textReply,
} from "../schemas/agent-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { idsIn } from "./conversation-ids.ts";
import { ownerFor } from "./owner.ts";

const tag = "Agents";
const running = "/agents/:id/chat/:conversationId/stream";
/** The error statuses of every row that calls an agent. */
const errors = [400, 403, 404, 409, 413, 415, 502, 503];

/** An unknown agent is a 404, before any other check. */
function check(andante: Andante, params: Readonly<Record<string, string>>): void {
  andante.agents.check(params.id ?? "");
}

export const agentRoutes = [
  route({
    method: "GET",
    path: "/agents",
    contract: true,
    access: "public",
    action: "agents.list",
    resource: ["agentId"],
    operationId: "listAgents",
    summary: "List the registered agents",
    tag,
    response: { kind: "json", description: "The agents in order of registration", data: agentList },
    errors: [],
    handle: async ({ andante, permission }) =>
      permission.visible(await andante.agents.list(), ({ id }) => ({ agentId: id })),
  }),
  route({
    method: "GET",
    path: "/agents/:id",
    contract: true,
    access: "public",
    action: "agents.read",
    resource: ["agentId"],
    operationId: "getAgent",
    summary: "Show one agent with its instructions and tools",
    tag,
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
    method: "POST",
    path: "/agents/:id/text",
    contract: true,
    access: "protected",
    action: "agents.text",
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "generateText",
    summary: "Ask an agent for a text reply",
    tag,
    body: agentBody,
    headers: ["traceparent"],
    response: { kind: "json", description: "The reply", data: textReply },
    errors,
    check,
    handle: (context) => {
      const { andante, params, body } = context;
      return andante.agents.text(params.id ?? "", givenInput(body), optionsOf(context, body.options));
    },
  }),
  route({
    method: "POST",
    path: "/agents/:id/object",
    contract: true,
    access: "protected",
    action: "agents.object",
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "generateObject",
    summary: "Ask an agent for an object that fits a JSON Schema",
    tag,
    body: objectBody,
    headers: ["traceparent"],
    response: { kind: "json", description: "The object", data: objectReply },
    errors: [...errors, 422],
    check,
    handle: (context) => {
      const { andante, params, body } = context;
      const options = optionsOf(context, body.options);
      const input = givenInput(body);
      return andante.agents.object(params.id ?? "", input, givenSchema(body), options);
    },
  }),
  route({
    method: "POST",
    path: "/agents/:id/stream",
    contract: true,
    access: "protected",
    action: "agents.stream",
    requires: ["agents.text"],
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "streamText",
    summary: "Ask an agent and stream every part of its reply",
    tag,
    body: agentBody,
    headers: ["traceparent"],
    response: { kind: "events", description: "The parts of the reply", event: streamPart },
    errors,
    check,
    handle: async (context) => {
      const { andante, params, body } = context;
      const options = optionsOf(context, body.options);
      return events(context, await andante.agents.stream(params.id ?? "", givenInput(body), options));
    },
  }),
  route({
    method: "POST",
    path: "/agents/:id/stream-object",
    contract: true,
    access: "protected",
    action: "agents.streamObject",
    requires: ["agents.object"],
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId),
    operationId: "streamObject",
    summary: "Ask an agent for an object and stream it as it grows",
    tag,
    body: objectBody,
    headers: ["traceparent"],
    response: { kind: "events", description: "The object as it grows, then complete", event: objectPart },
    errors,
    check,
    handle: async (context) => {
      const { andante, params, body } = context;
      const options = optionsOf(context, body.options);
      const parts = await andante.agents.streamObject(
        params.id ?? "",
        givenInput(body),
        givenSchema(body),
        options,
      );
      return events(context, parts);
    },
  }),
  route({
    method: "POST",
    path: "/agents/:id/chat",
    contract: true,
    access: "protected",
    action: "agents.chat",
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, body }) => idsIn(andante, body.options?.conversationId ?? body.id),
    operationId: "chatWithAgent",
    summary: "Chat with an agent; accepts what chat clients of the AI SDK send",
    tag,
    body: chatBody,
    headers: ["traceparent"],
    response: { kind: "events", description: "The reply as a UI message stream", event: chatChunk },
    errors,
    check,
    handle: async (context) => {
      const { andante, params, body } = context;
      const { resumable, ...given } = body.options ?? {};
      // Chat clients always send an id and all their messages; a user without an id has no stored conversation.
      const chatId = isWithoutId(context.caller) ? undefined : body.id;
      const options = optionsOf(context, { ...given, conversationId: given.conversationId ?? chatId });
      const again = body.trigger === "regenerate-message";
      const replaces = again ? (body.messageId ?? undefined) : undefined;
      const input = givenInput({ input: body.input ?? body.messages });
      return chatEvents(
        context,
        await andante.agents.chat(params.id ?? "", input, { ...options, resumable, again, replaces }),
      );
    },
  }),
  route({
    method: "GET",
    path: running,
    access: "protected",
    action: "agents.attach",
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, params }) => idsIn(andante, params.conversationId),
    reveals: "own",
    operationId: "attachToChat",
    summary: "Read the reply that runs in a conversation from its beginning; 204 when none does",
    tag,
    response: {
      kind: "events",
      description: "The reply as a UI message stream",
      event: chatChunk,
      empty: "No reply is running",
    },
    errors: [404, 503],
    check,
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const [id, conversationId] = [params.id ?? "", params.conversationId ?? ""];
      const chunks = owner && (await andante.agents.attach(id, conversationId, owner));
      return chunks === undefined ? new RouteResponse(null, { status: 204 }) : chatEvents(context, chunks);
    },
  }),
  route({
    method: "DELETE",
    path: running,
    access: "protected",
    action: "agents.stop",
    resource: ["agentId", "conversationId", "userId"],
    ids: ({ andante, params }) => idsIn(andante, params.conversationId),
    reveals: "own",
    operationId: "stopChat",
    summary: "Stop the reply that runs in a conversation; it is kept as far as it came",
    tag,
    response: { kind: "json", description: "Whether one was running", data: stopped },
    errors: [404, 503],
    check,
    handle: async (context) => {
      const { andante, params } = context;
      const owner = ownerFor(context);
      const [id, conversationId] = [params.id ?? "", params.conversationId ?? ""];
      return { stopped: owner !== undefined && (await andante.agents.stop(id, conversationId, owner)) };
    },
  }),
];

/** The permitted options of a call. A dropped connection aborts the signal. */
function optionsOf<Options extends { readonly conversationId?: string | undefined }>(
  { caller, gate, http }: RouteContext,
  options: Options | undefined,
) {
  if (options?.conversationId !== undefined && isWithoutId(caller)) {
    const problem = "a conversation belongs to a user, and this token gives no user id";
    throw new InvalidOptionError({ option: "conversationId", problem });
  }
  const given = startOptionsOf(options ?? {}, caller, gate.enabled);
  return { ...given, traceparent: headerOf(http.req, traceparentHeader), signal: http.req.raw.signal };
}

function events(context: RouteContext, parts: Parameters<typeof eventResponse>[0]): RouteResponse {
  const { logger, http, stream } = context;
  return eventResponse(parts, { headers: {}, logger, stream, signal: http.req.raw.signal });
}

/** Chat clients recognise the protocol by this header. */
const headers = { "x-vercel-ai-ui-message-stream": "v1" };

function chatEvents(
  { logger, http, stream }: RouteContext,
  chunks: Parameters<typeof eventResponse>[0],
): RouteResponse {
  return eventResponse(chunks, { headers, last: "[DONE]", logger, stream, signal: http.req.raw.signal });
}

function givenInput(body: { input?: unknown }): unknown {
  if (body.input === undefined) throw new InputValidationError({ detail: "input: required" });
  return body.input;
}

/** The schema of the body; the core validates that it is a JSON Schema. */
function givenSchema({ schema }: { schema?: unknown }): Readonly<Record<string, unknown>> {
  if (isObject(schema)) return schema;
  throw new InvalidSchemaError({ detail: "expected a JSON Schema object" });
}
