// Builds what would be published and checks it: package.json entries, types that resolve, and a run of the result.
import { buildPackages, packages, run, tool } from "./packages.ts";

buildPackages();
for (const folder of packages) {
  run(`publint ${folder}`, folder, [tool("publint/src/cli.js"), "--strict"]);
  run(`types resolve ${folder}`, folder, [
    tool("@arethetypeswrong/cli/dist/index.js"),
    "--pack",
    ".",
    "--profile",
    "esm-only",
  ]);
}
// Without the condition for sources, Node takes what was built.
run("run the built packages", "test", ["built-packages.mjs"]);
