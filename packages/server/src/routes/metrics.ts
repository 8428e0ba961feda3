// Metrics for Prometheus.
import { RouteResponse } from "../response/route-response.ts";
import { route } from "../route.ts";

export const metricsRoutes = [
  route({
    method: "GET",
    path: "/metrics",
    // Names of workflows, agents and models, and how busy they are: not for everyone once there is authentication.
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
