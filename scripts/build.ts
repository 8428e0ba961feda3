// Builds what would be published and checks it: package.json entries, types that resolve, and a run of the result.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const packages = ["packages/core", "packages/server", "packages/demo-model"];
const tool = (file: string) => path.join(root, "node_modules", file);

function run(what: string, folder: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: path.join(root, folder),
    encoding: "utf8",
  });
  if (status === 0) return console.log(`${what} ${folder}: ok`);
  console.error(`${what} ${folder}: failed\n${stdout}\n${stderr}`);
  process.exit(1);
}

for (const folder of packages) {
  rmSync(path.join(root, folder, "dist"), { recursive: true, force: true });
  run("build", folder, [tool("tsdown/dist/run.mjs")]);
}
for (const folder of packages) {
  run("publint", folder, [tool("publint/src/cli.js"), "--strict"]);
  run("types resolve", folder, [
    tool("@arethetypeswrong/cli/dist/index.js"),
    "--pack",
    ".",
    "--profile",
    "esm-only",
  ]);
}
// Without the condition for sources, Node takes what was built.
run("run the built packages", "test", ["built-packages.mjs"]);
