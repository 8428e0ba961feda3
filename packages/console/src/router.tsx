// The addresses of the console: page, filters, selected step and tab all stand in them.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Broken } from "./frame/broken.tsx";
import { NotFound } from "./frame/not-found.tsx";
import { parseSearch, readSearch, stringifySearch } from "./frame/search.ts";
import { Shell } from "./frame/shell.tsx";
import { HomePage } from "./pages/home/home-page.tsx";

const root = createRootRoute({ component: Shell, validateSearch: readSearch, notFoundComponent: NotFound });
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

const routes = root.addChildren([
  createRoute({ ...at("/"), component: HomePage }),
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
    component: lazyRouteComponent(() => import("./pages/execution/execution-page.tsx"), "ExecutionPage"),
  }),
  createRoute({
    ...at("/workflows"),
    component: lazyRouteComponent(() => import("./pages/workflows/workflows-page.tsx"), "WorkflowsPage"),
  }),
  createRoute({
    ...at("/workflows/$workflowId"),
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

export function createConsoleRouter() {
  return createRouter({
    routeTree: routes,
    basepath: new URL(document.baseURI).pathname.replace(/\/$/, ""),
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
