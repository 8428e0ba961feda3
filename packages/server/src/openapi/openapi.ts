// Derives the OpenAPI 3.1 description from the route table. Zod and OpenAPI 3.1 both use JSON Schema 2020-12.
import { z } from "zod";
import type { Gate } from "../auth/gate.ts";
import { costOf, namesExecution, type ResponseHeader, type Route, type RouteContext } from "../route.ts";
import type { Shape } from "../schemas/component.ts";
import { components } from "../schemas/components.ts";
import { version } from "../version.ts";
import {
  failureHeaders,
  locationHeader,
  requestHeaderParameters,
  successHeaders,
} from "./described-headers.ts";
import { type JsonObject, schemaPath } from "./json-object.ts";
import { type Examples, operationExamples } from "./operation-examples.ts";
import { type Registered, registeredSchemas } from "./registered-schemas.ts";

export type { Registered } from "./registered-schemas.ts";

/** The parts of a service that the description depends on: authentication, refusals and the base path. */
type Surroundings = Pick<RouteContext, "gate" | "cors" | "authorize" | "basePath">;

/** `registered` are the definitions that the caller may see. */
export function describeApi(
  routes: readonly Route[],
  surroundings: Surroundings,
  registered: Registered,
): JsonObject {
  const { gate, basePath } = surroundings;
  const examples = operationExamples(registered);
  const schemas = { ...namedSchemas(), Failure: failureSchema };
  const paths: Record<string, JsonObject> = {};
  for (const row of routes) {
    const path = row.path.replaceAll(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: describeRoute(row, surroundings, examples) };
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
    components: {
      schemas: { ...schemas, ...registeredSchemas(registered, Object.keys(schemas)) },
      ...securitySchemes(gate),
    },
    // Without authentication no operation needs a token.
    ...(!gate.enabled && { security: [] }),
  };
}

const failureSchema: JsonObject = {
  type: "object",
  properties: { success: { type: "boolean", const: false }, error: { type: "string" } },
  required: ["success", "error"],
};

function namedSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(components(), { uri: schemaPath, io: "input", unrepresentable: "any" });
  // `$id` repeats the key of each schema, and an OpenAPI document has one dialect for all.
  return Object.fromEntries(Object.entries(schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]));
}

function securitySchemes(gate: Gate): JsonObject {
  return gate.enabled ? { securitySchemes: { token: tokenScheme(gate) } } : {};
}

function tokenScheme({ provider, tokenIn }: Gate): JsonObject {
  const description = `Verified by: ${provider}`;
  if (tokenIn === "custom") {
    const further = "It is found by the host's own rule: ask there how to send it.";
    return { type: "http", scheme: "custom", description: `${description}. ${further}` };
  }
  if (tokenIn !== "bearer") return { type: "apiKey", in: tokenIn.in, name: tokenIn.name, description };
  return {
    type: "http",
    scheme: "bearer",
    ...(provider === "jwt" ? { bearerFormat: "JWT" } : { description }),
  };
}

/** A token is required, or optional on a public route, where it identifies the caller; on a signed one it means nothing. */
function security(row: Route, gate: Gate): JsonObject {
  if (!gate.enabled) return {};
  if (row.access === "signed") return { security: [] };
  return { security: needsToken(row, gate) ? [{ token: [] }] : [{}, { token: [] }] };
}

function needsToken({ method, path, access }: Route, gate: Gate): boolean {
  return gate.requiresAuth(method, path, access);
}

function describeRoute(
  row: Route,
  surroundings: Surroundings,
  allExamples: Readonly<Record<string, Examples>>,
): JsonObject {
  const examples = allExamples[row.operationId] ?? {};
  return {
    operationId: row.operationId,
    summary: row.summary,
    tags: [row.tag],
    parameters: [
      ...pathParameters(row, examples),
      ...queryParameters(row),
      ...requestHeaderParameters(row.headers),
    ],
    ...(row.body && {
      requestBody: {
        required: row.bodyOptional !== true,
        content: {
          "application/json": {
            schema: reference(row.body),
            ...examplesOf(examples, ({ body }) => body),
          },
        },
      },
    }),
    ...(row.raw && {
      requestBody: {
        required: true,
        content: { [row.raw.contentType]: { schema: rawSchema(row.raw.contentType) } },
      },
    }),
    ...security(row, surroundings.gate),
    responses: { ...successes(row), ...failures(row, surroundings) },
  };
}

/** Of a body that the server reads itself: the fields of a form, or a value that another service defines. */
function rawSchema(contentType: string): JsonObject {
  const isForm = contentType === "application/x-www-form-urlencoded";
  return isForm ? { type: "object", additionalProperties: { type: "string" } } : {};
}

