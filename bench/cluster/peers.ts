// The peers of this benchmark: installed from npm into a folder of their own, never as dependencies of the project.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const sources = path.join(import.meta.dirname, "peers");
const guard = path.join(import.meta.dirname, "..", "http", "peers", "loopback-only.mjs");

export function installPeers(): string {
  const folder = process.env.ANDANTE_CLUSTER_PEERS ?? path.join(tmpdir(), "andante-bench-cluster-peers");
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(sources)) copyFileSync(path.join(sources, file), path.join(folder, file));
  copyFileSync(guard, path.join(folder, path.basename(guard)));
  if (!existsSync(path.join(folder, "node_modules", "@mastra", "pg"))) {
    console.log("Installing the peers …");
    const how = ["--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts", "--no-package-lock"];
    execFileSync("npm", ["install", ...how], { cwd: folder, stdio: "inherit" });
  }
  return folder;
}
