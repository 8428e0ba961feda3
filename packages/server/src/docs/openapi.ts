// Derives the OpenAPI 3.1 description from the route table. Zod writes JSON Schema 2020-12, which is OpenAPI 3.1's own.
import { z } from "zod";
import type { Gate } from "../auth/gate.ts";
import type { Route } from "../route.ts";
import { components } from "../schemas/component.ts";
import { version } from "../version.ts";

type JsonObject = Record<string, unknown>;

const schemaPath = (id: string) => `#/components/schemas/${id}`;

/** With authentication configured, `gate` adds who needs a token. */
export function describeApi(routes: readonly Route[], gate: Gate, basePath: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const row of routes) {
    const path = row.path.replaceAll(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: describeRoute(row, gate) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Andante",
      version,
      description: "Agents and durable workflows over HTTP and server-sent events.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    tags: [...new Set(routes.map((row) => row.tag))].map((name) => ({ name })),
    paths,
    components: { schemas: { ...namedSchemas(), Failure: failureSchema }, ...securitySchemes(gate) },
  };
}

const failureSchema: JsonObject = {
  type: "object",
  properties: { success: { const: false }, error: { type: "string" } },
  required: ["success", "error"],
};

function namedSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(components, { uri: schemaPath, io: "input", unrepresentable: "any" });
  // The identifiers repeat where each schema stands, and an OpenAPI document has one dialect for all.
  return Object.fromEntries(Object.entries(schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]));
}

function securitySchemes({ enabled, provider }: Gate): JsonObject {
  if (!enabled) return {};
  const format = provider === "jwt" ? { bearerFormat: "JWT" } : { description: `Verified by: ${provider}` };
  return { securitySchemes: { token: { type: "http", scheme: "bearer", ...format } } };
}

/** A token is needed, or it is welcome: on a public route the caller is known by it. */
function security(row: Route, gate: Gate): JsonObject {
  if (!gate.enabled) return {};
  return { security: needsToken(row, gate) ? [{ token: [] }] : [{}, { token: [] }] };
}

function needsToken({ method, path, access }: Route, gate: Gate): boolean {
  return gate.requiresAuth(method, path, access);
}

function describeRoute(row: Route, gate: Gate): JsonObject {
  return {
    operationId: operationId(row),
    summary: row.summary,
    tags: [row.tag],
    parameters: [...pathParameters(row), ...queryParameters(row)],
    ...(row.body && {
      requestBody: {
        required: row.bodyOptional !== true,
        content: { "application/json": { schema: reference(row.body) } },
      },
    }),
    ...security(row, gate),
    responses: { ...successes(row), ...failures(row, gate) },
  };
}

function operationId(row: Route): string {
  const words = row.path.split("/").map((part) => part.replace(":", "by-"));
  return [row.method.toLowerCase(), ...words].filter((word) => word !== "").join("-");
}

function pathParameters(row: Route): JsonObject[] {
  return [...row.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(row: Route): JsonObject[] {
  if (row.query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(row.query, {
    io: "input",
    unrepresentable: "any",
  });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function reference(schema: z.ZodType): JsonObject {
  const id = components.get(schema)?.id;
  if (id === undefined) throw new TypeError("a schema of the route table has no name");
  return { $ref: schemaPath(id) };
}

function successes({ response }: Route): JsonObject {
  switch (response.kind) {
    case "json": {
      const data = reference(response.data);
      const schema = {
        type: "object",
        properties: { success: { const: true }, data },
        required: ["success", "data"],
      };
      const ok = { description: response.description, content: { "application/json": { schema } } };
      const early = response.accepted && { 202: { ...ok, description: response.accepted } };
      return { 200: ok, ...early };
    }
    case "events":
      return {
        200: {
          description: `${response.description}. Each event is one \`data:\` line with a JSON object and a blank line.`,
          content: { "text/event-stream": { schema: reference(response.event) } },
        },
        ...(response.empty && { 204: { description: response.empty } }),
      };
    case "other":
      return { 200: { description: response.description, content: { [response.contentType]: {} } } };
  }
}

const reasons: Record<number, string> = {
  400: "The request is not valid",
  401: "A token is missing or not valid",
  404: "Not found",
  409: "The id is in use for something else",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "The model's reply does not fit the schema",
  500: "Internal server error",
  502: "The model provider failed",
  503: "Temporarily unavailable; try again later",
};

function failures(row: Route, gate: Gate): JsonObject {
  const content = { "application/json": { schema: { $ref: schemaPath("Failure") } } };
  const refused = needsToken(row, gate) ? [401] : [];
  const statuses = [...row.errors, ...refused, 500].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, { description: reasons[status] ?? "Error", content }]),
  );
}
