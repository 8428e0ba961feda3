// A folder as `npm install` leaves it: the built packages as a host has them, and their dependencies.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
const root = path.join(here, "../..");

/** Puts the scripts of this benchmark into a new folder with the packages beside them, without those that are named. */
export function install(folder: string, without: readonly string[]): void {
  const modules = path.join(folder, "node_modules");
  mkdirSync(path.join(modules, "@andante"), { recursive: true });
  for (const name of namesIn(path.join(root, "node_modules"))) {
    if (name.startsWith("@andante/") || without.includes(name)) continue;
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  }
  for (const name of ["core", "server"]) {
    for (const part of ["package.json", "dist"])
      cpSync(path.join(root, "packages", name, part), path.join(modules, "@andante", name, part), {
        recursive: true,
      });
  }
  for (const script of readdirSync(here).filter((name) => name.endsWith(".mjs")))
    cpSync(path.join(here, script), path.join(folder, script));
}

/** The names of the packages in a `node_modules`, those in a scope too. */
function namesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(path.join(modules, name)).map((each) => `${name}/${each}`) : [name],
    );
}
