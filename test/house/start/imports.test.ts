// The imports of a start: heavy packages only where they are used.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const here = import.meta.dirname;

/** The packages among those that are loaded late which a script imports. */
function importedBy(script: string, ...args: string[]): string[] {
  const preload = path.join(here, "record-imports.mjs");
  const flags = ["--conditions=andante-source", "--import", preload, path.join(here, script)];
  const { status, stderr } = spawnSync(process.execPath, [...flags, ...args], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const late = [
    "@hono/node-server",
    "ai",
    "@ai-sdk/otel",
    "@ai-sdk/mcp",
    "@cfworker/json-schema",
    "@modelcontextprotocol/server",
    "jose",
    "pino",
    "ws",
  ];
  return late.filter((name) => stderr.split("\n").includes(`import ${name}`));
}

test("importing the packages loads no module that `serve` loads while the database thread starts", () => {
  expect(importedBy("imports-alone.ts")).toEqual([]);
}, 60_000);

test("a server without agents, authentication and sockets loads no module of theirs", () => {
  expect(importedBy("application.ts")).toEqual(["@hono/node-server"]);
}, 60_000);

test("agents load the AI SDK at the start", () => {
  expect(importedBy("application.ts", "agents")).toEqual(["@hono/node-server", "ai", "@ai-sdk/otel"]);
}, 60_000);
