// Links between the documents lead somewhere: to a file that exists, and to a heading in it.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { pages, root } from "./pages.ts";

/** The anchors of a page's headings, as code hosts make them. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function brokenLinks(page: string): string[] {
  const text = readFileSync(path.join(root, page), "utf8");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [file = "", anchor] = target.split("#");
    const found = file === "" ? path.join(root, page) : path.join(root, path.dirname(page), file);
    if (!existsSync(found)) return true;
    return anchor !== undefined && !anchorsOf(found).includes(anchor);
  });
}

test("every link leads somewhere", () => {
  const exclude = ["**/node_modules/**"];
  const places = [
    "{docs/decisions,docs/recipes,test,bench,deploy,.changeset}/**/*.md",
    "{AGENTS,CODE_OF_CONDUCT}.md",
  ];
  const further = globSync(places, { cwd: root, exclude });
  const all = [...pages(), ...further];
  const broken = all.flatMap((page) => brokenLinks(page).map((target) => `${page}: ${target}`));
  expect(broken).toEqual([]);
});

test("the index has every page", () => {
  const index = readFileSync(path.join(root, "docs/README.md"), "utf8");
  const missing = pages().filter(
    (page) => /^docs\/(?!README)/.test(page) && !index.includes(`](${path.basename(page)})`),
  );
  expect(missing).toEqual([]);
});
