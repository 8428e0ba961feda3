// GET /doc for machines: valid by the specification, clean by a linter, and true about who needs a token.

import type { ServeOptions } from "@andante/server";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { workflows } from "../support/workflows.ts";

const description = z.looseObject({
  components: z.looseObject({ securitySchemes: z.record(z.string(), z.unknown()).optional() }),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
});

async function describeWith(options: Partial<ServeOptions>): Promise<string> {
  const server = await serveForTest(options);
  const answer = await server.get("/doc");
  expect(answer.status).toBe(200);
  return answer.text;
}

const everyGet = { defaultPrivate: true, publicRoutes: ["GET /*"] };
const own = { type: "api-key <b>", verifyToken: () => ({ id: "ada" }) };
const inCookie = { in: "cookie", name: "session" } as const;
describe.each<[string, Partial<ServeOptions>]>([
  ["without authentication", {}],
  ["in opt-in mode", { auth: provider() }],
  ["in opt-out mode", { auth: provider(everyGet) }],
  ["with a provider of the host's", { auth: own }],
  ["with a token that the host finds itself", { auth: { ...own, extractToken: () => "token" } }],
  ["with a token in a cookie", { auth: { ...own, extractToken: () => "token", tokenIn: inCookie } }],
  ["with authorize", { auth: provider(), authorize: () => true }],
])("%s", async (_, options) => {
  const source = await describeWith(options);

  test("the document is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(source));
    expect(result).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("the linter finds no errors", async () => {
    // Equals `redocly lint` without a file of settings.
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, config });
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.map(({ message, location }) => `${message} ${location[0]?.pointer}`)).toEqual([]);
  });
});

const isSigned = (operation: string) => /\/(decide|receive)\//.test(operation);

/** Each operation with its security: `needed`, `welcome`, or undefined. */
async function securityWith(options: Partial<ServeOptions>): Promise<Record<string, string | undefined>> {
  const { paths } = description.parse(JSON.parse(await describeWith(options)));
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security, responses }]) => {
      const word =
        security?.length && (security.some((each) => Object.keys(each).length === 0) ? "welcome" : "needed");
      // The 401 of a signed request is about its signature.
      if (isSigned(path)) expect(word).toBeFalsy();
      else expect("401" in responses, path).toBe(word === "needed");
      return [`${method.toUpperCase()} ${path}`, word || undefined] as const;
    }),
  );
  return Object.fromEntries(all);
}

test("without authentication no operation speaks of tokens", async () => {
  expect(new Set(Object.values(await securityWith({})))).toEqual(new Set([undefined]));
  expect(description.parse(JSON.parse(await describeWith({}))).components.securitySchemes).toBeUndefined();
});

test("in opt-in mode the protected ones need a token, and on the others it is welcome", async () => {
  expect(await securityWith({ auth: provider() })).toMatchObject({
    "GET /workflows": "welcome",
    "POST /workflows/{id}/execute": "needed",
    "POST /workflows/{id}/stream": "needed",
    "POST /workflows/{id}/executions/{executionId}/resume": "welcome",
    "POST /workflows/{id}/executions/{executionId}/cancel": "needed",
    "GET /api/executions": "needed",
    "GET /health": "welcome",
  });
});

test("in opt-out mode all need one but publicRoutes", async () => {
  for (const [operation, word] of Object.entries(await securityWith({ auth: provider(everyGet) }))) {
    const expected = operation.startsWith("GET ") ? "welcome" : "needed";
    expect(word, operation).toBe(isSigned(operation) ? undefined : expected);
  }
});

const schemes = async (options: Partial<ServeOptions>) =>
  description.parse(JSON.parse(await describeWith(options))).components.securitySchemes;

test("a token that the host finds itself is not called a bearer token", async () => {
  const auth = { ...own, extractToken: () => "token" };
  expect(await schemes({ auth })).toEqual({
    token: {
      type: "http",
      scheme: "custom",
      description: "Verified by: api-key <b>. It is found by the host's own rule: ask there how to send it.",
    },
  });
  expect(await schemes({ auth: { ...auth, tokenIn: inCookie } })).toEqual({
    token: { type: "apiKey", ...inCookie, description: "Verified by: api-key <b>" },
  });
});

