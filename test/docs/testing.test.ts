// The tests that the page on testing shows are tests: they pass under Vitest, in a project of their own.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { modulesOf, root } from "./pages.ts";
import { newProject } from "./project.ts";

const config = `export default {
  ssr: { resolve: { conditions: ["andante-source", "node", "import", "default"] } },
  test: {
    execArgv: ["--conditions=andante-source"],
    isolate: false,
    maxWorkers: 1,
    // Node reads the packages' sources itself, as it does everywhere else: Vite would transform them once more.
    server: { deps: { external: [/\\/packages\\//] } },
  },
};`;

test("the examples of the page pass", { timeout: 120_000 }, async () => {
  const folder = newProject();
  const examples = modulesOf("docs/testing.md");
  writeFileSync(path.join(folder, "vitest.config.js"), config);
  for (const { name, code } of examples) writeFileSync(path.join(folder, name), code);
  const node = path.join(root, "node_modules/node/bin/node");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const report = path.join(folder, "report.json");
  const options = ["run", "--reporter=json", `--outputFile=${report}`];
  await promisify(execFile)(node, [vitest, ...options], { cwd: folder });
  const { success, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
  expect({ success, numPassedTests }).toEqual({ success: true, numPassedTests: examples.length });
});
