// The import graph of a package: which file imports which, and the rooms (folders) that the files stand in.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Import {
  readonly from: string;
  readonly to: string;
}

const repository = path.resolve(import.meta.dirname, "../..");

/** The source files below a folder of the repository, tests left out, as paths relative to the folder. */
export function sourceFiles(folder: string): string[] {
  const root = path.join(repository, folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => /\.tsx?$/.test(file) && !/\.test(-d)?\.tsx?$/.test(file))
    .sort();
}

/** Every relative import and re-export inside a folder, types included. */
export function importsOf(folder: string): Import[] {
  return sourceFiles(folder).flatMap((from) => {
    const source = readFileSync(path.join(repository, folder, from), "utf8");
    const specifiers = [...source.matchAll(/^(?:import|export|\})[^"'\n]*["'](\.[^"']+)["'];?$/gm)];
    return specifiers.map(([, specifier = ""]) => ({
      from,
      to: path.posix.join(path.posix.dirname(from), specifier),
    }));
  });
}

/** The room of a file: the longest of these folders or files that contains it. */
export function roomOf(rooms: readonly string[], file: string): string | undefined {
  const around = rooms.filter((room) => file === room || file.startsWith(`${room}/`));
  return around.sort((a, b) => b.length - a.length)[0];
}

/** Files that import each other in a circle, each circle once. */
export function circlesIn(imports: readonly Import[]): string[][] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const circles: string[][] = [];
  const visit = (file: string, above: readonly string[]): void => {
    const start = above.indexOf(file);
    if (start !== -1) return void circles.push([...above.slice(start), file]);
    if (done.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...above, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}
