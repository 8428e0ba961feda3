// Metrics for Prometheus.
import { RouteResponse } from "../response/route-response.ts";
import { route } from "../route.ts";

export const metricsRoutes = [
  route({
    method: "GET",
    path: "/metrics",
    // Metrics contain names and load of workflows, agents and models: with authentication they are not public.
    access: "protected",
    action: "metrics.read",
    resource: [],
    operationId: "getMetrics",
    summary: "Read the metrics of this process in Prometheus' text format",
    tag: "Observability",
    response: { kind: "other", description: "The metrics", contentType: "text/plain" },
    errors: [],
    handle: async ({ andante }) => {
      await andante.ready();
      const headers = { "content-type": andante.metrics.contentType };
      return new RouteResponse(await andante.metrics.text(), { headers });
    },
  }),
];
