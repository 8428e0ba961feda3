// The API's own description.

import { describeApi } from "../docs/openapi.ts";
import type { Route } from "../route.ts";
import { route } from "../route.ts";

/** The rows that describe the others; `routes` gives the whole table, themselves included. */
export function documentationRoutes(routes: () => readonly Route[]): Route[] {
  let description: string | undefined;
  return [
    route({
      method: "GET",
      path: "/doc",
      access: "public",
      summary: "The OpenAPI description of this service",
      tag: "Documentation",
      response: { kind: "other", description: "An OpenAPI 3.1 document", contentType: "application/json" },
      errors: [],
      handle: () => {
        description ??= JSON.stringify(describeApi(routes()));
        return new Response(description, { headers: { "content-type": "application/json" } });
      },
    }),
  ];
}