function examplesOf(
  examples: Examples,
  read: (example: Examples[string]) => unknown,
): { readonly examples?: JsonObject } {
  const values = Object.entries(examples).flatMap(([name, example]) => {
    const value = read(example);
    return value === undefined ? [] : [[name, { value }] as const];
  });
  return values.length === 0 ? {} : { examples: Object.fromEntries(values) };
}

function pathParameters(row: Route, examples: Examples): JsonObject[] {
  return [...row.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...(name === "id" && examplesOf(examples, ({ id }) => id)),
  }));
}

function queryParameters(row: Route): JsonObject[] {
  if (row.query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(row.query(), {
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

function reference(shape: Shape): JsonObject {
  const id = components().get(shape())?.id;
  if (id === undefined) throw new TypeError("a schema of the route table has no name");
  return { $ref: schemaPath(id) };
}

/** The headers of a row's responses besides those of errors. */
function headersOf(row: Route): ResponseHeader[] {
  const { response } = row;
  const own = response.kind === "other" ? [] : (response.headers ?? []);
  return [...new Set([...(namesExecution(row) ? (["x-execution-id"] as const) : []), ...own])];
}

function successes(row: Route): JsonObject {
  const { response } = row;
  switch (response.kind) {
    case "json": {
      const headers = successHeaders(headersOf(row));
      const content = envelopeOf(response.data);
      return { 200: { description: response.description, ...some(headers), content }, ...earlyOf(row) };
    }
    case "events": {
      const headers = some(successHeaders(headersOf(row)));
      return {
        200: {
          description: `${response.description}. Each event is one \`data:\` line with a JSON object and a blank line.`,
          ...headers,
          content: { "text/event-stream": { schema: reference(response.event) } },
        },
        ...(response.empty && { 204: { description: response.empty, ...headers } }),
        ...earlyOf(row),
      };
    }
    case "other":
      return {
        200: {
          description: response.description,
          content: { [response.contentType]: { schema: schemaOfOther(response.contentType) } },
        },
      };
  }
}

function envelopeOf(shape: Shape): JsonObject {
  const data = reference(shape);
  const properties = { success: { type: "boolean", const: true }, data };
  return { "application/json": { schema: { type: "object", properties, required: ["success", "data"] } } };
}

/** The 202 of a route that can respond early; nothing for any other. */
function earlyOf(row: Route): JsonObject {
  const { response } = row;
  if (response.kind === "other" || response.accepted === undefined) return {};
  const data = response.acceptedData ?? (response.kind === "json" ? response.data : undefined);
  const headers = { ...successHeaders(headersOf(row)), ...locationHeader };
  return { 202: { description: response.accepted, headers, ...(data && { content: envelopeOf(data) }) } };
}

function some(headers: JsonObject): { readonly headers?: JsonObject } {
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function schemaOfOther(contentType: string): JsonObject {
  return { type: contentType === "application/json" ? "object" : "string" };
}

const reasons: Record<number, string> = {
  400: "The request is not valid",
  401: "A token is missing or not valid",
  403: "Not allowed",
  404: "Not found",
  409: "The id is in use for something else",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "The model's reply does not fit the schema",
  500: "Internal server error",
  429: "Too many of the caller's wait already; try again later",
  501: "The store does not support it",
  502: "The model provider failed",
  503: "Temporarily unavailable; try again later",
};

function failures(row: Route, surroundings: Surroundings): JsonObject {
  const content = { "application/json": { schema: { $ref: schemaPath("Failure") } } };
  const ofExecution = headersOf(row);
  const statuses = new Set([...row.errors, ...refusals(row, surroundings), 500]);
  return Object.fromEntries(
    [...statuses].map((status) => {
      const headers = failureHeaders(status, ofExecution);
      return [status, { description: reasons[status] ?? "Error", headers, content }];
    }),
  );
}

/** The statuses of refusals: no token, `authorize`, not the owner, foreign origin, server at its limit. */
function refusals(row: Route, { gate, cors, authorize }: Surroundings): number[] {
  const isOwned = row.reveals === "own" && /:id\/.*:executionId|:userId/.test(row.path);
  const isAsked = authorize !== undefined && row.access !== "signed";
  const refusesOthers = isAsked || (gate.enabled && (isOwned || row.explicit === true));
  const refusesOrigins = cors.restricts && row.method !== "GET";
  return [
    ...(needsToken(row, gate) ? [401] : []),
    ...(refusesOthers || refusesOrigins ? [403] : []),
    ...(costOf(row) === undefined ? [] : [503]),
  ];
}
