// The peers of the benchmarks: installed from npm into a folder of their own, never as dependencies of the project.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const sources = path.join(import.meta.dirname, "peers");

/** Before a peer's own script: refuses every connection but loopback. */
export const guarded = ["--import", "./loopback-only.mjs"];

/** The folder with the peers, installed once. */
export function installPeers(): string {
  const folder = process.env.ANDANTE_PEERS ?? path.join(tmpdir(), "andante-bench-peers");
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(sources)) copyFileSync(path.join(sources, file), path.join(folder, file));
  if (!existsSync(path.join(folder, "node_modules", "@mastra", "core"))) {
    console.log("Installing the peers …");
    const args = [
      "install",
      "--no-audit",
      "--no-fund",
      "--legacy-peer-deps",
      "--ignore-scripts",
      "--no-package-lock",
    ];
    execFileSync("npm", args, { cwd: folder, stdio: "inherit" });
  }
  return folder;
}
