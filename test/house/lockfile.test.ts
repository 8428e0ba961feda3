// The lockfile serves every platform: `npm ci` refuses one that lacks the optional packages of another.
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { completed, type Entries, missingEntries, platformOf, readLockfile } from "../../scripts/lockfile.ts";

const { packages } = readLockfile();
const installed = Object.entries(packages).filter(
  ([folder, { link }]) => folder.includes("node_modules/") && link !== true,
);

describe("package-lock.json", () => {
  test("has an entry for every optional dependency, on every platform", () => {
    const missing = missingEntries(packages).map(({ dependent, name }) => `${dependent}: ${name}`);
    expect(missing, "run `npm run lockfile`").toEqual([]);
  });

  test("has the integrity of every package except optional ones for single platforms", () => {
    const without = installed.filter(([, { integrity }]) => integrity === undefined);
    expect(without.filter(([, { optional, cpu }]) => optional !== true || cpu === undefined)).toEqual([]);
  });

  test("@andante/restate brings two packages of others, with less than 10 MB and without scripts at their installation", () => {
    const brought = new Set(["packages/restate"]);
    for (const folder of brought)
      for (const name of Object.keys(packages[folder]?.dependencies ?? {}))
        brought.add(`node_modules/${name}`);
    expect(brought.size).toBe(3);
    expect([...brought].filter((folder) => packages[folder]?.hasInstallScript)).toEqual([]);
    const files = [...brought]
      .filter((folder) => folder.startsWith("node_modules/"))
      .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile());
    const bytes = files.map((entry) => statSync(path.join(entry.parentPath, entry.name)).size);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(10_000_000);
  });

  test("names no registry", () => {
    expect(installed.filter(([, entry]) => "resolved" in entry)).toEqual([]);
  });
});

describe("completing a lockfile", () => {
  const tool = {
    version: "2.0.0",
    optionalDependencies: { "@tool/linux-x64": "2.0.0", "@tool/win32-arm64": "2.0.0" },
  };
  const linux = { version: "2.0.0", integrity: "sha512-x", os: ["linux"], cpu: ["x64"], optional: true };
  const entries: Entries = {
    "node_modules/@tool/linux-x64": { ...linux, version: "1.0.0" },
    "node_modules/host/node_modules/@tool/linux-x64": linux,
    "node_modules/host/node_modules/tool": tool,
  };

  test("adds an entry beside the one for another platform, without its integrity", () => {
    const added = "node_modules/host/node_modules/@tool/win32-arm64";
    expect(completed(entries)).toEqual({
      ...entries,
      [added]: { version: "2.0.0", os: ["win32"], cpu: ["arm64"], optional: true },
    });
    expect(missingEntries(completed(entries))).toEqual([]);
  });

  test("an entry of another version does not count", () => {
    const shared = {
      "node_modules/@tool/linux-x64": { ...linux, version: "1.0.0" },
      "node_modules/tool": tool,
    };
    expect(missingEntries(shared).map(({ name }) => name)).toEqual(["@tool/linux-x64", "@tool/win32-arm64"]);
  });

  test.each([
    ["@rollup/rollup-linux-arm-musleabihf", { os: ["linux"], cpu: ["arm"], libc: ["musl"] }],
    ["@rolldown/binding-linux-s390x-gnu", { os: ["linux"], cpu: ["s390x"], libc: ["glibc"] }],
    ["@rollup/rollup-win32-x64-gnu", { os: ["win32"], cpu: ["x64"] }],
    ["@rolldown/binding-wasm32-wasi", { cpu: ["wasm32"] }],
  ])("%s names its platform", (name, platform) => {
    expect(platformOf(name)).toEqual(platform);
  });

  test("a name without a platform is refused", () => {
    expect(() => platformOf("fsevents")).toThrow("does not say which processor");
  });
});
