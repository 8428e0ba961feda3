// Every block of TypeScript in the documents and in doc comments compiles, as strictly as the project itself.
import { expect, test } from "vitest";
import { checkTypes } from "./check-types.ts";
import { exampleModules } from "./doc-comments.ts";
import { modulesIn, modulesOf, pages } from "./pages.ts";

// Five seconds of work, which take longer where other tests have the processors.
test("every block compiles", () => {
  const modules = [...pages().flatMap(modulesOf), ...exampleModules()];
  const wrong = modulesIn("wrong.md", '# A page\n\n```ts\nimport "node:fs";\nconst one: string = 1;\n```\n');
  // One program for all, because most of its time goes to the packages' types; so the block that must fail is in it.
  expect(checkTypes([...modules, ...wrong])).toEqual([
    "wrong.md:5: Type 'number' is not assignable to type 'string'.",
  ]);
});

test("blocks belong to one module until an import or a file comment starts the next", () => {
  const block = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`;
  const page = ['import a from "a";', "a();", "// file: b.ts\nb();", "c();"].map(block).join("text\n");
  const names = modulesIn("page.md", page).map(({ name, code }) => [name, code.split("\n").filter(Boolean)]);
  expect(names).toEqual([
    ["block-1.ts", ['import a from "a";', "a();"]],
    ["b.ts", ["// file: b.ts", "b();", "c();"]],
  ]);
});
