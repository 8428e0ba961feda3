// Builds the console when its sources have changed since it was last built.
//
// Plain JavaScript without dependencies, because scripts/run.mjs calls it on the machine's own Node.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "packages", "console");
const stamp = path.join(root, "node_modules", ".cache", "andante-console");
const client = path.join(root, "packages", "client", "src");
const left = new Set(["dist", "node_modules", "README.md", "LICENSE"]);

/** A hash of the sources of the built files, those of the client among them. */
function sourceHash() {
  const entries = readdirSync(folder).filter((entry) => !left.has(entry));
  return hashOf([...entries.sort().map((entry) => path.join(folder, entry)), client]);
}

/** A hash of the names and contents of files and of those in folders. */
export function hashOf(places) {
  const hash = createHash("sha256");
  for (const file of places.flatMap(filesIn))
    hash.update(path.relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function filesIn(place) {
  const entries = (() => {
    try {
      return readdirSync(place, { withFileTypes: true });
    } catch {
      return undefined;
    }
  })();
  if (entries === undefined) return [place];
  return entries.flatMap((entry) => filesIn(path.join(place, entry.name))).sort();
}

/**
 * Builds it, on the Node at `node`, unless the existing build is of the same sources. `tell` is called before that.
 * Returns the problem, or undefined after a success.
 */
export function buildConsole(node, tell = () => undefined) {
  const hash = sourceHash();
  const built = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  if (built === hash && existsSync(path.join(folder, "dist", "index.html"))) return undefined;
  tell();
  const vite = path.join(root, "node_modules", "vite", "bin", "vite.js");
  // Tests run with another NODE_ENV, and would get the development build of React.
  const how = { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_ENV: "production" } };
  const { status, stdout, stderr } = spawnSync(node, [vite, "build", "--logLevel", "warn"], how);
  if (status !== 0) return `${stdout}${stderr}`.trim();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
  return undefined;
}
