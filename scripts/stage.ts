// Makes the folder of a package as it is published: the built files, the documentation pages that belong to it, and a
// manifest with the addresses that follow from `repository` in the package.json of the project.
import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files?: readonly string[];
  readonly workspaces?: readonly string[];
}

export function readManifest(folder: string): Manifest & Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
}

/** The pages below docs/ that each package ships. The others are about the repository, or pictures. */
export const pagesOf: Readonly<Record<string, readonly string[]>> = {
  "packages/core": [
    ...["README", "workflows", "waiting-for-people", "agents", "ui-messages", "testing", "errors"],
    ...["schedules", "events", "links", "webhooks", "costs", "observability", "upgrading"],
    ...["approval-desk", "chat-with-approval", "document-pipeline", "mail-approval", "morning-report"].map(
      (recipe) => `recipes/${recipe}`,
    ),
    ...["nightly-batch", "order-payment", "saga"].map((recipe) => `recipes/${recipe}`),
  ],
  "packages/server": [
    ...["getting-started", "http", "mcp", "a2a", "authentication", "embedding", "operating", "deploying"],
    "performance",
    ...[
      "voltagent",
      "mastra",
      "toolloopagent",
      "langgraph",
      "temporal",
      "inngest",
      "trigger",
      "workflow-sdk",
    ].map((system) => `moving-from-${system}`),
  ],
  "packages/console": ["console"],
  "packages/postgres": ["postgres", "postgres-compatible", "scale"],
  "packages/restate": ["restate"],
  "packages/client": ["client"],
};

/** Where an installed package has a page of the repository, below node_modules. */
const installed = new Map(
  Object.entries(pagesOf).flatMap(([folder, pages]) =>
    pages.map((page) => [`docs/${page}.md`, `${readManifest(folder).name}/docs/${page}.md`]),
  ),
);

/** The address of the repository without a slash at its end; empty until its owner sets it. */
export function repositoryAddress(): string {
  const { repository } = readManifest(".");
  assert(typeof repository === "string", 'package.json: "repository" is the address of the repository');
  const isAddress = /^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+(?<!\.git)$/.test(repository);
  assert(
    repository === "" || isAddress,
    `package.json: "repository" is "${repository}", not https://host/owner/name`,
  );
  return repository;
}

/** The fields of a manifest that say where the package comes from. */
export function addressesOf(repository: string, folder: string): Record<string, unknown> {
  if (repository === "") return {};
  return {
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    homepage: `${repository}/tree/main/${folder}#readme`,
    bugs: { url: `${repository}/issues` },
  };
}

/**
 * A page of the repository with links that work where it is installed: to pages of installed packages, else to the
 * repository. Without an address of the repository, the text of the link remains.
 *
 * @param place where the page is below node_modules; npm's site shows READMEs, which therefore link to the repository.
 */
export function relinked(
  text: string,
  page: string,
  place: string,
  repository: string,
  version: string,
): string {
  const isReadme = page.startsWith("packages/");
  return text.replaceAll(/!?\[([^\]]*)\]\(([^)\s]+)\)/g, (link, label: string, target: string) => {
    const [file = "", anchor] = target.split("#");
    const found = path.posix.join(path.posix.dirname(page), file);
    if (file === "" || /^[a-z]+:/.test(file) || !existsSync(path.join(root, found))) return link;
    const suffix = anchor === undefined ? "" : `#${anchor}`;
    const there = isReadme ? undefined : installed.get(found);
    if (there !== undefined)
      return `[${label}](${path.posix.relative(path.posix.dirname(place), there)}${suffix})`;
    return repository === "" ? label : `[${label}](${repository}/blob/v${version}/${found}${suffix})`;
  });
}

/** Writes the package of a folder, which has been built, into another folder. */
export function stage(folder: string, destination: string): void {
  const manifest = readManifest(folder);
  const repository = repositoryAddress();
  const pages = (pagesOf[folder] ?? []).map((page) => `docs/${page}.md`);
  const write = (file: string, text: string) => {
    const target = path.join(destination, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
  };
  for (const file of ["dist", "LICENSE"])
    cpSync(path.join(root, folder, file), path.join(destination, file), { recursive: true });
  for (const [source, file] of [
    [`${folder}/README.md`, "README.md"] as const,
    ...pages.map((page) => [page, page] as const),
  ]) {
    const text = readFileSync(path.join(root, source), "utf8");
    write(file, relinked(text, source, `${manifest.name}/${file}`, repository, manifest.version));
  }
  const files = [...(manifest.files ?? []), ...(pages.length > 0 ? ["docs"] : [])];
  const published = { ...manifest, ...addressesOf(repository, folder), files };
  write("package.json", `${JSON.stringify(published, null, 2)}\n`);
}

/** Pages of the guide and the recipes, without `.md`. */
export const guide = (): string[] =>
  globSync(["docs/*.md", "docs/recipes/*.md"], { cwd: root }).map((file) =>
    file.slice("docs/".length, -".md".length),
  );
