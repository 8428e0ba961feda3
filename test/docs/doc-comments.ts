// The `@example` blocks in doc comments of the packages, as modules: they are checked like the code of the documents.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { blocksOf, type Module, root } from "./pages.ts";

export function exampleModules(): Module[] {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root });
  return files.filter((file) => !/\.test(-d)?\.ts$/.test(file)).flatMap(modulesOfFile);
}

function modulesOfFile(file: string): Module[] {
  const text = readFileSync(path.join(root, file), "utf8");
  if (!text.includes(" * ```ts")) return [];
  // Outside of comments nothing is a fence; inside, a fence begins after the star.
  const lines = text.split("\n").map((line) => /^ *\* ?(.*)$/.exec(line)?.[1] ?? "");
  return blocksOf(lines.join("\n")).map((block, index) => {
    const code: string[] = Array.from({ length: lines.length }, () => "");
    code.splice(block.line, block.lines.length, ...block.lines);
    const common = { page: file, notRun: undefined, commands: [] };
    return { ...common, name: `example-${index + 1}.ts`, code: code.join("\n") };
  });
}
