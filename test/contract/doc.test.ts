// GET /doc: a valid OpenAPI 3.1 document of every built-in route
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../packages/server/src/routes/index.ts";
import { fieldsOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();
const response = await server.get("/doc");
expect(response.status).toBe(200);
expect(response.headers.get("content-type")).toBe("application/json");
const document = z.record(z.string(), z.unknown()).parse(JSON.parse(response.text));

const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()),
  examples: z.record(z.string(), z.strictObject({ value: z.string() })).optional(),
});

const content = z.record(
  z.string().regex(/^[a-z]+\/[a-z-]+$/),
  z.strictObject({
    schema: z.record(z.string(), z.unknown()),
    examples: z.record(z.string(), z.strictObject({ value: z.unknown() })).optional(),
  }),
);

const headers = z.record(
  z.string(),
  z.strictObject({ description: z.string().min(1), schema: z.object({ type: z.string() }) }),
);

const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
  summary: z.string().min(1),
  tags: z.array(z.string()).min(1),
  parameters: z.array(parameter),
  requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
  responses: z.record(
    z.string().regex(/^[2-5]\d\d$/),
    z.strictObject({
      description: z.string().min(1),
      headers: headers.optional(),
      content: content.optional(),
    }),
  ),
});

const openapi = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.looseObject({ url: z.string() })),
  tags: z.array(z.looseObject({ name: z.string() })),
  paths: z.record(
    z.string().startsWith("/"),
    z.partialRecord(z.enum(["get", "post", "put", "patch", "delete"]), operation),
  ),
  security: z.array(z.never()),
  components: z.strictObject({ schemas: z.record(z.string().regex(/^[\w.-]+$/), z.unknown()) }),
});

function* references(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === "$ref") yield z.string().parse(item);
    else yield* references(item);
  }
}

