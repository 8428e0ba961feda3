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
    reveals: "own",
    costs: "read",
    operationId: "getTrace",
    summary: "Show one trace with its spans",
    tag,
    response: { kind: "json", description: "The trace", data: trace },
    errors: [404, 503],
    handle: async ({ andante, params, view, http }) => {
      await andante.ready();
      const traceId = params.traceId ?? "";
      const mayBeSeen = view.kind === "all" || view.kind === "own";
      const userId = view.kind === "own" ? view.userId : undefined;
      const found = mayBeSeen ? await andante.traces.read(traceId, userId, http.req.raw.signal) : undefined;
      if (found === undefined) throw new TraceNotFoundError({ traceId });
      return found;
    },
  }),
];

/** A page of what the caller may see, as lists of executions do it. A trace has no outline: its id is its execution's. */
async function listVisible({ andante, view }: RouteContext, query: z.output<ReturnType<typeof traceQuery>>) {
  await andante.ready();
  if (view.kind === "all") return andante.traces.list(query);
  if (view.kind !== "own" || (query.userId !== undefined && query.userId !== view.userId)) {
    return { traces: [], nextCursor: null };
  }
  return andante.traces.list({ ...query, userId: view.userId });
}
