// The routes of the console. The address contains page, filters, selected step and tab.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { consoleRoot } from "./api/andante.ts";
import {
  activityQuery,
  exampleQuery,
  executionQuery,
  executionsQuery,
  inboxQuery,
  serverQuery,
  workflowQuery,
} from "./api/queries.ts";
import { NotLoaded } from "./components/late-code.tsx";
import { Broken, NotFound } from "./layout/failed-page.tsx";
import { PageSkeleton } from "./layout/page.tsx";
import { parseSearch, readSearch, stringifySearch } from "./layout/search.ts";
import { Shell } from "./layout/shell.tsx";
import { journalQuery } from "./pages/execution/journal.ts";
import { HomePage } from "./pages/home/home-page.tsx";

// A page's data is requested in parallel to its code: `loader`s start the request and do not wait.
const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Shell,
  validateSearch: readSearch,
  notFoundComponent: NotFound,
  loader: ({ context: { client } }) => {
    void client.prefetchQuery(serverQuery);
    void client.prefetchQuery(inboxQuery);
  },
});
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

const page = (load: () => Promise<ComponentType>) =>
  lazyRouteComponent(async () => ({ default: await load().catch(() => NotLoaded) }));

const routes = root.addChildren([
  createRoute({
    ...at("/"),
    component: HomePage,
    loader: ({ context: { client } }) => {
      void client.prefetchQuery(activityQuery());
      void client.prefetchInfiniteQuery(executionsQuery({}, 8));
    },
  }),
  createRoute({
    ...at("/inbox"),
    component: page(() => import("./pages/inbox/inbox-page.tsx").then(({ InboxPage }) => InboxPage)),
  }),
  createRoute({
    ...at("/executions"),
    component: page(() =>
      import("./pages/executions/executions-page.tsx").then(({ ExecutionsPage }) => ExecutionsPage),
    ),
  }),
  createRoute({
    ...at("/executions/$executionId"),
    loader: ({ context: { client }, params: { executionId }, cause }) => {
      void client.prefetchQuery(executionQuery(executionId));
      // Not on hover over a link.
      if (cause !== "preload") void client.prefetchQuery(journalQuery(client, executionId));
    },
    component: page(() =>
      import("./pages/execution/execution-page.tsx").then(({ ExecutionPage }) => ExecutionPage),
    ),
  }),
  createRoute({
    ...at("/workflows"),
    component: page(() =>
      import("./pages/workflows/workflows-page.tsx").then(({ WorkflowsPage }) => WorkflowsPage),
    ),
  }),
  createRoute({
    ...at("/workflows/$workflowId"),
    loader: ({ context: { client }, params: { workflowId } }) => {
      void client.prefetchQuery(workflowQuery(workflowId));
      void client.prefetchQuery(exampleQuery(workflowId));
    },
    component: page(() =>
      import("./pages/workflows/workflow-page.tsx").then(({ WorkflowPage }) => WorkflowPage),
    ),
  }),
  createRoute({
    ...at("/agents"),
    component: page(() => import("./pages/agents/agents-page.tsx").then(({ AgentsPage }) => AgentsPage)),
  }),
  createRoute({
    ...at("/agents/$agentId"),
    component: page(() => import("./pages/agents/agent-page.tsx").then(({ AgentPage }) => AgentPage)),
  }),
  createRoute({
    ...at("/schedules"),
    component: page(() =>
      import("./pages/schedules/schedules-page.tsx").then(({ SchedulesPage }) => SchedulesPage),
    ),
  }),
  createRoute({
    ...at("/schedules/$scheduleId"),
    component: page(() =>
      import("./pages/schedules/schedule-page.tsx").then(({ SchedulePage }) => SchedulePage),
    ),
  }),
  createRoute({
    ...at("/events"),
    component: page(() => import("./pages/events/events-page.tsx").then(({ EventsPage }) => EventsPage)),
  }),
  createRoute({
    ...at("/events/$eventId"),
    component: page(() => import("./pages/events/event-page.tsx").then(({ EventPage }) => EventPage)),
  }),
  createRoute({
    ...at("/endpoints"),
    component: page(() =>
      import("./pages/endpoints/endpoints-page.tsx").then(({ EndpointsPage }) => EndpointsPage),
    ),
  }),
  createRoute({
    ...at("/endpoints/$endpointId"),
    component: page(() =>
      import("./pages/endpoints/endpoint-page.tsx").then(({ EndpointPage }) => EndpointPage),
    ),
  }),
  createRoute({
    ...at("/deliveries"),
    component: page(() =>
      import("./pages/endpoints/deliveries-page.tsx").then(({ DeliveriesPage }) => DeliveriesPage),
    ),
  }),
  createRoute({
    ...at("/failures"),
    component: page(() =>
      import("./pages/failures/failures-page.tsx").then(({ FailuresPage }) => FailuresPage),
    ),
  }),
  createRoute({
    ...at("/logs"),
    component: page(() => import("./pages/logs/logs-page.tsx").then(({ LogsPage }) => LogsPage)),
  }),
  createRoute({
    ...at("/traces"),
    component: page(() => import("./pages/traces/traces-page.tsx").then(({ TracesPage }) => TracesPage)),
  }),
  createRoute({
    ...at("/traces/$traceId"),
    component: page(() => import("./pages/traces/trace-page.tsx").then(({ TracePage }) => TracePage)),
  }),
  createRoute({
    ...at("/usage"),
    component: page(() => import("./pages/usage/usage-page.tsx").then(({ UsagePage }) => UsagePage)),
  }),
  createRoute({
    ...at("/nodes"),
    component: page(() => import("./pages/nodes/nodes-page.tsx").then(({ NodesPage }) => NodesPage)),
  }),
  createRoute({
    ...at("/mcp"),
    component: page(() => import("./pages/mcp/mcp-page.tsx").then(({ McpPage }) => McpPage)),
  }),
  createRoute({
    ...at("/api"),
    component: page(() => import("./pages/api/api-page.tsx").then(({ ApiPage }) => ApiPage)),
  }),
]);

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The answer to the question of the address, chosen before its form is shown. */
    readonly decision?: boolean;
  }
}

export function createConsoleRouter(client: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { client },
    basepath: consoleRoot.replace(/\/$/, ""),
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
    // The previous page stays for this many milliseconds while the code of the next one is loaded.
    defaultPendingMs: 200,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PageSkeleton,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
