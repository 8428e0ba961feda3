// The public face: how many names the root has, and that all other names are under a subpath for their subject.
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = path.dirname(import.meta.dirname);

function read(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(path.join(root, file), "utf8"), ts.ScriptTarget.Latest);
}

/** The exported names of a file that does nothing but export, values and types alike. */
function exportsOf(file: string): { readonly names: readonly string[]; readonly others: readonly string[] } {
  const names: string[] = [];
  const others: string[] = [];
  for (const statement of read(file).statements) {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    if (clause !== undefined && ts.isNamedExports(clause)) {
      names.push(...clause.elements.map(({ name }) => name.text));
    } else if (!ts.isImportDeclaration(statement) || statement.importClause !== undefined) {
      others.push(ts.SyntaxKind[statement.kind]);
    }
  }
  return { names, others };
}

describe("the root of @andante/core", () => {
  const { names, others } = exportsOf("src/index.ts");

  test("names each export, and nothing by `export *`", () => {
    expect(others).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("has at most eighty names", () => {
    expect(names.length).toBeLessThanOrEqual(80);
  });

  test("has one door and three errors", () => {
    expect(names).toContain("createAndante");
    expect(names.filter((name) => name.endsWith("Error"))).toEqual([
      "AndanteError",
      "PermanentError",
      "PublicError",
    ]);
  });

  test("shares no name with the internal entry", () => {
    const internal = exportsOf("src/internal.ts");
    expect(internal.others).toEqual([]);
    expect(internal.names.filter((name) => names.includes(name))).toEqual([]);
  });
});

test("the first line of the internal entry marks it as internal", () => {
  const [first] = readFileSync(path.join(root, "src/internal.ts"), "utf8").split("\n", 1);
  expect(first).toMatch(/^\/\/ Internal: .*Not covered by semantic versioning\.$/);
});

test("each entry of package.json is an entry of the build", async () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const build = readFileSync(path.join(root, "tsdown.config.ts"), "utf8");
  for (const [name, entry] of Object.entries<{ "andante-source": string } | string>(exports)) {
    if (typeof entry === "string") continue;
    expect(build, name).toContain(`"${entry["andante-source"].slice(2)}"`);
  }
});
