// The schemas of traces and spans.
import { z } from "zod";
import { component, page, shape, timestamp } from "./component.ts";
import { time } from "./execution-schemas.ts";

const entityType = shape(() => z.enum(["workflow", "agent"]));
const attributes = shape(() => z.record(z.string(), z.unknown()));

export const traceSummary = component("TraceSummary", () =>
  z.object({
    traceId: z.string(),
    rootSpanId: z.string(),
    entityType: entityType(),
    entityId: z.string(),
    executionId: z.string().nullable(),
    userId: z.string().nullable(),
    conversationId: z.string().nullable(),
    startTime: timestamp(),
    endTime: timestamp().nullable(),
    status: z.string(),
  }),
);

export const span = component("Span", () =>
  z.object({
    traceId: z.string(),
    spanId: z.string(),
    parentSpanId: z.string().nullable(),
    entityType: entityType(),
    entityId: z.string(),
    executionId: z.string().nullable(),
    name: z.string(),
    kind: z.enum(["internal", "server", "client", "producer", "consumer"]),
    startTime: timestamp(),
    endTime: timestamp().nullable(),
    duration: z.number().nullable().describe("Milliseconds"),
    status: z.enum(["unset", "ok", "error"]),
    message: z.string().optional(),
    attributes: attributes(),
    events: z.array(z.object({ name: z.string(), timestamp: timestamp(), attributes: attributes() })),
  }),
);

export const tracePage = component("TracePage", () =>
  z.object({ traces: z.array(traceSummary()), nextCursor: z.string().nullable() }),
);

export const trace = component("Trace", () =>
  z.object({
    traceId: z.string(),
    roots: z.array(traceSummary()),
    spans: z.array(span()).describe("In the order in which they began, at most 10 000"),
    complete: z
      .boolean()
      .describe("False when the trace has more spans; a span whose end was not read looks open"),
  }),
);

export const traceQuery = shape(() =>
  z.object({
    entityType: entityType().describe("What was called first in the trace").optional(),
    entityId: z.string().optional(),
    executionId: z.string().optional(),
    userId: z.string().optional(),
    status: z.enum(["running", "suspended", "completed", "error", "cancelled"]).optional(),
    from: time("Started at this time or later"),
    to: time("Started before this time"),
    ...page(),
  }),
);
