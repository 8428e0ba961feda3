// Programs beside Node that tests run where they are there: on the path, or where `.ci/run` has unpacked them.
import { accessSync, constants } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const unpacked = ["usr/bin", "usr/sbin"].map((folder) =>
  path.join(root, "node_modules/.cache/programs", folder),
);

/** The path of a program; undefined where there is none of this name. */
export function installedProgram(name: string): string | undefined {
  const folders = [...unpacked, ...(process.env.PATH ?? "").split(path.delimiter), "/usr/sbin"];
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
