// Documentation: the landing page, the API description, the interactive UI, and the health of the service.
import { createHash } from "node:crypto";
import type { Andante } from "@andante/core";
import { ShuttingDownError, UnhealthyError } from "@andante/core/errors";
import { type EntryIds, Permission } from "../auth/permission.ts";
import { consoleFonts } from "../console/console-files.ts";
import { RouteNotFoundError } from "../errors/request-errors.ts";
import { interactiveUi, isUiAsset, uiAsset } from "../openapi/interactive-ui.ts";
import type { Registered } from "../openapi/openapi.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type Route, type RouteContext, route } from "../route.ts";
import { health, readiness } from "../schemas/execution-schemas.ts";

const shared = {
  method: "GET",
  access: "public",
  action: "documentation.read",
  resource: [],
  tag: "Documentation",
  errors: [],
} as const;

/** The documentation rows; `routes` returns the whole table, including these. */
export function documentationRoutes(routes: () => readonly Route[]): Route[] {
  return [
    route({
      ...shared,
      path: "/",
      resource: ["workflowId", "agentId"],
      contract: true,
      operationId: "getLandingPage",
      summary: "A page that shows what is registered, with a call to try for each",
      response: { kind: "other", description: "A page", contentType: "text/html" },
      handle: async (context) => {
        // Loaded on demand: it generates examples with a JSON Schema validator, which a start does not need.
        const { landingPage, pageAt } = await import("../openapi/landing-page.ts");
        const { placeholderFor } = await import("../openapi/example-call.ts");
        const { http, basePath, hasConsole, built } = context;
        const visible = await visibleTo(context);
        const key = keyOf(visible);
        const { origin } = new URL(http.req.url);
        const placeholder = placeholderFor(origin);
        const template = await built.landingTemplates.get(`${placeholder} ${key}`, () => {
          const at = { origin: placeholder, basePath, hasConsole, fonts: hasConsole ? consoleFonts() : [] };
          return landingPage(at, visible.agents, visible.workflows);
        });
        return built.landingPages.get(`${origin} ${key}`, () => pageAt(origin, template));
      },
    }),
    route({
      ...shared,
      path: "/doc",
      resource: ["workflowId", "agentId"],
      contract: true,
      operationId: "getApiDescription",
      summary: "The OpenAPI description of this service",
      response: { kind: "other", description: "An OpenAPI 3.1 document", contentType: "application/json" },
      handle: async (context) => {
        const { describeApi } = await import("../openapi/openapi.ts");
        const visible = await visibleTo(context);
        return context.built.descriptions.get(keyOf(visible), () => {
          // The host documents the routes that it has replaced.
          const builtIn = routes().filter((row) => !context.isReplaced(row));
          const description = describeApi(builtIn, context, visible);
          return new RouteResponse(JSON.stringify(description), { headers: jsonHeaders });
        });
      },
    }),
    route({
      ...shared,
      path: "/ui",
      contract: true,
      operationId: "getApiPage",
      summary: "An interactive page of this description",
      response: { kind: "other", description: "A page", contentType: "text/html" },
      handle: ({ built }) => built.files.get("/ui", interactiveUi),
    }),
    route({
      ...shared,
      path: "/ui/:file",
      resource: ["file"],
      operationId: "getApiPageAsset",
      summary: "An asset of the interactive page",
      response: { kind: "other", description: "A script or a style sheet", contentType: "text/javascript" },
      errors: [404],
      handle: ({ params, http, built }) => {
        const { file = "" } = params;
        if (!isUiAsset(file)) throw new RouteNotFoundError({ method: "GET", path: http.req.path });
        return built.files.get(file, () => uiAsset(file));
      },
    }),
    route({
      ...shared,
      path: "/health",
      action: "health.read",
      operationId: "getHealth",
      summary: "Whether the service works: the store can be read and written",
      response: { kind: "json", description: "It works", data: health },
      errors: [503],
      handle: async ({ andante }) => {
        await checkHealth(andante);
        return { status: "ok" };
      },
    }),
    route({
      ...shared,
      path: "/ready",
      action: "health.read",
      operationId: "getReadiness",
      summary: "Whether the service takes new work: it works and is not shutting down",
      response: { kind: "json", description: "It takes new work", data: readiness },
      errors: [503],
      handle: async ({ andante }) => {
        if (andante.closing) throw new ShuttingDownError();
        await checkHealth(andante);
        return { status: "ready" };
      },
    }),
  ];
}

/** The cache key: a page depends on the definitions, not on their status; the tools of an agent may change. */
function keyOf({ workflows, agents }: Registered): string {
  const ids = workflows.map(({ id }) => id);
  const shown = JSON.stringify([ids, agents.map(({ status: _, ...agent }) => agent)]);
  return createHash("sha256").update(shown).digest("base64");
}

/** The registered definitions that the caller may read. Page and description contain no others. */
async function visibleTo({ andante, authorize, caller, gate }: RouteContext): Promise<Registered> {
  const visible = <T extends { readonly id: string }>(
    kind: "agents" | "workflows",
    all: readonly T[],
    idsOf: (each: T) => EntryIds,
  ) => {
    const mayRead = (id: string) =>
      caller.user !== undefined || !gate.requiresAuth("GET", `/${kind}/${id}`, "public");
    const permission = new Permission(authorize, gate.enabled, caller, { action: `${kind}.read` });
    return permission.visible(
      all.filter(({ id }) => mayRead(id)),
      idsOf,
    );
  };
  const workflows = await visible("workflows", andante.workflows(), ({ id }) => ({ workflowId: id }));
  return {
    workflows: workflows.map(({ id }) => andante.workflow(id)),
    agents: await visible("agents", await andante.agents.list(), ({ id }) => ({ agentId: id })),
  };
}

/** Throws the reason when the store cannot be used. */
async function checkHealth(andante: Andante): Promise<void> {
  await andante.ready();
  const { problem } = await andante.health();
  if (problem !== null) throw new UnhealthyError({ problem });
}
