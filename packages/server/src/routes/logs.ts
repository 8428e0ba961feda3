// Logs over HTTP.

import { withoutStacks } from "../response/without-stacks.ts";
import { route } from "../route.ts";
import { logQuery, logRecords } from "../schemas/log-schemas.ts";

export const logRoutes = [
  route({
    method: "GET",
    path: "/api/logs",
    contract: true,
    access: "public",
    action: "logs.read",
    summary: "Read the newest log lines that match, oldest first",
    tag: "Observability",
    query: logQuery,
    response: { kind: "json", description: "The lines", data: logRecords },
    errors: [400, 503],
    handle: async ({ andante, query, gate, caller }) => {
      const lines = await andante.logs.list(query);
      const known = !gate.enabled || caller.user !== undefined;
      return known ? lines : JSON.parse(withoutStacks(JSON.stringify(lines)));
    },
  }),
];
