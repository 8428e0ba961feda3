// What code generators make of /doc: it compiles under `strict`, and calls the server that it came from.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString } from "openapi-typescript";
import orval from "orval";
import { expect, test } from "vitest";
import { z } from "zod";
import { root } from "../docs/pages.ts";
import { newProject } from "../docs/project.ts";
import { agents } from "../support/agents.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { approval, sum } from "../support/workflows.ts";
import { callersFor } from "./callers.ts";

const { echo } = agents;
const server = await serveForTest({ workflows: { sum, approval }, agents: { echo } });
const project = newProject();
const inProject = (file: string) => path.join(project, file);
const callers = callersFor(echo.id);

test("openapi-typescript, hey-api and orval generate from it, and strict code compiles", {
  timeout: 240_000,
}, async () => {
  const { text } = await server.get("/doc");
  writeFileSync(inProject("doc.json"), text);
  writeFileSync(inProject("schema.ts"), astToString(await openapiTypescript(JSON.parse(text))));
  await createClient({
    input: inProject("doc.json"),
    output: inProject("hey-api"),
    plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    logs: { level: "silent" },
  });
  await orval(
    {
      input: { target: inProject("doc.json") },
      output: { target: inProject("orval.ts"), client: "fetch", baseUrl: server.url },
    },
    project,
  );
  for (const [name, code] of Object.entries(callers)) writeFileSync(inProject(`${name}.ts`), code);
  const compilerOptions = {
    ...{
      target: "es2024",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2024", "dom", "dom.iterable"],
    },
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true, types: [] },
  };
  writeFileSync(inProject("tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [compiler, "--project", project], {
    encoding: "utf8",
  });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});

const seen = z.object({
  executed: z.unknown(),
  refused: z.string(),
  resumed: z.string(),
  asked: z.string(),
  last: z.string().optional(),
});

test.each(Object.keys(callers))("%s calls the server", async (name) => {
  const { call } = z
    .object({ call: z.custom<(url: string) => Promise<unknown>>((value) => typeof value === "function") })
    .parse(await import(pathToFileURL(inProject(`${name}.ts`)).href));
  const { executed, refused, resumed, asked, last } = seen.parse(await call(server.url));
  expect(executed).toEqual({ total: 5 });
  expect(refused).toMatch(/^Input validation failed: input/);
  expect(resumed).toBe("completed");
  expect(asked).toBe("stop");
  // Of the three, one generates calls of streams.
  expect(last).toBe(name.startsWith("hey-api") ? "workflow-result" : undefined);
});
