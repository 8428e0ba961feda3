// Events from outside, in bodies, queries and responses.
import { z } from "zod";
import { component, jsonSchema, orNull, page, shape, timestamp } from "./component.ts";

const options = shape(() => ({
  data: z.unknown(),
  id: orNull(z.string()).describe("The id of the sender: an event with a known one is not sent again"),
  key: orNull(z.string()).describe("Default: made by the definition of the event"),
  userId: orNull(z.string()).describe("Whose event it is; with authentication the user of the token"),
}));

export const eventBody = component("EventToSend", () => z.object(options()));
export const eventsBody = component("EventsToSend", () =>
  z.object({ events: z.array(z.object({ name: z.string(), ...options() })).describe("At most 1000") }),
);

const done = shape(() => ({
  started: z.array(z.string()).describe("Executions that it has started: the ids of at most 100"),
  woken: z.array(z.string()).describe("Executions whose waits it has ended"),
  cancelled: z.array(z.string()),
  skipped: z
    .array(z.object({ workflowId: z.string(), reason: z.string() }))
    .describe("Workflows that it has not started"),
}));

export const eventReceipt = component("EventReceipt", () =>
  z.object({
    eventId: z.string(),
    duplicate: z.boolean().describe("An event with this id was sent before"),
    ...done(),
  }),
);
export const eventReceipts = component("EventReceipts", () =>
  z.object({ receipts: z.array(eventReceipt()) }),
);

export const receivedWebhook = component("ReceivedWebhook", () =>
  z.object({
    duplicate: z.boolean().describe("It was received before"),
    eventIds: z.array(z.string()),
  }),
);

export const eventListQuery = shape(() =>
  z.object({
    name: z.string().optional(),
    key: z.string().optional(),
    id: z.string().optional(),
    unmatched: z.enum(["true", "false"]).optional(),
    ...page(),
    limit: z.coerce.number().int().min(1).max(200).optional(),
  }),
);

export const sentEvent = component("SentEvent", () =>
  z.object({
    eventId: z.string(),
    name: z.string(),
    key: z.string().nullable(),
    scope: z.string().nullable().describe("The user whose executions alone it reaches; null for all"),
    userId: z.string().nullable(),
    sentBy: z.string().nullable().describe("The execution whose body has sent it"),
    sentAt: timestamp(),
    data: z.unknown().optional().describe("Absent once it is too old to be found by waits"),
    ...done(),
    counts: z
      .object({ started: z.int(), woken: z.int(), cancelled: z.int(), skipped: z.int() })
      .describe("Of all, also those that are not named"),
    unmatched: z.boolean().describe("It has started, woken and cancelled nothing so far"),
  }),
);
export const sentEventPage = component("SentEventPage", () =>
  z.object({ events: z.array(sentEvent()), nextCursor: z.string().nullable() }),
);

export const eventTypes = component("EventTypes", () =>
  z.object({
    events: z.array(
      z.object({
        name: z.string(),
        scope: z.enum(["shared", "user"]),
        data: jsonSchema().describe("The JSON Schema of its data"),
      }),
    ),
  }),
);
