// Every error that a server may respond with: the code and the status of each class of errors.
import { globSync } from "node:fs";
import path from "node:path";
import * as coreErrors from "../packages/core/src/errors/index.ts";

const root = path.dirname(import.meta.dirname);

export async function errorCodes(): Promise<readonly (readonly [code: string, status: number])[]> {
  const files = globSync("packages/server/src/errors/*.ts", { cwd: root });
  const modules = await Promise.all(files.map((file): Promise<object> => import(path.join(root, file))));
  return [coreErrors, ...modules].flatMap((module) => Object.values(module)).flatMap(codeOf);
}

/** The code and status of an error class. Its message does not matter here. */
function codeOf(kind: unknown): (readonly [code: string, status: number])[] {
  if (typeof kind !== "function" || !(kind.prototype instanceof coreErrors.AndanteError)) return [];
  const error: unknown = Reflect.construct(kind, [{ known: [] }]);
  return error instanceof coreErrors.AndanteError ? [[error.code, error.status]] : [];
}
