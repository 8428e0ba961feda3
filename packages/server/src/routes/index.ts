// The route table: every built-in endpoint, one row each. The router and the API description derive from it.
import type { Route } from "../route.ts";
import { agentRoutes } from "./agents.ts";
import { conversationRoutes } from "./conversations.ts";
import { documentationRoutes } from "./documentation.ts";
import { endpointRoutes } from "./endpoints.ts";
import { eventRoutes } from "./events.ts";
import { executionRoutes } from "./executions.ts";
import { factRoutes } from "./facts.ts";
import { linkRoutes } from "./links.ts";
import { observabilityRoutes } from "./observability.ts";
import { overviewRoutes } from "./overview.ts";
import { receiverRoutes } from "./receivers.ts";
import { scheduleRoutes } from "./schedules.ts";
import { workflowRoutes } from "./workflows.ts";

export const routes: readonly Route[] = [
  ...agentRoutes,
  ...conversationRoutes,
  ...factRoutes,
  ...workflowRoutes,
  ...executionRoutes,
  ...scheduleRoutes,
  ...eventRoutes,
  ...linkRoutes,
  ...endpointRoutes,
  ...receiverRoutes,
  ...overviewRoutes,
  ...observabilityRoutes,
  ...documentationRoutes(() => routes),
];
