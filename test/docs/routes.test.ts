// The statements of the documents about routes equal the route table.
import { readFileSync } from "node:fs";
import path from "node:path";
import { memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";
import { socketPaths } from "../../packages/server/src/socket/socket-paths.ts";
import { cleanup } from "../support/cleanup.ts";
import { root } from "./pages.ts";

/** The cells of the rows of a page's tables whose first cell is a route or a socket. */
function routeRows(page: string, first = /^\| `(GET|POST|PUT|PATCH|DELETE) /): string[][] {
  const lines = readFileSync(path.join(root, "docs", page), "utf8").split("\n");
  const rows = lines.filter((line) => first.test(line));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[`*]/g, "").trim()),
  );
}

test("the page on authentication has every route with its mode, its actions, their resource and whose data it shows", () => {
  const table = routes.map((row) => {
    const { method, path, access, action, requires = [], requiresWith = {}, resource, reveals = "" } = row;
    const others = Object.values(requiresWith).join(" or ");
    return [
      `${method} ${path}`,
      { protected: "token", public: "public", signed: "link" }[access],
      [action, ...requires, ...(others === "" ? [] : [others])].join(", "),
      resource.join(", "),
      reveals,
    ];
  });
  expect(routeRows("authentication.md").sort()).toEqual(table.sort());
});

test("it has every socket with its actions, their resource and whose data it shows", () => {
  const { andante, close } = createApp({ store: memoryStore() });
  cleanup(close);
  const table = socketPaths(andante).map(({ path, action, requires = [], resource, reveals = "" }) => [
    path,
    [action, ...requires].join(", "),
    resource.join(", "),
    reveals,
  ]);
  expect(routeRows("authentication.md", /^\| `\/ws/)).toEqual(table);
});

test("the page on HTTP has every route once", () => {
  const documented = routeRows("http.md").map(([route]) => route);
  expect(documented.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});
