// The pages list every option of `serve`, its limits and its timeouts, and no other.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { knownAppOptions, knownLimits } from "../../packages/server/src/app-options.ts";
import { root } from "./pages.ts";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** The code in the first column of the tables below a heading. */
function namesUnder(page: string, heading: string): string[] {
  const [, section = ""] = read(page).split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  const cells = [...own.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name));
}

test("getting started has a row for every option of serve", () => {
  // The compiler holds this list to the type of the options.
  const known =
    /KnownOptions<ServeOptions> = \{([^}]*)\}/.exec(read("packages/server/src/serve.ts"))?.[1] ?? "";
  const own = [...known.matchAll(/(\w+): true/g)].map(([, name]) => name);
  expect(own).toContain("timeouts");
  const all = [...Object.keys(knownAppOptions), ...own];
  expect(namesUnder("docs/getting-started.md", "Options of `serve`").sort()).toEqual(all.sort());
});

test("operating has a row for every limit, timeout and option of retention", () => {
  const limits = namesUnder("docs/operating.md", "Limits").map((name) => name.split(".")[0]);
  expect(Object.keys(knownLimits).filter((name) => !limits.includes(name))).toEqual([]);
  expect(namesUnder("docs/operating.md", "Connections")).toEqual(["keepAlive", "headers", "request"]);
  expect(namesUnder("docs/operating.md", "Retention")).toEqual([
    "maxAge",
    "maxCount",
    "conversations",
    "usage",
  ]);
});
