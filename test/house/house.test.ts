// The house stays in order: imports run one way, no file imports itself around a corner, and files stay small.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { circlesIn, importsOf, roomOf, sourceFiles } from "./import-graph.ts";

/** The rooms of each package, lowest first: a room imports from itself and from rooms before it. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  "packages/core/src": [
    "errors",
    "require-node.ts",
    "values",
    "event",
    "schedule",
    "store",
    "journal",
    "observe/log",
    "observe/trace",
    "observe",
    "workflow",
    "link",
    "delivery",
    "agent/schema",
    "agent/facts",
    "agent/durable",
    "agent/call",
    "agent/mcp",
    "agent/messages",
    "agent/conversation",
    "agent/reply",
    "agent/turn",
    "agent",
    "schema-example",
    "execution/stream",
    "execution/interpreter",
    "execution/limits",
    "execution/body",
    "execution/run",
    "execution/engine",
    "execution/turn",
    "execution/commands",
    "andante",
    "test-kit",
    "store-cases",
    "internal.ts",
    "index.ts",
  ],
  "packages/server/src": [
    "version.ts",
    "is-object.ts",
    "errors",
    "receivers",
    "request",
    "response",
    "schemas",
    "auth",
    "cors",
    "sse",
    "route.ts",
    "overview",
    "openapi",
    "decide",
    "console",
    "routes",
    "exposed",
    "mcp",
    "a2a",
    "socket",
    "app-options.ts",
    "bounds.ts",
    "app.ts",
    "choose-store.ts",
    "connection-timeouts.ts",
    "listener.ts",
    "serve.ts",
    "index.ts",
  ],
  "packages/client/src": [
    "responses",
    "api-error.ts",
    "host-types.ts",
    "connection",
    "workflow",
    "agent",
    "overview.ts",
    "client.ts",
    "chat",
    "webhooks",
    "react",
    "index.ts",
  ],
  "packages/demo-model/src": [""],
  "packages/create-andante/src": ["choose.ts", "write-project.ts", "index.ts"],
  "packages/postgres/src": [
    "columns.ts",
    "where.ts",
    "options.ts",
    "connection",
    "cluster",
    "migrate.ts",
    "write",
    "operations",
    "group",
    "prepare-database.ts",
    "postgres-store.ts",
    "index.ts",
  ],
  "packages/restate/src": ["options.ts", "engine", "client", "operations", "restate-store.ts", "index.ts"],
  "packages/console/src": [
    "format",
    "styles",
    "api",
    "run",
    "components",
    "form",
    "graph",
    "layout",
    "pages",
    "router.tsx",
    "main.tsx",
  ],
};

describe.each(Object.entries(rooms))("%s", (folder, order) => {
  const imports = importsOf(folder);

  test("every file is in a folder of the list", () => {
    const homeless = sourceFiles(folder).filter(
      (file) => order[0] !== "" && roomOf(order, file) === undefined,
    );
    expect(homeless).toEqual([]);
  });

  test("no arrow runs back up", () => {
    const height = (file: string) => order.indexOf(roomOf(order, file) ?? "");
    const backUp = imports.filter(({ from, to }) => height(to) > height(from));
    expect(backUp.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test("no circle", () => {
    expect(circlesIn(imports).map((circle) => circle.join(" → "))).toEqual([]);
  });
});

test("the engine and its observation take the time from the clock that they are given", () => {
  const own = ["packages/core/src/execution", "packages/core/src/observe"].flatMap((folder) =>
    sourceFiles(folder)
      .map((file) => `${folder}/${file}`)
      .filter((file) => /Date\.now\(|new Date\(\)/.test(readFileSync(file, "utf8"))),
  );
  // When the process started, by the clock of its machine.
  expect(own).toEqual(["packages/core/src/observe/process-metrics.ts"]);
});

test("the servers evaluate JSON Schemas of callers within a limit only", async () => {
  const evaluating = ["packages/core/src", "packages/server/src", "packages/postgres/src"].flatMap((folder) =>
    sourceFiles(folder)
      .map((file) => `${folder}/${file}`)
      .filter((file) => /from "@cfworker\/json-schema"/.test(readFileSync(file, "utf8"))),
  );
  // The second one evaluates the schemas of definitions.
  expect(evaluating).toEqual([
    "packages/core/src/agent/schema/bounded-validator.ts",
    "packages/core/src/schema-example/example-value.ts",
  ]);
  const bounded = await import("../../packages/core/src/agent/schema/bounded-validator.ts");
  expect(Object.keys(bounded).sort()).toEqual(["reasonOf", "validateWithin"]);
});
