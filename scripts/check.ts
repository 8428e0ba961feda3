// Checks the types of everything: the project's own, and those of the page in the browser tests, which has other globals.
import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const compiler = path.join(root, "node_modules", "typescript", "bin", "tsc");

for (const project of [".", "packages/console", "test/browser/chat-page"]) {
  const args = [compiler, "--noEmit", "--project", project, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
