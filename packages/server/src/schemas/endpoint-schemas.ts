// Endpoints and deliveries, in bodies, queries and responses.
import { z } from "zod";
import { component, orNull, shape, timestamp } from "./component.ts";

const types = () =>
  z.enum(["execution.ended", "execution.suspended", "suspension.reminder", "suspension.escalated"]);
const content = () => z.enum(["thin", "full"]);
const states = () => z.enum(["scheduled", "pending", "delivered", "failed"]);

export const endpointBody = component("EndpointOptions", () =>
  z.object({
    url: z.string().describe("Where events are posted; https"),
    secret: orNull(z.string()).describe("whsec_ and base64. Default: one is made, or the present one stays"),
    on: orNull(z.array(types())).describe("The types of events. Default: all"),
    workflows: orNull(z.array(z.string())).describe("Only events of these workflows. Default: all"),
    content: orNull(content()).describe("full: with results, errors and data. Default: thin"),
  }),
);

const endpointFields = shape(() => ({
  endpointId: z.string(),
  url: z.string(),
  origin: z.enum(["code", "api"]).describe("Where it is declared"),
  on: z.array(types()),
  workflows: z.array(z.string()).nullable().describe("Null: all"),
  content: content(),
  state: z.enum(["active", "disabled"]),
  note: z.string().nullable().describe("Why it is disabled"),
  failingSince: timestamp().nullable(),
  secrets: z.int().describe("How many secrets sign now"),
}));

export const endpoint = component("Endpoint", () => z.object(endpointFields()));

export const setEndpoint = component("SetEndpoint", () =>
  z.object({ ...endpointFields(), secret: z.string().optional().describe("Where it was made now") }),
);

export const endpointList = component("EndpointList", () => z.object({ endpoints: z.array(endpoint()) }));

export const removedEndpoint = component("RemovedEndpoint", () => z.object({ endpointId: z.string() }));

export const rotatedEndpoint = component("RotatedEndpoint", () =>
  z.object({ endpointId: z.string(), secret: z.string() }),
);

export const endpointTest = component("EndpointTest", () => z.object({ deliveryId: z.string() }));

const deliveryFields = shape(() => ({
  deliveryId: z.string(),
  messageId: z.string().describe("The webhook-id of each attempt"),
  endpointId: z.string(),
  executionId: z.string().nullable(),
  workflowId: z.string(),
  type: z.string(),
  state: states(),
  createdAt: timestamp(),
  nextAt: timestamp().nullable().describe("When the next attempt is made"),
  attempts: z.int(),
  lastStatus: z.int().nullable(),
  lastError: z.string().nullable(),
}));

export const delivery = component("Delivery", () => z.object(deliveryFields()));

export const deliveryPage = component("DeliveryPage", () =>
  z.object({ deliveries: z.array(delivery()), nextCursor: z.string().nullable() }),
);

export const deliveryDetail = component("DeliveryDetail", () =>
  z.object({
    ...deliveryFields(),
    payload: z.string().describe("The body of the request"),
    history: z
      .array(
        z.object({
          at: timestamp(),
          status: z.int().nullable(),
          error: z.string().nullable(),
          milliseconds: z.number(),
        }),
      )
      .describe("The last 20 attempts"),
  }),
);

export const deliveryQuery = shape(() =>
  z.object({
    cursor: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(100).optional(),
    endpointId: z.string().optional(),
    state: states().optional(),
  }),
);
