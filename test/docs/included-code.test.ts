// Code on the pages of recipes is the code of their files, and every recipe is a folder with a test.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { includedCode } from "../../scripts/docs/included-code.ts";
import { root } from "./pages.ts";

const recipes = globSync("docs/recipes/*.md", { cwd: root }).sort();

test.each(recipes)("%s shows its files as they are (`npm run docs -- update` writes them)", (page) => {
  const included = includedCode(page);
  const name = path.basename(page, ".md");
  const files = included.map(({ file }) => path.basename(file));
  expect(included.map(({ file }) => path.dirname(file))).toEqual(files.map(() => `examples/${name}/src`));
  expect(files).toContain("main.ts");
  expect(files.filter((file) => file.endsWith(".test.ts"))).toHaveLength(1);
  for (const { onPage, inFile } of included) expect(onPage).toBe(inFile);
});

test("each recipe is in the index, and can be started as on its page", () => {
  const index = readFileSync(path.join(root, "docs/README.md"), "utf8");
  for (const page of recipes) {
    const name = path.basename(page, ".md");
    expect(index).toContain(`](recipes/${name}.md)`);
    const folder = path.join(root, "examples", name);
    const { scripts } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    expect(scripts.start).toBe(`node ../../scripts/run.mjs node examples/${name}/src/main.ts`);
    expect(existsSync(path.join(folder, "src/main.ts"))).toBe(true);
  }
});
