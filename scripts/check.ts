// Checks the types of everything: the project's own, and those of pages, which have other globals.
import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const cache = path.join(root, "node_modules", ".cache", "andante-check");
const compiler = path.join(root, "node_modules", "typescript", "bin", "tsc");

for (const project of [
  ".",
  "packages/console",
  "docs/.vitepress",
  "test/browser/chat-page",
  "test/browser/client-page",
  "test/browser/worker-page",
]) {
  // Files that have not changed since the last check are not checked again.
  const known = path.join(cache, `${project.replaceAll("/", "-")}.tsbuildinfo`);
  const incremental = ["--incremental", "--tsBuildInfoFile", known];
  const args = [compiler, "--noEmit", "--project", project, ...incremental, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