test("a route of the host's own is not described as the built-in one whose place it takes", async () => {
  const options: Partial<ServeOptions> = {
    configureApp: (app) => {
      app.get("/health", (http) => http.text("fine"));
      app.get("/workflows", (http) => http.text("never reached"));
    },
  };
  const { paths } = description.parse(JSON.parse(await describeWith(options)));
  expect(Object.keys(paths)).not.toContain("/health");
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/ready", "/workflows"]));
});

test("the scheme is the bearer token, and names its verifier", async () => {
  expect(await schemes({ auth: provider() })).toEqual({
    token: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  });
  expect(await schemes({ auth: own })).toEqual({
    token: { type: "http", scheme: "bearer", description: "Verified by: api-key <b>" },
  });
});

/** The operations that can respond with 403. */
async function forbiddenWith(options: Partial<ServeOptions>): Promise<string[]> {
  const { paths } = description.parse(JSON.parse(await describeWith(options)));
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { responses }]) => "403" in responses)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

test("403 is named where it can happen", async () => {
  const execution = "/workflows/{id}/executions/{executionId}";
  const ofAgents = ["text", "object", "stream", "stream-object", "chat"].map(
    (call) => `POST /agents/{id}/${call}`,
  );
  const playground = "/api/agents/{id}/playground";
  const decided = "POST /api/conversations/{conversationId}/decisions";
  const resumed = "POST /api/conversations/{conversationId}/resume";
  const ofChats = [...ofAgents, `POST ${playground}`, decided, resumed];
  const byLink = "POST /decide/{token}";
  const ofEndpoints = Object.keys(await securityWith({})).filter((each) => /endpoints|deliveries/.test(each));
  expect(await forbiddenWith({})).toEqual([...ofChats, byLink]);
  const owned = [`POST ${execution}/replay`, `GET ${execution}/events`, `GET ${execution}/stream`];
  const ofUsers = ["GET", "PATCH", "DELETE"].map((method) => `${method} /api/users/{userId}/facts`);
  const explicit = [`GET ${playground}`, `POST ${playground}`];
  expect(await forbiddenWith({ auth: provider() })).toEqual([
    ...ofAgents,
    ...explicit,
    decided,
    resumed,
    ...ofUsers,
    ...owned,
    byLink,
    ...ofEndpoints,
  ]);
  const all = Object.keys(await securityWith({}));
  const asked = all.filter((operation) => !isSigned(operation) || operation === byLink);
  expect(await forbiddenWith({ authorize: () => true })).toEqual(asked);
  const commands = all.filter((operation) => !operation.startsWith("GET "));
  expect(await forbiddenWith({ cors: { origin: "https://ada.example" } })).toEqual(commands);
});

test("it describes only workflows and agents that the caller may read", async () => {
  const schemasWith = async (options: Partial<ServeOptions>, headers = {}) => {
    const server = await serveForTest(options);
    const { text } = await server.get("/doc", headers);
    const { components } = z
      .object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
      .parse(JSON.parse(text));
    const mentions = (word: string) => text.includes(word);
    return { names: Object.keys(components.schemas), mentions };
  };
  const auth = provider({ defaultPrivate: true, publicRoutes: ["GET /doc"] });
  const stranger = await schemasWith({ auth });
  expect(stranger.names).not.toContain("SumWorkflow");
  expect(stranger.mentions("Adds two numbers")).toBe(false);
  const ada = await schemasWith({ auth }, bearer(await tokenFor("ada")));
  expect(ada.names).toContain("SumWorkflow");
  const authorize: ServeOptions["authorize"] = ({ action, resource }) =>
    action !== "workflows.read" || resource.id === "approval";
  const some = await schemasWith({ authorize });
  expect(some.names).toContain("ApprovalWorkflow");
  expect(some.names).not.toContain("SumWorkflow");
});

test("the landing page shows only workflows that its reader may read", async () => {
  const authorize: ServeOptions["authorize"] = ({ action, resource }) =>
    action !== "workflows.read" || resource.id === "approval";
  const server = await serveForTest({ workflows, authorize });
  const { text } = await server.get("/");
  expect(text).toContain("/workflows/approval/");
  expect(text).not.toContain("/workflows/sum/");
});
