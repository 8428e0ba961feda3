// Programs beside Node that tests run where they are there: on the path, or where `.ci/run` has unpacked them.
import { accessSync, constants, globSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const place = path.join(root, "node_modules/.cache/programs");
const unpacked = ["usr/bin", "usr/sbin"].map((folder) => path.join(place, folder));

/** Debian keeps the programs of PostgreSQL off the path. */
const postgres = "usr/lib/postgresql/15/bin";

/** The path of a program; undefined where there is none of this name. */
export function installedProgram(name: string): string | undefined {
  const onPath = (process.env.PATH ?? "").split(path.delimiter);
  const folders = [...unpacked, ...onPath, "/usr/sbin", `/${postgres}`, path.join(place, postgres)];
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

/** The variables with which an unpacked program finds its libraries and its modules of Python. */
export function unpackedLibraries(): Record<string, string> {
  const libraries = globSync("{usr/lib,lib}/*-linux-gnu", { cwd: place }).map((folder) =>
    path.join(place, folder),
  );
  return {
    PYTHONPATH: path.join(place, "usr/lib/python3/dist-packages"),
    LD_LIBRARY_PATH: libraries.join(path.delimiter),
  };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
