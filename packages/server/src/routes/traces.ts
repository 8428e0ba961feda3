// Traces: lists, and one in full.
import { TraceNotFoundError } from "@andante/core/errors";
import type { z } from "zod";
import { entityIds } from "../auth/entry-ids.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { type RouteContext, route } from "../route.ts";
import { trace, tracePage, traceQuery } from "../schemas/trace-schemas.ts";

const tag = "Observability";

type TraceQuery = z.output<ReturnType<typeof traceQuery>>;

export const traceRoutes = [
  route({
    method: "GET",
    path: "/api/traces",
    access: "protected",
    action: "traces.list",
    resource: ["workflowId", "agentId", "conversationId", "userId", "executionId", "entityType", "entityId"],
    reveals: "own",
    costs: "read",
    operationId: "listTraces",
    summary: "List traces, newest first",
    tag,
    query: traceQuery,
    response: { kind: "json", description: "A page of traces", data: tracePage },
    errors: [400, 503],
    handle: (context) => listVisible(context, context.query),
  }),
  route({
    method: "GET",
    path: "/api/traces/:traceId",
    access: "protected",
    action: "traces.read",
    resource: ["traceId", "workflowId", "agentId", "conversationId", "userId"],
    reveals: "own",
    costs: "read",
    operationId: "getTrace",
    summary: "Show one trace with its spans",
    tag,
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
