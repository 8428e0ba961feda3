// Clients that code generators make from /doc: they compile under `strict`, and call the server.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createWorkflow } from "@andante/core";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString } from "openapi-typescript";
import orval from "orval";
import { expect, test } from "vitest";
import { z } from "zod";
import { root } from "../docs/pages.ts";
import { newProject } from "../docs/project.ts";
import { agents } from "../support/agents.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { approval, sum } from "../support/workflows.ts";
import { callersFor, protectedCallers } from "./callers.ts";

const { echo } = agents;
const server = await serveForTest({ workflows: { sum, approval }, agents: { echo } });
const project = newProject();
const callers = callersFor(echo.id);
const patient = { timeout: 240_000 };

/** Generates with all three into a folder, writes the callers beside it, and compiles everything; returns complaints. */
async function generate(
  folder: string,
  { text, baseUrl }: { readonly text: string; readonly baseUrl: string },
  code: Readonly<Record<string, string>>,
): Promise<string> {
  const inFolder = (file: string) => path.join(folder, file);
  writeFileSync(inFolder("doc.json"), text);
  writeFileSync(inFolder("schema.ts"), astToString(await openapiTypescript(JSON.parse(text))));
  await createClient({
    input: inFolder("doc.json"),
    output: inFolder("hey-api"),
    plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    logs: { level: "silent" },
  });
  await orval(
    {
      input: { target: inFolder("doc.json") },
      output: { target: inFolder("orval.ts"), client: "fetch", baseUrl },
    },
    folder,
  );
  for (const [name, caller] of Object.entries(code)) writeFileSync(inFolder(`${name}.ts`), caller);
  const compilerOptions = {
    ...{
      target: "es2024",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2024", "dom", "dom.iterable"],
    },
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true, types: [] },
  };
  writeFileSync(inFolder("tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [compiler, "--project", folder], {
    encoding: "utf8",
  });
  return status === 0 ? stdout : `${stdout}\nthe compiler ended with ${status}`;
}

/** The function `call` of a caller. */
async function callOf(folder: string, name: string) {
  const isFunction = (value: unknown) => typeof value === "function";
  const { call } = z
    .object({ call: z.custom<(url: string, token?: string) => Promise<unknown>>(isFunction) })
    .parse(await import(pathToFileURL(path.join(folder, `${name}.ts`)).href));
  return call;
}

test(
  "openapi-typescript, hey-api and orval generate from it, and strict code compiles",
  patient,
  async () => {
    const { text } = await server.get("/doc");
    expect(await generate(project, { text, baseUrl: server.url }, callers)).toBe("");
  },
);

test("so they do with authentication, a base path and a recursive schema", patient, async () => {
  const tree = z.object({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const walk = createWorkflow({ id: "walk", input: tree, result: tree }).andThen({
    id: "back",
    execute: ({ data }) => data,
  });
  const protectedServer = await serveForTest({
    workflows: { walk },
    agents: { echo },
    auth: provider({ defaultPrivate: true }),
    basePath: "/ai",
  });
  const token = await tokenFor("ada");
  const { text } = await protectedServer.get("/doc", bearer(token));
  const folder = newProject();
  const baseUrl = protectedServer.url;
  expect(await generate(folder, { text, baseUrl }, protectedCallers)).toBe("");
  for (const name of ["openapi-typescript", "hey-api-caller"]) {
    const call = await callOf(folder, name);
    expect(await call(baseUrl, token)).toEqual({ name: "root", children: [{ name: "leaf", children: [] }] });
  }
});

const seen = z.object({
  executed: z.unknown(),
  refused: z.string(),
  code: z.string(),
  resumed: z.string(),
  asked: z.string(),
  last: z.string().optional(),
});

test.each(Object.keys(callers))("%s calls the server", async (name) => {
  const call = await callOf(project, name);
  const { executed, refused, code, resumed, asked, last } = seen.parse(await call(server.url));
  expect(executed).toEqual({ total: 5 });
  expect(refused).toMatch(/^Input validation failed: input/);
  expect(code).toBe("input-validation");
  expect(resumed).toBe("completed");
  expect(asked).toBe("stop");
  // Of the three, one generates calls of streams.
  expect(last).toBe(name.startsWith("hey-api") ? "workflow-result" : undefined);
});
