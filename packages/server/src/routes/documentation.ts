// Documentation: the landing page, the API's own description, the interactive UI, and whether the service is well.
import type { Andante } from "@andante/core";
import { ShuttingDownError, UnhealthyError } from "@andante/core/errors";
import { internalsOf } from "@andante/core/internal";
import { interactiveUi, uiAsset } from "../docs/interactive-ui.ts";
import { RouteNotFoundError } from "../errors/request-errors.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type Route, route } from "../route.ts";
import { health, readiness } from "../schemas/execution-schemas.ts";

const shared = {
  method: "GET",
  access: "public",
  action: "documentation.read",
  tag: "Documentation",
  errors: [],
} as const;

/** The rows that describe the others; `routes` returns the whole table, themselves included. */
export function documentationRoutes(routes: () => readonly Route[]): Route[] {
  return [
    route({
      ...shared,
      path: "/",
      contract: true,
      summary: "A page that shows what is registered, with a call to try for each",
      response: { kind: "other", description: "A page", contentType: "text/html" },
      handle: async ({ andante, http, hasConsole }) => {
        // Makes up examples with a validator of JSON Schema, which nothing else needs at a start.
        const { landingPage } = await import("../docs/landing-page.ts");
        const workflows = andante.workflows().map(({ id }) => andante.workflow(id));
        const agents = await andante.agents.list();
        return landingPage({ url: new URL(http.req.url).origin, agents, workflows, hasConsole });
      },
    }),
    route({
      ...shared,
      path: "/doc",
      contract: true,
      summary: "The OpenAPI description of this service",
      response: { kind: "other", description: "An OpenAPI 3.1 document", contentType: "application/json" },
      handle: async ({ gate }) => {
        const { describeApi } = await import("../docs/openapi.ts");
        const description = JSON.stringify(describeApi(routes(), gate));
        return new RouteResponse(description, { headers: jsonHeaders });
      },
    }),
    route({
      ...shared,
      path: "/ui",
      contract: true,
      summary: "An interactive page of this description",
      response: { kind: "other", description: "A page", contentType: "text/html" },
      handle: () => interactiveUi(),
    }),
    route({
      ...shared,
      path: "/ui/:file",
      summary: "An asset of the interactive page",
      response: { kind: "other", description: "A script or a style sheet", contentType: "text/javascript" },
      errors: [404],
      handle: ({ params, http }) => {
        const asset = uiAsset(params.file ?? "");
        if (asset === undefined) throw new RouteNotFoundError({ method: "GET", path: http.req.path });
        return asset;
      },
    }),
    route({
      ...shared,
      path: "/health",
      action: "health.read",
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
      summary: "Whether the service takes new work: it works and is not shutting down",
      response: { kind: "json", description: "It takes new work", data: readiness },
      errors: [503],
      handle: async ({ andante }) => {
        if (internalsOf(andante).closing) throw new ShuttingDownError();
        await checkHealth(andante);
        return { status: "ready" };
      },
    }),
  ];
}

/** Throws the reason when the store cannot be used. */
async function checkHealth(andante: Andante): Promise<void> {
  await andante.ready();
  const { problem } = await internalsOf(andante).health();
  if (problem !== null) throw new UnhealthyError({ problem });
}
