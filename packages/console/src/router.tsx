// The routes of the console. The address contains page, filters, selected step and tab.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
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
import { Broken, NotFound } from "./layout/failed-page.tsx";
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
    component: lazyRouteComponent(() => import("./pages/inbox/inbox-page.tsx"), "InboxPage"),
  }),
  createRoute({
    ...at("/executions"),
    component: lazyRouteComponent(() => import("./pages/executions/executions-page.tsx"), "ExecutionsPage"),
  }),
  createRoute({
    ...at("/executions/$executionId"),
    loader: ({ context: { client }, params: { executionId }, cause }) => {
      void client.prefetchQuery(executionQuery(executionId));
      // Not on hover over a link.
      if (cause !== "preload") void client.prefetchQuery(journalQuery(client, executionId));
    },
    component: lazyRouteComponent(() => import("./pages/execution/execution-page.tsx"), "ExecutionPage"),
  }),
  createRoute({
    ...at("/workflows"),
    component: lazyRouteComponent(() => import("./pages/workflows/workflows-page.tsx"), "WorkflowsPage"),
  }),
  createRoute({
    ...at("/workflows/$workflowId"),
    loader: ({ context: { client }, params: { workflowId } }) => {
      void client.prefetchQuery(workflowQuery(workflowId));
      void client.prefetchQuery(exampleQuery(workflowId));
    },
    component: lazyRouteComponent(() => import("./pages/workflows/workflow-page.tsx"), "WorkflowPage"),
  }),
  createRoute({
    ...at("/agents"),
    component: lazyRouteComponent(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
  }),
  createRoute({
    ...at("/agents/$agentId"),
    component: lazyRouteComponent(() => import("./pages/agents/agent-page.tsx"), "AgentPage"),
  }),
  createRoute({
    ...at("/failures"),
    component: lazyRouteComponent(() => import("./pages/failures/failures-page.tsx"), "FailuresPage"),
  }),
  createRoute({
    ...at("/logs"),
    component: lazyRouteComponent(() => import("./pages/logs/logs-page.tsx"), "LogsPage"),
  }),
  createRoute({
    ...at("/traces"),
    component: lazyRouteComponent(() => import("./pages/traces/traces-page.tsx"), "TracesPage"),
  }),
  createRoute({
    ...at("/traces/$traceId"),
    component: lazyRouteComponent(() => import("./pages/traces/trace-page.tsx"), "TracePage"),
  }),
  createRoute({
    ...at("/api"),
    component: lazyRouteComponent(() => import("./pages/api/api-page.tsx"), "ApiPage"),
  }),
]);

export function createConsoleRouter(client: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { client },
    basepath: consoleRoot.replace(/\/$/, ""),
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
