// At start the log names the routes that are open despite authentication, and the options that close them.

import { RecordingLogger } from "@andante/core/test";
import type { JwtAuthOptions } from "@andante/server";
import { expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

async function warningsOf(auth: Partial<JwtAuthOptions> | undefined): Promise<unknown[]> {
  const logger = new RecordingLogger();
  const server = await serveForTest({
    logger,
    ...(auth && { auth: provider(auth) }),
    configureApp: (app) => app.get("/mine", (c) => c.text("mine")).get("/metrics", (c) => c.text("mine")),
  });
  await server.close();
  return logger.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
}

const anyone = "anyone who can reach this port can";

test("by default: every open route with the access it gives, the host's own, and the sockets", async () => {
  const execution = "/workflows/:id/executions/:executionId";
  const [warning, ...more] = await warningsOf({});
  expect(more).toEqual([]);
  for (const words of [
    `authentication is on, but ${anyone} list the agents (GET /agents); read how an agent is set up (GET /agents/:id)`,
    "list the workflows (GET /workflows)",
    "read the steps and schemas of a workflow (GET /workflows/:id, GET /api/workflows/:id/example)",
    `read the state, input and context of an execution whose id they know (GET ${execution}/state)`,
    `suspend an execution whose id they know (POST ${execution}/suspend)`,
    `resume an execution whose id they know (POST ${execution}/resume)`,
    "read log lines (GET /api/logs)",
    "read the documentation pages (GET /, GET /doc, GET /ui, GET /ui/:file)",
    "ask whether the service is well (GET /health",
    "call your own routes (GET /mine, GET /metrics); defaultPrivate: true closes these",
    `${anyone} connect to /ws, /ws/logs and /ws/observability and read log lines and spans; webSocket: "protect" closes these`,
  ]) {
    expect(warning).toContain(words);
  }
  expect(warning).not.toContain("publicRoutes");
  expect(warning).not.toContain("redacted");
});

test("the sockets alone, where the routes are closed", async () => {
  expect(await warningsOf({ defaultPrivate: true })).toEqual([
    `authentication is on, but ${anyone} connect to /ws, /ws/logs and /ws/observability and read log lines and spans; webSocket: "protect" closes these`,
  ]);
});

test("routes opened by publicRoutes", async () => {
  const publicRoutes = ["GET /health", "GET /doc", "POST /workflows/*", "GET /mine"];
  const [warning] = await warningsOf({ defaultPrivate: true, webSocket: "protect", publicRoutes });
  expect(warning).toMatch(
    /^authentication is on, but anyone who can reach this port can execute a workflow until it ends or is suspended \(POST \/workflows\/:id\/execute\); .* publicRoutes has opened these$/,
  );
  expect(warning).toContain("resume an execution whose id they know");
});

test.each([
  ["everything is closed", { defaultPrivate: true, webSocket: "protect" }],
  [
    "only harmless routes are open",
    { defaultPrivate: true, webSocket: "protect", publicRoutes: ["GET /health", "GET /ui*"] },
  ],
  ["there is no authentication", undefined],
] as const)("nothing where %s", async (_, auth) => {
  expect(await warningsOf(auth)).toEqual([]);
});
