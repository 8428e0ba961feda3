// What the documents say about routes is what the route table says.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";
import { root } from "./pages.ts";

/** The cells of the rows of a page's tables whose first cell is a route. */
function routeRows(page: string): string[][] {
  const lines = readFileSync(path.join(root, "docs", page), "utf8").split("\n");
  const rows = lines.filter((line) => /^\| `(GET|POST|PATCH|DELETE) /.test(line));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[`*]/g, "").trim()),
  );
}

test("the page on authentication has every route with its mode and action", () => {
  const table = routes.map(({ method, path, access, action }) => [
    `${method} ${path}`,
    access === "protected" ? "token" : "public",
    action,
  ]);
  expect(routeRows("authentication.md").sort()).toEqual(table.sort());
});

test("the page on HTTP has every route once", () => {
  const documented = routeRows("http.md").map(([route]) => route);
  expect(documented.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});
