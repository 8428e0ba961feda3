// The style sheets of pages are loaded with their pages and stay: a class that two of them style looks different after a visit
// to the other page.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** The classes that the sheet styles wherever they are: `.answered`, and `.tick` of `.tick:checked`. */
function bareClasses(sheet: string): ReadonlySet<string> {
  const selectors = read(sheet)
    .replaceAll(/\/\*.*?\*\//gs, "")
    .matchAll(/([^{};]+)\{/g);
  const alone = [...selectors].flatMap(([, text = ""]) => text.split(","));
  return new Set(alone.flatMap((each) => /^\s*\.([\w-]+)(?:[:[]\S*)?\s*$/.exec(each)?.[1] ?? []));
}

const sheets = globSync("{pages,form,graph,components}/**/*.css", { cwd: root });
const classesOf = new Map(sheets.map((sheet) => [sheet, bareClasses(sheet)] as const));

test("a class is styled by the sheet of one page", () => {
  expect(sheets.length).toBeGreaterThan(10);
  const found = [...classesOf].flatMap(([sheet, classes]) =>
    sheets
      .filter((other) => other > sheet)
      .flatMap((other) => [...classes].filter((each) => classesOf.get(other)?.has(each)))
      .map((each) => `.${each} of ${sheet}`),
  );
  expect(found).toEqual([]);
});

test("a page uses the classes of its own sheets, of those that it imports, and of those that are always loaded", () => {
  const pages = globSync("pages/**/*.tsx", { cwd: root });
  const importsOf = (folder: string) =>
    pages
      .filter((page) => path.dirname(page) === folder)
      .flatMap((page) => [...read(page).matchAll(/import "(\.[^"]+\.css)"/g)])
      .map(([, sheet = ""]) => path.join(folder, sheet));
  const found = pages.flatMap((page) => {
    const names = [...read(page).matchAll(/className="([^"]+)"/g)].flatMap(([, text = ""]) =>
      text.split(" "),
    );
    const known = [...importsOf(path.dirname(page)), "pages/home/home.css"];
    const strange = sheets.filter((sheet) => sheet.startsWith("pages/") && !known.includes(sheet));
    return strange.flatMap((sheet) =>
      [...new Set(names)]
        .filter((name) => classesOf.get(sheet)?.has(name))
        .map((name) => `${page}: .${name} of ${sheet}`),
    );
  });
  expect(found).toEqual([]);
});
