// Change files in .changeset: packages, size of the change, and the text for users.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const changesFolder = path.join(import.meta.dirname, "../.changeset");

/** From the smallest to the largest. */
const sizes = ["patch", "minor", "major"] as const;
type Size = (typeof sizes)[number];

export interface Change {
  readonly packages: readonly string[];
  readonly size: Size;
  readonly text: string;
}

/** The names of the files with changes that are not released yet. */
export function changeFiles(): string[] {
  return globSync("*.md", { cwd: changesFolder })
    .filter((file) => file !== "README.md")
    .sort();
}

/** Reads one file; throws where a required field is missing. */
export function parseChange(file: string, content: string, known: readonly string[]): Change {
  const problem = (what: string) => new Error(`.changeset/${file}: ${what}`);
  const [, head = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(content) ?? [];
  const lines = head.split("\n").map((line) => /^"(\S+)": (patch|minor|major)$/.exec(line) ?? [line]);
  const packages = lines.map(([line = "", name]) => {
    if (name === undefined) throw problem(`"${line}" is not '"package": patch', minor or major`);
    if (!known.includes(name)) throw problem(`${name} is not a package that is published`);
    return name;
  });
  const text = body.trim();
  if (text === "") throw problem("there is no text for the users");
  const size = sizes.findLast((each) => lines.some(([, , found]) => found === each)) ?? "patch";
  return { packages, size, text };
}

export function readChanges(known: readonly string[]): Change[] {
  return changeFiles().map((file) =>
    parseChange(file, readFileSync(path.join(changesFolder, file), "utf8"), known),
  );
}

/** The version after these changes: all packages have the same one. */
export function nextVersion(version: string, changes: readonly Change[]): string {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const has = (size: Size) => changes.some((change) => change.size === size);
  if (has("major")) return `${major + 1}.0.0`;
  return has("minor") ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

const headings: Readonly<Record<Size, string>> = { major: "Breaking", minor: "Changed", patch: "Fixed" };

/** The changelog with a section for a release above the earlier ones. */
export function withRelease(
  changelog: string,
  version: string,
  date: string,
  changes: readonly Change[],
): string {
  const sections = sizes.toReversed().flatMap((size) => {
    const entries = changes.filter((change) => change.size === size);
    if (entries.length === 0) return [];
    const lines = entries.map(
      ({ packages, text }) =>
        `- ${packages.map((name) => `\`${name}\``).join(", ")}: ${text.replaceAll(/\n(?=.)/g, "\n  ")}`,
    );
    return [`### ${headings[size]}\n\n${lines.join("\n")}\n`];
  });
  const release = `## ${version} (${date})\n\n${sections.join("\n")}\n`;
  const first = changelog.search(/^## /m);
  if (first === -1) return `${changelog.trimEnd()}\n\n${release.trimEnd()}\n`;
  return `${changelog.slice(0, first)}${release}${changelog.slice(first)}`;
}
