// Runs every benchmark one after the other, shortened so that all of it takes less than 20 minutes, and rewrites
// RESULTS.md. Exits with 1 when a budget is not held.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { buildPackages, root } from "../scripts/packages.ts";

const longest = 20;
const source = "--conditions=andante-source";
const benchmarks: readonly (readonly string[])[] = [
  ["bench/boot/main.ts"],
  ["--expose-gc", "bench/engine/main.ts"],
  ["bench/growth/main.ts"],
  ["bench/http/main.ts"],
  ["bench/agents/main.ts"],
  ["bench/observe/main.ts"],
  ["bench/mcp/main.ts"],
];

buildPackages();
const start = performance.now();
const minutes = () => (performance.now() - start) / 60_000;
let failed = 0;
for (const args of benchmarks) {
  const { status } = spawnSync(process.execPath, [source, ...args, "--short"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) failed++;
  console.log(`${path.basename(path.dirname(args.at(-1) ?? ""))}: after ${minutes().toFixed(1)} minutes`);
}
if (minutes() > longest)
  console.log(`This took longer than ${longest} minutes: shorten the benchmarks of --short.`);
process.exitCode = failed === 0 ? 0 : 1;
