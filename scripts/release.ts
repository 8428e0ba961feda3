// Releases all packages, which have one version:
//   npm run release -- version             sets the version that follows from .changeset, and writes the changelog
//   npm run release -- publish             publishes with provenance; the release workflow runs it for a tag
//   npm run release -- publish --dry-run   everything but the publishing; needs no account
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { changeFiles, changesFolder, nextVersion, readChanges, withRelease } from "./changes.ts";
import { buildPackages, npmFile, pack, published, root, run } from "./packages.ts";
import { readManifest, repositoryAddress } from "./stage.ts";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** Reasons not to publish this checkout. */
export function problems(found: {
  readonly repository: string;
  readonly version: string;
  readonly changes: readonly string[];
  readonly changelog: string;
  /** The tag that started the release workflow. */
  readonly tag: string | undefined;
}): string[] {
  const { repository, version, changes, changelog, tag } = found;
  const hasSection = changelog
    .split("\n")
    .some((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
  return [
    ...(repository === "" ? ['package.json: "repository" is empty: set the address of the repository'] : []),
    ...changes.map((file) => `.changeset/${file} is not released: run \`npm run release -- version\``),
    ...(/^## Unreleased/m.test(changelog) ? ['CHANGELOG.md has a section "## Unreleased"'] : []),
    ...(hasSection ? [] : [`CHANGELOG.md has no section "## ${version}"`]),
    ...(tag === `v${version}` ? [] : [`the tag is ${tag ?? "missing"}, the version v${version}`]),
  ];
}

/** A manifest, or an entry of the lockfile, with the next version of our own packages. */
export function withVersion(text: string, from: string, to: string): string {
  const own = /("(?:version|@andante\/[a-z-]+)": "\^?)([^"]+)(?=")/g;
  return text.replaceAll(own, (all, start: string, version: string) => (version === from ? start + to : all));
}

function setVersion(): void {
  const changes = readChanges(published.map((folder) => readManifest(folder).name));
  if (changes.length === 0) throw new Error("there is no change in .changeset to release");
  const { version, workspaces = [] } = readManifest(".");
  const next = nextVersion(version, changes);
  const lock = JSON.parse(read("package-lock.json"));
  lock.version = next;
  for (const folder of [".", ...workspaces]) {
    const file = path.join(folder, "package.json");
    writeFileSync(path.join(root, file), withVersion(read(file), version, next));
    const entry = folder === "." ? "" : folder;
    lock.packages[entry] = JSON.parse(
      withVersion(JSON.stringify(lock.packages[entry], null, 1), version, next),
    );
  }
  writeFileSync(path.join(root, "package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
  const served = "packages/server/src/version.ts";
  writeFileSync(path.join(root, served), read(served).replace(`"${version}"`, `"${next}"`));
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(path.join(root, "CHANGELOG.md"), withRelease(read("CHANGELOG.md"), next, date, changes));
  for (const file of changeFiles()) rmSync(path.join(changesFolder, file));
  console.log(`${version} → ${next}: look at the changes, commit them, and push the tag v${next}`);
}

function publish(isDry: boolean): void {
  const found = problems({
    repository: repositoryAddress(),
    version: readManifest(".").version,
    changes: changeFiles(),
    changelog: read("CHANGELOG.md"),
    tag: process.env.GITHUB_REF_NAME,
  });
  for (const problem of found) console.log(`${isDry ? "before a release" : "refused"}: ${problem}`);
  if (!isDry && found.length > 0) process.exit(1);
  const work = mkdtempSync(path.join(tmpdir(), "andante-release-"));
  process.once("exit", () => rmSync(work, { recursive: true, force: true }));
  buildPackages();
  const tarballs = published.map((folder) => pack(folder, work));
  // The tag is npm's default. Named, a dry run asks no registry which versions there are.
  const how = ["--access", "public", "--tag", "latest", isDry ? "--dry-run" : "--provenance"];
  for (const tarball of tarballs)
    run(`publish ${path.basename(tarball)}`, work, [npmFile(), "publish", tarball, ...how]);
}

if (import.meta.main) {
  const [, , command, ...flags] = process.argv;
  if (command === "version" && flags.length === 0) setVersion();
  else if (command === "publish" && flags.every((flag) => flag === "--dry-run")) publish(flags.length > 0);
  else throw new Error("npm run release -- version | publish [--dry-run]");
}
