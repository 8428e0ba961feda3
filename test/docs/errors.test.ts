// The page on errors has every code that there is, with its status, and no other.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import * as coreErrors from "@andante/core/errors";
import { expect, test } from "vitest";
import { maxRunsWithoutEvent } from "../../packages/core/src/execution/run/reentry-guard.ts";
import { root } from "./pages.ts";

const { AndanteError } = coreErrors;

/** The code and status of an error class. Its message does not matter here. */
function codeOf(kind: unknown): [code: string, status: string][] {
  if (typeof kind !== "function" || !(kind.prototype instanceof AndanteError)) return [];
  const error: unknown = Reflect.construct(kind, [{ known: [] }]);
  return error instanceof AndanteError ? [[error.code, String(error.status)]] : [];
}

/** The exports of the modules of a package's errors. */
async function exportsOf(pattern: string): Promise<unknown[]> {
  const files = globSync(pattern, { cwd: root });
  const modules = await Promise.all(files.map((file): Promise<object> => import(path.join(root, file))));
  return modules.flatMap((module) => Object.values(module));
}

test("every error code is on the page, with its status, and no other is", async () => {
  const ofServer = await exportsOf("packages/server/src/errors/*.ts");
  const codes = [...Object.values(coreErrors), ...ofServer].flatMap(codeOf);
  const page = readFileSync(path.join(root, "docs/errors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (\d+) \| .+ \| .+ \|$/gm)];
  expect(rows.map(([, code, status]) => [code, status]).sort()).toEqual(codes.sort());
  expect(codes.length).toBeGreaterThan(50);
});

test("the pages give the number of runs without a new event after which an execution is parked", () => {
  const sentences = {
    "docs/ARCHITECTURE.md": /re-entered (\d+) times without a new event/g,
    "docs/errors.md": /ran (\d+) times without a new event/g,
    "docs/workflows.md": /runs (\d+) times in a row without a new event/g,
  };
  for (const [page, sentence] of Object.entries(sentences)) {
    const numbers = [...readFileSync(path.join(root, page), "utf8").matchAll(sentence)].map(([, n]) => n);
    expect(numbers, page).toEqual([String(maxRunsWithoutEvent)]);
  }
});
