// Traces: lists, and one in full.
import { TraceNotFoundError } from "@andante/core/errors";
import type { z } from "zod";
import { type RouteContext, route } from "../route.ts";
import { trace, tracePage, traceQuery } from "../schemas/trace-schemas.ts";

const tag = "Observability";

export const traceRoutes = [
  route({
    method: "GET",
    path: "/api/traces",
    access: "protected",
    action: "traces.list",
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
    summary: "Show one trace with its spans",
    tag,
    response: { kind: "json", description: "The trace", data: trace },
    errors: [404, 503],
    handle: async ({ andante, params, caller, scope }) => {
      const traceId = params.traceId ?? "";
      // A caller that may see only its own and has no id sees nothing: no user has an empty id.
      const found = await andante.traces.read(traceId, scope === "all" ? undefined : (caller.userId ?? ""));
      if (found === undefined) throw new TraceNotFoundError({ traceId });
      return found;
    },
  }),
];

/** A page of what the caller may see, as lists of executions do it. */
function listVisible({ andante, caller, scope }: RouteContext, query: z.output<typeof traceQuery>) {
  if (scope === "all") return andante.traces.list(query);
  const { userId } = caller;
  if (userId === undefined || (query.userId !== undefined && query.userId !== userId)) {
    return { traces: [], nextCursor: null };
  }
  return andante.traces.list({ ...query, userId });
}
