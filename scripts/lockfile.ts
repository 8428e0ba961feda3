// Completes package-lock.json: an entry for every optional dependency of every entry, also for other platforms.
//
// `npm ci` refuses a lockfile without them, and npm writes none for a package that the registry at hand does not have.
// Such an entry has no integrity. Run it after each change of a dependency: `npm run lockfile`. With a registry that has
// every package it leaves a lockfile in which each entry has its integrity.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npmFile } from "./packages.ts";

export interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** The entries of a lockfile by their folder. */
export type Entries = Readonly<Record<string, Entry>>;

interface Lockfile {
  packages: Entries;
}

export const lockfile = path.join(import.meta.dirname, "../package-lock.json");

export function readLockfile(): Lockfile {
  return JSON.parse(readFileSync(lockfile, "utf8"));
}

/** The folder in which a package finds a dependency, as Node looks for it. */
function folderOf(entries: Entries, dependent: string, name: string): string | undefined {
  for (let above = dependent; ; above = above.slice(0, Math.max(0, above.lastIndexOf("/node_modules/")))) {
    const folder = path.posix.join(above, "node_modules", name);
    if (entries[folder] !== undefined) return folder;
    if (above === "") return undefined;
  }
}

/** An optional dependency without an entry. */
export interface Missing {
  readonly dependent: string;
  readonly name: string;
  readonly version: string;
}

/** Optional dependencies that have no entry, or one of another version where one version is asked for. */
export function missingEntries(entries: Entries): Missing[] {
  return Object.entries(entries).flatMap(([dependent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => {
        const folder = folderOf(entries, dependent, name);
        if (folder === undefined) return true;
        return /^\d/.test(version) && entries[folder]?.version !== version;
      })
      .map(([name, version]) => ({ dependent, name, version })),
  );
}

/** With an entry for each that is missing, made from one for another platform. */
export function completed(entries: Entries): Entries {
  const added = missingEntries(entries).map(({ dependent, name, version }): [string, Entry] => {
    const others = Object.keys(entries[dependent]?.optionalDependencies ?? {});
    const sibling = others
      .map((other) => ({ other, folder: folderOf(entries, dependent, other) }))
      .find(({ folder }) => folder !== undefined && entries[folder]?.version === version);
    assert(sibling?.folder !== undefined, `${dependent} has no entry for any platform: run npm install`);
    const { integrity, os, cpu, libc, ...common } = entries[sibling.folder] ?? {};
    const folder = `${sibling.folder.slice(0, -sibling.other.length)}${name}`;
    return [folder, inOrder({ ...common, ...platformOf(name) })];
  });
  const byFolder = ([a]: [string, Entry], [b]: [string, Entry]) => a.localeCompare(b, "en");
  return Object.fromEntries([...Object.entries(entries), ...added].sort(byFolder));
}

/** In the order in which npm writes the fields, so that it changes nothing the next time. */
function inOrder(entry: Entry): Entry {
  const rank = (field: string) => (field === "version" ? 0 : field === "engines" ? 2 : 1);
  const sorted = Object.entries(entry).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b, "en"));
  return Object.fromEntries(sorted);
}

/** The platform in a package's name. */
export function platformOf(name: string): Pick<Entry, "os" | "cpu" | "libc"> {
  const words = (name.split("/").at(-1) ?? "").split("-");
  const os = words.filter((word) => systems.has(word));
  const cpu = words.filter((word) => processors.has(word));
  assert(cpu.length === 1, `the name of ${name} does not say which processor it is for`);
  const last = words.at(-1) ?? "";
  const libc = last.startsWith("musl")
    ? ["musl"]
    : last.startsWith("gnu") && os[0] === "linux"
      ? ["glibc"]
      : [];
  return { ...(os.length > 0 && { os }), cpu, ...(libc.length > 0 && { libc }) };
}

const systems = new Set(["android", "darwin", "freebsd", "linux", "openbsd", "openharmony", "win32"]);
const processors = new Set(["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"]);

if (import.meta.main) {
  const save = (lock: Lockfile) => writeFileSync(lockfile, `${JSON.stringify(lock, null, 2)}\n`);
  const before = readLockfile();
  // npm asks the registry for entries that are not there, and never again for those that are.
  const known = Object.entries(before.packages).filter(
    ([folder, entry]) => !folder.includes("node_modules/") || entry.link || entry.integrity !== undefined,
  );
  save({ ...before, packages: Object.fromEntries(known) });
  const args = [npmFile(), "install", "--package-lock-only", "--ignore-scripts", "--loglevel=error"];
  const { status } = spawnSync(process.execPath, args, { cwd: path.dirname(lockfile), stdio: "inherit" });
  if (status !== 0) {
    save(before);
    process.exit(1);
  }
  const after = readLockfile();
  save({ ...after, packages: completed(after.packages) });
}
