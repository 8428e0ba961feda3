// Writes the project: the common files, then those of its provider and its database.
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Choices, UsageError } from "./choose.ts";

type Manifest = Record<string, unknown> & { readonly dependencies?: Readonly<Record<string, string>> };

/** npm does not pack a file of this name, so the template has another one. */
const renamed: Readonly<Record<string, string>> = { _gitignore: ".gitignore" };

/** Throws a UsageError unless the path is free or an empty folder. */
export function checkFolder(name: string, parent: string): void {
  const folder = path.join(parent, name);
  const found = statSync(folder, { throwIfNoEntry: false });
  // A broken link also occupies the name.
  if (found === undefined && lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError(`${folder} is a link that leads nowhere`);
  if (found === undefined || (found.isDirectory() && readdirSync(folder).length === 0)) return;
  throw new UsageError(`${folder} already exists${found.isDirectory() ? " and is not empty" : ""}`);
}

/** Returns the new folder. */
export function writeProject({ name, provider, database }: Choices, parent: string): string {
  checkFolder(name, parent);
  const folder = path.join(parent, name);
  const parts = ["common", `providers/${provider}`, `databases/${database}`].map((part) =>
    path.join(templateFolder(), part),
  );
  const manifests: Manifest[] = [];
  const lines: string[] = [];
  const pages: string[] = [];
  for (const part of parts) {
    for (const file of filesIn(part)) {
      const text = readFileSync(path.join(part, file), "utf8").replaceAll("{{name}}", name);
      // Three files are merged from the parts of the templates.
      if (file === "package.json") manifests.push(JSON.parse(text.replaceAll("{{version}}", ownVersion())));
      else if (file === "_env") lines.push(text);
      else if (file === "README.md") pages.push(text);
      else write(folder, renamed[file] ?? file, text);
    }
  }
  write(folder, ".env.example", lines.join("\n"));
  write(folder, "README.md", pages.join("\n"));
  write(folder, "package.json", `${JSON.stringify(merged(manifests), null, 2)}\n`);
  return folder;
}

function merged(manifests: readonly Manifest[]): Manifest {
  const dependencies = Object.assign({}, ...manifests.map((manifest) => manifest.dependencies));
  const sorted = Object.entries<string>(dependencies).sort(([a], [b]) => a.localeCompare(b));
  return { ...Object.assign({}, ...manifests), dependencies: Object.fromEntries(sorted) };
}

function write(folder: string, file: string, text: string): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function filesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return all.filter((file) => statSync(path.join(folder, file)).isFile());
}

/** The folder next to the built program, or next to the sources. */
function templateFolder(): string {
  return fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "../template" : "./template", import.meta.url),
  );
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
