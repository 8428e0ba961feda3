// Events from outside: sends them, and lists those that were sent.
import { toJsonSchema } from "@andante/core/internal";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { success } from "../response/envelope.ts";
import { type RouteContext, route } from "../route.ts";
import {
  eventBody,
  eventListQuery,
  eventReceipt,
  eventReceipts,
  eventsBody,
  eventTypes,
  sentEventPage,
} from "../schemas/event-schemas.ts";
import { startOptions } from "./start-options.ts";

const tag = "Events";

/** Whose event it is: a caller who sees only its own reaches only its own. */
function senderOf(context: RouteContext, userId: string | undefined) {
  const starter = startOptions(context, { userId });
  if (context.scope === "all") return { userId: starter.userId };
  if (starter.userId === undefined) throw new ForbiddenError({ action: "events.send" });
  return { userId: starter.userId, restrictTo: starter.userId };
}

export const eventRoutes = [
  route({
    method: "POST",
    path: "/events/:eventName",
    access: "protected",
    action: "events.send",
    resource: ["eventName"],
    reveals: "own",
    tag,
    operationId: "sendEvent",
    summary: "Send an event to workflows",
    body: eventBody,
    response: { kind: "json", description: "It is kept", data: eventReceipt, accepted: "It is kept" },
    errors: [400, 404, 409, 413, 415, 503],
    handle: async (context) => {
      const { andante, params, body } = context;
      const { data, id, key, userId } = body;
      const options = { id, key, ...senderOf(context, userId) };
      return success(await andante.send(params.eventName ?? "", data, options), 202);
    },
  }),
  route({
    method: "POST",
    path: "/api/events",
    access: "protected",
    action: "events.send",
    resource: ["eventName"],
    ids: ({ body }) => [...new Set(body.events.map(({ name }) => name))].map((eventName) => ({ eventName })),
    reveals: "own",
    tag,
    operationId: "sendEvents",
    summary: "Send several events in order: all are kept, or none",
    body: eventsBody,
    response: { kind: "json", description: "They are kept", data: eventReceipts, accepted: "They are kept" },
    errors: [400, 404, 409, 413, 415, 503],
    handle: async (context) => {
      const events = context.body.events.map(({ name, userId, ...each }) => {
        return { ...each, event: name, ...senderOf(context, userId) };
      });
      return success({ receipts: await context.andante.sendAll(events) }, 202);
    },
  }),
  route({
    method: "GET",
    path: "/api/events",
    access: "protected",
    action: "events.list",
    resource: [],
    reveals: "own",
    costs: "read",
    tag,
    operationId: "listEvents",
    summary: "List events that were sent, the newest first, with all that they have done",
    query: eventListQuery,
    response: { kind: "json", description: "A page of events", data: sentEventPage },
    errors: [400, 503],
    handle: ({ andante, query, scope, caller }) => {
      const { unmatched, ...rest } = query;
      const filter = { ...rest, unmatched: unmatched === "true" };
      if (scope === "all") return andante.sentEvents.list(filter);
      const { userId } = caller;
      if (userId === undefined) return { events: [], nextCursor: null };
      return andante.sentEvents.list({ ...filter, scope: userId });
    },
  }),
  route({
    method: "GET",
    path: "/api/event-types",
    access: "protected",
    action: "events.types",
    resource: [],
    tag,
    operationId: "listEventTypes",
    summary: "List the registered events with the schemas of their data",
    response: { kind: "json", description: "The events", data: eventTypes },
    errors: [],
    handle: ({ andante }) => ({
      events: [...andante.sentEvents.definitions.values()].map(({ name, scope, schema }) => {
        return { name, scope, data: toJsonSchema(schema, "input", `Event ${name}`) };
      }),
    }),
  }),
];
