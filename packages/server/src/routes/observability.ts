// Logs, traces and metrics over HTTP.
import { TraceNotFoundError } from "@andante/core/errors";
import { entityIds, recordIds } from "../auth/entry-ids.ts";
import { visibleLines, visibleRecord } from "../auth/view.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type RouteContext, route } from "../route.ts";
import type { Value } from "../schemas/component.ts";
import { logQuery, logRecords } from "../schemas/log-schemas.ts";
import { trace, tracePage, traceQuery } from "../schemas/trace-schemas.ts";

const tag = "Observability";

type TraceQuery = Value<typeof traceQuery>;
/** Rows about traces. */
const ofTraces = { method: "GET", access: "protected", reveals: "own", costs: "read", tag } as const;

export const observabilityRoutes = [
  route({
    method: "GET",
    path: "/api/logs",
    contract: true,
    access: "public",
    action: "logs.read",
    resource: ["workflowId", "agentId", "executionId", "conversationId", "userId"],
    reveals: "outline",
    costs: "read",
    operationId: "listLogs",
    summary: "Read the newest log lines that match, oldest first",
    tag,
    query: logQuery,
    response: { kind: "json", description: "The lines", data: logRecords },
    errors: [400, 503],
    handle: async ({ andante, query, view, permission }) => {
      await andante.ready();
      const filter = visibleLines(view, query);
      const lines = filter === undefined ? [] : await andante.logs.list(filter);
      const permitted = await permission.visible(lines, recordIds);
      return permitted.map((line) => visibleRecord(view, line));
    },
  }),
  route({
    ...ofTraces,
    path: "/api/traces",
    action: "traces.list",
    resource: ["workflowId", "agentId", "conversationId", "userId", "executionId", "entityType", "entityId"],
    operationId: "listTraces",
    summary: "List traces, newest first",
    query: traceQuery,
    response: { kind: "json", description: "A page of traces", data: tracePage },
    errors: [400, 503],
    handle: (context) => listVisible(context, context.query),
  }),
  route({
    ...ofTraces,
    path: "/api/traces/:traceId",
    action: "traces.read",
    resource: ["traceId", "workflowId", "agentId", "conversationId", "userId"],
    operationId: "getTrace",
    summary: "Show one trace with its spans",
    response: { kind: "json", description: "The trace", data: trace },
    errors: [404, 503],
    handle: async ({ andante, params, view, http, permission }) => {
      await andante.ready();
      const traceId = params.traceId ?? "";
      const mayBeSeen = view.kind === "all" || view.kind === "own";
      const userId = view.kind === "own" ? view.userId : undefined;
      const found = mayBeSeen ? await andante.traces.read(traceId, userId, http.req.raw.signal) : undefined;
      if (found === undefined) throw new TraceNotFoundError({ traceId });
      const roots = await permission.visible(found.roots, entityIds);
      if (roots.length === 0) throw new ForbiddenError({ action: "traces.read" });
      // Spans have no reference to their root, so all spans of a refused definition are left out.
      const refused = found.roots.filter((root) => !roots.includes(root));
      const spans = found.spans.filter((span) => !refused.some((root) => isOf(span, root)));
      return { ...found, roots, spans };
    },
  }),
  route({
    method: "GET",
    path: "/metrics",
    // Metrics contain names and load of workflows, agents and models: with authentication they are not public.
    access: "protected",
    action: "metrics.read",
    resource: [],
    operationId: "getMetrics",
    summary: "Read the metrics of this process in Prometheus' text format",
    tag,
    response: { kind: "other", description: "The metrics", contentType: "text/plain" },
    errors: [],
    handle: async ({ andante, cachedReads, http }) => {
      await andante.ready();
      const headers = { "content-type": andante.metrics.contentType };
      // Reads counts of the store and lists open files: requests at the same time share one reading.
      const read = () => andante.metrics.text();
      const { signal } = http.req.raw;
      const text = await cachedReads.get({ key: "metrics", milliseconds: 0, signal, read });
      return new RouteResponse(text, { headers });
    },
  }),
];

interface Entity {
  readonly entityType: string;
  readonly entityId: string;
}

function isOf(span: Entity, root: Entity): boolean {
  return span.entityType === root.entityType && span.entityId === root.entityId;
}

/** A page of traces visible to the caller. A trace has no outline: its id is its execution's. */
async function listVisible(context: RouteContext, query: TraceQuery) {
  const { andante, view } = context;
  await andante.ready();
  if (view.kind === "all") return listPermitted(context, query);
  if (view.kind !== "own" || (query.userId !== undefined && query.userId !== view.userId)) {
    return { traces: [], nextCursor: null };
  }
  return listPermitted(context, { ...query, userId: view.userId });
}

async function listPermitted({ andante, permission }: RouteContext, query: TraceQuery) {
  const page = await andante.traces.list(query);
  return { ...page, traces: await permission.visible(page.traces, entityIds) };
}
