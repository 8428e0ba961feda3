// Logs over HTTP.
import { route } from "../route.ts";
import { logQuery, logRecords } from "./log-schemas.ts";

export const logRoutes = [
  route({
    method: "GET",
    path: "/api/logs",
    access: "public",
    action: "logs.read",
    summary: "Read the newest log lines that match, oldest first",
    tag: "Observability",
    query: logQuery,
    response: { kind: "json", description: "The lines", data: logRecords },
    errors: [400, 503],
    handle: ({ andante, query }) => andante.logs.list(query),
  }),
];
