// Builds the packages and checks them: package.json entries, types that resolve, and a run of the result.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { buildPackages, modules, published, root, run, tool } from "./packages.ts";

const program = process.platform === "win32" ? "node.exe" : "node";

buildPackages();
for (const folder of published) run(`publint ${folder}`, folder, [tool("publint/src/cli.js"), "--strict"]);
for (const folder of modules) {
  run(`types resolve ${folder}`, folder, [
    tool("@arethetypeswrong/cli/dist/index.js"),
    "--pack",
    ".",
    "--profile",
    "esm-only",
  ]);
}
// Without the condition for sources, Node loads the built files.
run("run the built packages", "test", ["built-packages.mjs"]);

// On every Node that is installed, importing works or names the required version.
const candidates = (process.env.PATH ?? "").split(path.delimiter).map((folder) => path.join(folder, program));
const nodes = [process.execPath, ...candidates].filter((file) => existsSync(file));
for (const node of new Set(nodes.map((file) => realpathSync(file)))) {
  for (const name of ["@andante/core", "@andante/core/test", "@andante/server"]) checkImport(node, name);
  // It uses interfaces of browsers, too.
  for (const name of [
    "@andante/client",
    "@andante/client/chat",
    "@andante/client/react",
    "@andante/client/webhooks",
  ])
    checkImport(node, name, "anywhere");
}

function checkImport(node: string, name: string, where: "newer" | "anywhere" = "newer"): void {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  const isEnough = where === "anywhere" || major > 22 || (major === 22 && minor >= 13);
  const args = ["--input-type=module", "--eval", `await import(${JSON.stringify(name)});`];
  const { status, stderr } = spawnSync(node, args, { cwd: path.join(root, "test"), encoding: "utf8" });
  const sentence = `Node 22.13 or later is needed (this is ${version})`;
  if (isEnough ? status === 0 : status !== 0 && stderr.includes(sentence)) {
    return console.log(`import ${name} on Node ${version}: ${isEnough ? "ok" : "refused as it should be"}`);
  }
  console.error(`import ${name} on Node ${version}: failed\n${stderr}`);
  process.exit(1);
}