function resolve(reference: string): unknown {
  let value: unknown = document;
  for (const part of reference.replace("#/", "").split("/")) {
    value = Object(value)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}

test("the document has the structure of OpenAPI 3.1", () => {
  expect(openapi.safeParse(document).error).toBeUndefined();
});

test("every reference leads to a schema of the document", () => {
  const all = [...references(document)];
  expect(all.length).toBeGreaterThan(20);
  for (const reference of all) {
    expect(reference).toMatch(/^#\/components\/schemas\//);
    expect(resolve(reference), reference).toBeTypeOf("object");
  }
});

test("operation ids are unique", () => {
  const ids = Object.values(openapi.parse(document).paths).flatMap((path) =>
    Object.values(path).map((each) => each.operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

describe.each(routes.map((row) => [`${row.method} ${row.path}`, row] as const))("%s", (_, row) => {
  const described = () => {
    const path = row.path.replaceAll(/:(\w+)/g, "{$1}");
    return operation.parse(fieldsOf(fieldsOf(document, "paths"), path)[row.method.toLowerCase()]);
  };

  test("is in the document, with its path parameters declared and required", () => {
    const declared = described().parameters.filter((each) => each.in === "path");
    const names = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(declared.map((each) => each.name)).toEqual(names);
    for (const each of declared) expect(each.required).toBe(true);
  });

  test("describes its body, its success and its errors", () => {
    const { requestBody, responses } = described();
    expect(requestBody !== undefined).toBe(row.body !== undefined || row.raw !== undefined);
    if (requestBody !== undefined) expect(requestBody.required).toBe(row.bodyOptional !== true);
    expect(Object.keys(responses)).toContain("200");
    for (const status of [...row.errors, 500]) expect(Object.keys(responses)).toContain(String(status));
  });

  test("describes its query", () => {
    const declared = described().parameters.filter((each) => each.in === "query");
    expect(declared.length > 0).toBe(row.query !== undefined);
    for (const each of declared) expect(Object.keys(each.schema), each.name).not.toEqual([]);
  });
});

const described = (path: string, method: string) =>
  operation.parse(fieldsOf(fieldsOf(document, "paths"), path)[method]);
const execution = "/workflows/{id}/executions/{executionId}";

test("operations have readable names", () => {
  expect(described(`${execution}/resume`, "post").operationId).toBe("resumeExecution");
  expect(described("/workflows/{id}/execute", "post").operationId).toBe("executeWorkflow");
});

test("the headers that a request can have are parameters", () => {
  const headersOf = (path: string, method: string) =>
    described(path, method)
      .parameters.filter((each) => each.in === "header")
      .map((each) => each.name);
  expect(headersOf("/workflows/{id}/execute", "post")).toEqual(["Prefer", "Idempotency-Key", "traceparent"]);
  expect(headersOf(`${execution}/resume`, "post")).toEqual(["Prefer"]);
  expect(headersOf(`${execution}/stream`, "get")).toEqual(["Last-Event-ID"]);
  expect(headersOf("/workflows", "get")).toEqual([]);
});

test("the headers of responses are described, and are those that are sent", async () => {
  const { responses } = described("/workflows/{id}/execute", "post");
  const names = (status: string) => Object.keys(responses[status]?.headers ?? {});
  expect(names("200")).toEqual(["x-execution-id", "traceparent"]);
  expect(names("202")).toEqual(["x-execution-id", "traceparent", "location"]);
  expect(names("400")).toEqual(["x-error-code", "x-execution-id"]);
  expect(names("503")).toEqual(["x-error-code", "x-execution-id", "retry-after"]);
  const ofState = described(`${execution}/state`, "get").responses;
  expect(Object.keys(ofState["200"]?.headers ?? {})).toEqual(["x-execution-id"]);
  expect(Object.keys(ofState["404"]?.headers ?? {})).toEqual(["x-error-code", "x-execution-id"]);
  const body = { input: { a: 1 } };
  const completed = await server.post("/workflows/sum/execute", body);
  for (const name of names("200")) expect(completed.headers.get(name), name).not.toBeNull();
  const refused = await server.post("/workflows/sum/execute", {});
  expect(refused.headers.get("x-error-code")).toBe("input-validation");
});

test("each workflow and each agent has a schema, with its input, result and resume data", () => {
  const schemas = fieldsOf(fieldsOf(document, "components"), "schemas");
  expect(schemas.SumWorkflow).toEqual({
    type: "object",
    description: "Adds two numbers and says so",
    properties: {
      id: { type: "string", const: "sum" },
      input: { $ref: "#/components/schemas/SumWorkflowInput" },
      result: { $ref: "#/components/schemas/SumWorkflowResult" },
    },
    required: ["id", "input", "result"],
  });
  expect(schemas.SumWorkflowInput).toMatchObject({ properties: { a: { type: "number" } }, required: ["a"] });
  expect(schemas.ApprovalWorkflow).toMatchObject({
    properties: {
      resumeData: { anyOf: [{ $ref: "#/components/schemas/ApprovalWorkflowApproveResumeData" }] },
    },
  });
  const agents = Object.keys(schemas).filter((name) => name.endsWith("Agent"));
  expect(agents.length).toBeGreaterThan(0);
});

test("the contract's seven workflow endpoints are there", () => {
  const { paths } = openapi.parse(document);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(all).toEqual(
    expect.arrayContaining([
      "GET /workflows",
      "GET /workflows/{id}",
      "POST /workflows/{id}/execute",
      "POST /workflows/{id}/stream",
      "POST /workflows/{id}/executions/{executionId}/suspend",
      "POST /workflows/{id}/executions/{executionId}/resume",
      "GET /workflows/{id}/executions/{executionId}/state",
    ]),
  );
});

test("the start request requires input", () => {
  const start = fieldsOf(fieldsOf(fieldsOf(document, "components"), "schemas"), "StartRequest");
  expect(start.required).toEqual(["input"]);
});

test("attaching names the 204 of a finished execution", () => {
  const attach = fieldsOf(fieldsOf(document, "paths"), "/workflows/{id}/executions/{executionId}/stream");
  expect(Object.keys(operation.parse(attach.get).responses)).toContain("204");
});

test("execute, resume, replay and replies name the 202 of Prefer: respond-async, and events and webhooks theirs; nothing else does", () => {
  const { paths } = openapi.parse(document);
  const accepted = Object.entries(paths)
    .filter(([, methods]) => Object.values(methods).some((each) => "202" in each.responses))
    .map(([path]) => path);
  expect(accepted.sort()).toEqual([
    "/agents/{id}/chat",
    "/agents/{id}/object",
    "/agents/{id}/text",
    "/api/events",
    "/events/{eventName}",
    "/receive/{receiver}",
    "/workflows/{id}/execute",
    "/workflows/{id}/executions/{executionId}/replay",
    "/workflows/{id}/executions/{executionId}/resume",
  ]);
});
