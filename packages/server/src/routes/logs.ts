// Logs over HTTP.
import { recordIds } from "../auth/entry-ids.ts";
import { visibleLines, visibleRecord } from "../auth/view.ts";
import { route } from "../route.ts";
import { logQuery, logRecords } from "../schemas/log-schemas.ts";

export const logRoutes = [
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
    tag: "Observability",
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
];
