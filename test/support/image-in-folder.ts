// Follows a Dockerfile in a folder, where there is no Docker: copies its files, runs its commands, and returns
// how its command is started. Not done: the base image, users and rights.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

export interface ImageOptions {
  /** The text of the Dockerfile. */
  readonly dockerfile: string;
  /** The text of its .dockerignore. */
  readonly ignore: string;
  /** The folder that it is built from. */
  readonly context: string;
  /** An empty folder for its stages. */
  readonly folder: string;
  /** Of the programs that it runs. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs in place of a command that cannot be run here. */
  readonly rewrite?: (command: string) => string;
}

export interface ImageInFolder {
  /** The folder for its file system. */
  readonly root: string;
  /** Where its command is started. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

interface Stage {
  readonly root: string;
  directory: string;
  readonly env: Record<string, string>;
  command: readonly string[];
}

export function imageInFolder(options: ImageOptions): ImageInFolder {
  const stages = new Map<string, Stage>();
  const isIgnored = ignoredBy(options.ignore);
  let stage: Stage | undefined;
  for (const { name, text } of instructionsOf(options.dockerfile)) {
    if (name === "FROM") {
      const label = / AS (\w+)$/.exec(text)?.[1] ?? String(stages.size);
      stage = { root: path.join(options.folder, label), directory: "/", env: {}, command: [] };
      mkdirSync(stage.root, { recursive: true });
      stages.set(label, stage);
      continue;
    }
    if (stage === undefined) throw new Error(`${name} before FROM`);
    step(stage, name, text);
  }
  if (stage === undefined) throw new Error("no FROM");
  return { ...stage, directory: path.join(stage.root, stage.directory) };

  function step(current: Stage, name: string, text: string): void {
    const inside = (place: string) => path.join(current.root, path.posix.resolve(current.directory, place));
    switch (name) {
      case "WORKDIR":
        current.directory = text;
        mkdirSync(inside("."), { recursive: true });
        return;
      case "ENV":
        for (const pair of text.split(/\s+/)) {
          const [key = "", value = ""] = pair.split("=");
          current.env[key] = value.startsWith("/") ? inside(value) : value;
        }
        return;
      case "COPY":
        return copy(text, inside);
      case "RUN": {
        // Absolute paths that the Dockerfile makes itself are inside the folder.
        const command = (options.rewrite?.(text) ?? text).replace(
          /(?<=\s)\/(?=(?:packed|data)\b)/g,
          `${current.root}/`,
        );
        const env = { ...options.env, ...current.env };
        execFileSync("sh", ["-ec", command], {
          cwd: inside("."),
          env,
          stdio: ["ignore", "ignore", "inherit"],
        });
        return;
      }
      case "CMD":
        current.command = JSON.parse(text);
        return;
      case "USER":
      case "VOLUME":
      case "EXPOSE":
      case "HEALTHCHECK":
        return;
      default:
        throw new Error(`${name} is not known here`);
    }
  }

  function copy(text: string, inside: (place: string) => string): void {
    const [, from, rest = text] = /^--from=(\w+) (.*)$/.exec(text) ?? [];
    const places = rest.split(/\s+/);
    const target = places.pop() ?? "";
    const source = from === undefined ? options.context : stages.get(from)?.root;
    if (source === undefined) throw new Error(`no stage ${from}`);
    const ignored = from === undefined ? isIgnored : () => false;
    for (const pattern of places) {
      const place = pattern.replace(/^\//, "");
      const found = place.includes("*") ? globSync(place, { cwd: source }) : [place];
      if (found.length === 0) throw new Error(`COPY finds no ${pattern}`);
      for (const each of found) copyOne(source, each, inside(target), target.endsWith("/"), ignored);
    }
  }
}

/** Of a folder its contents, as COPY does. */
function copyOne(
  source: string,
  place: string,
  target: string,
  isFolder: boolean,
  ignored: (file: string, isFolder: boolean) => boolean,
): void {
  const from = path.join(source, place);
  if (!statSync(from).isDirectory()) {
    if (ignored(place, false)) throw new Error(`COPY of ${place}, which .dockerignore leaves out`);
    return cpSync(from, isFolder ? path.join(target, path.basename(place)) : target);
  }
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const inner = path.join(place, entry.name);
    if (ignored(inner, entry.isDirectory())) continue;
    const to = path.join(target, entry.name);
    if (entry.isDirectory()) copyOne(source, inner, to, true, ignored);
    else cpSync(path.join(source, inner), to, { verbatimSymlinks: true });
  }
}

/** The instructions of a Dockerfile, continued lines joined. */
function instructionsOf(text: string) {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => {
    const [, name, rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, text: rest.trim() }];
  });
}

/** The last pattern that matches a file, or a folder around it, decides. */
function ignoredBy(text: string): (file: string, isFolder: boolean) => boolean {
  const lines = text.split("\n").map((line) => line.trim());
  const rules = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ keeps: line.startsWith("!"), pattern: line.replace(/^!/, "") }))
    .map((rule) => ({ ...rule, matcher: matcherOf(rule.pattern) }));
  return (file, isFolder) => {
    const parts = file.split(path.sep);
    const around = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
    const rule = rules.findLast(({ matcher }) => around.some((each) => matcher.test(each)));
    // A folder that is left out may have something in it that is not.
    const leadsOn = rules.some(({ keeps, pattern }) => keeps && pattern.startsWith(`${around.at(-1)}/`));
    return rule !== undefined && !rule.keeps && !(isFolder && leadsOn);
  };
}

/** Docker's patterns: unlike those of shells, `*` is also for names that begin with a dot. */
function matcherOf(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  const text = escaped.replaceAll(/\*\*\/|\*\*|\*|\?/g, (sign) =>
    sign === "**/" ? "(?:.*/)?" : sign === "**" ? ".*" : sign === "*" ? "[^/]*" : "[^/]",
  );
  return new RegExp(`^${text}$`);
}
