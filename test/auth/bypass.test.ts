// Ways around the gate: spellings of a path or a method that a gate and a router might read differently. All are sent
// over a raw socket, because fetch would tidy them.
import { afterAll, describe, expect, test } from "vitest";
import { rawRequest } from "../support/raw-request.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

const start = JSON.stringify({ input: { a: 1 } });
const methodOverrides = ["x-http-method-override", "x-http-method", "x-method-override"];

describe("in opt-in mode no spelling starts an execution without a token", async () => {
  const server = await serveForTest({ auth: provider() });
  afterAll(async () => {
    expect((await server.andante.list({})).executions).toEqual([]);
  });

  test.each([
    "/workflows/sum/execute",
    "/workflows/sum/execute/",
    "/workflows/sum/execute//",
    "//workflows/sum/execute",
    "/workflows//sum/execute",
    "/workflows/sum//execute",
    "/./workflows/sum/execute",
    "/x/../workflows/sum/execute",
    "/x/%2e%2e/workflows/sum/execute",
    "/x/%2E%2e/workflows/sum/execute",
    "/x%2f..%2fworkflows/sum/execute",
    "/workflows/sum/%65xecute",
    "/workflows/sum/%2565xecute",
    "/%77orkflows/sum/execute",
    "/workflows/s%75m/execute",
    "/workflows/sum%2fexecute",
    "/workflows/sum%2Fexecute",
    "/workflows%2fsum/execute",
    "/workflows%5csum/execute",
    "/workflows\\sum\\execute",
    "/workflows/sum/EXECUTE",
    "/WORKFLOWS/sum/execute",
    "/Workflows/Sum/Execute",
    "/workflows/sum/execute;a=b",
    "/workflows/sum/execute.json",
    "/workflows/sum/execute%00",
    "/workflows/sum/execute%20",
    "/workflows/sum/execute?publicRoutes=1",
    "/workflows/sum/execute#public",
    "/workflows/sum/execute%23",
    "/workflows/sum/execute%3fa",
    "//elsewhere.example/workflows/sum/execute",
    "http://elsewhere.example/workflows/sum/execute",
    "http://elsewhere.example/health/../workflows/sum/execute",
    "http://user:word@elsewhere.example/workflows/sum/execute",
    "https://elsewhere.example//workflows/sum/execute",
    "/workflows/sum/stream/",
    "/workflows/sum/%73tream",
    "*",
  ])("POST %s", async (target) => {
    const answer = await rawRequest(server.url, [`POST ${target}`], start);
    expect([400, 401, 404], answer.head).toContain(answer.status);
    expect(answer.body).not.toContain('"success":true');
  });

  test.each(["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "QUERY"])(
    "%s in place of POST",
    async (method) => {
      for (const header of ["x-nothing", ...methodOverrides]) {
        const lines = [`${method} /workflows/sum/execute?_method=POST`, `${header}: POST`];
        const answer = await rawRequest(server.url, lines, start);
        expect([400, 401, 404], answer.head).toContain(answer.status);
      }
    },
  );

  test.each(methodOverrides)("a public method in %s does not open a protected route", async (header) => {
    const lines = ["POST /workflows/sum/execute", `${header}: GET`];
    expect((await rawRequest(server.url, lines, start)).status).toBe(401);
  });

  test.each(["x-original-url", "x-rewrite-url", "x-forwarded-path", "x-forwarded-prefix"])(
    "the header %s is not the path",
    async (header) => {
      const lines = ["POST /workflows/sum/execute", `${header}: /health`];
      expect((await rawRequest(server.url, lines, start)).status).toBe(401);
      const back = await rawRequest(server.url, ["POST /health", `${header}: /workflows/sum/execute`], start);
      expect(back.status).toBe(404);
    },
  );

  test.each([
    ["authorization: Bearer", "Authentication required"],
    ["authorization: Bearer undefined", "Invalid token: "],
    ["authorization: bearer x", "Invalid token: "],
    ["authorization: Bearer a b", "Authentication required"],
    ["authorization: Token abc", "Authentication required"],
    ["cookie: token=abc", "Authentication required"],
    ["x-user-id: ada", "Authentication required"],
    ["x-andante-dev: true", "Authentication required"],
    ["x-console-access-key: 1", "Authentication required"],
  ])("the header %j lets no caller in", async (header, message) => {
    const answer = await rawRequest(server.url, ["POST /workflows/sum/execute", header], start);
    expect(answer.status).toBe(401);
    expect(answer.body).toContain(`"error":"${message}`);
  });
});

describe("in opt-out mode no public route leads to a protected one", async () => {
  const publicRoutes = ["GET /health", "GET /public/*", "OPTIONS /public/*"];
  const server = await serveForTest({
    auth: provider({ defaultPrivate: true, publicRoutes }),
    configureApp: (app) => {
      app.get("/public/*", (c) => c.text("public"));
      app.get("/private/*", (c) => c.text("secret"));
    },
  });

  test.each([
    "/workflows",
    "/workflows/",
    "//workflows",
    "/WORKFLOWS",
    "/health/../workflows",
    "/health/%2e%2e/workflows",
    "/health%2f..%2fworkflows",
    "/health/..%2fworkflows",
    "/health/",
    "/HEALTH",
    "//health",
    "/public/../workflows",
    "/public/%2e%2e/workflows",
    "/public/%2E./workflows",
    "/public/../private/x",
    "/public/%2e%2e/private/x",
    "/public\\..\\private/x",
    "/public%2f../private/x",
    "/PUBLIC/x",
    "//public/x",
    "/public",
    "/private/../private/x",
    "/private/%2e%2e/private/x?/public/",
    "/private/x#/public/",
    "//public/private/x",
    "http://elsewhere.example/private/x",
    "http://elsewhere.example/public/../private/x",
    "http://public/private/x",
    "//127.0.0.1/public/x",
  ])("GET %s needs a token", async (target) => {
    const answer = await rawRequest(server.url, [`GET ${target}`]);
    expect([400, 401], answer.head).toContain(answer.status);
    const head = await rawRequest(server.url, [`HEAD ${target}`]);
    expect(head.status).toBe(answer.status);
  });

  test.each([
    "/public/..%2fprivate%2fx",
    "/public/%252e%252e/private/x",
    "/public//private/x",
    "/%70ublic/x",
    "/public/",
  ])("GET %s is the public route that was asked for", async (target) => {
    const answer = await rawRequest(server.url, [`GET ${target}`]);
    expect([answer.status, answer.body]).toEqual([200, "public"]);
  });

  test.each(["OPTIONS", "POST", "PUT", "TRACE"])("%s of a private path needs a token", async (method) => {
    expect((await rawRequest(server.url, [`${method} /private/x`])).status).toBe(401);
  });

  test("a preflight is answered without a token, and runs nothing", async () => {
    const lines = ["OPTIONS /private/x", "origin: http://a.example", "access-control-request-method: GET"];
    const answer = await rawRequest(server.url, lines);
    expect([answer.status, answer.body]).toEqual([204, ""]);
  });
});
