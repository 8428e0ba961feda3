// The address of a step inside an execution: ids joined by "/", "[n]" for an iteration, "#" for a function beside it.
import { DefinitionError } from "../errors/index.ts";
import { maxIdLength } from "./check-id.ts";

/** Checks an id that will be part of paths. `where` names the place for the error. */
export function checkDefinitionId(id: unknown, where: string): asserts id is string {
  if (typeof id !== "string" || id === "") {
    throw new DefinitionError({ where, problem: "the id must be a string that is not empty" });
  }
  if (/[/[\]#]/.test(id)) {
    throw new DefinitionError({ where, problem: `the id "${id}" must not contain / [ ] or #` });
  }
  if (id.length > maxIdLength) {
    const problem = `the id "${id.slice(0, 20)}…" is longer than ${maxIdLength} characters`;
    throw new DefinitionError({ where, problem });
  }
  // Ids are kept in databases and put into headers and logs.
  const refuse = (what: string) => {
    throw new DefinitionError({ where, problem: `the id ${JSON.stringify(id)} contains ${what}` });
  };
  if (/\p{Cc}/u.test(id)) refuse("a control character");
  if (!id.isWellFormed()) refuse("half a surrogate pair");
}

export function childPath(parent: string, id: string): string {
  return parent === "" ? id : `${parent}/${id}`;
}

/** The path of a user function beside a step's body, such as `gate#condition`. */
export function functionPath(path: string, name: string): string {
  return `${path}#${name}`;
}

/** The path of the body that a checkpoint such as `charge#card` belongs to. */
export function bodyPathOf(checkpointPath: string): string {
  return checkpointPath.slice(0, checkpointPath.indexOf("#"));
}

/** The path of one round of a loop or one item of an array, such as `each[3]`. */
export function iterationPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** The iteration that directly contains a step: `loop[3]/ask` → round 3 of `loop`; undefined for any other path. */
export function iterationOf(
  path: string,
): { readonly container: string; readonly index: number } | undefined {
  if (!path.includes("]/")) return undefined;
  const end = path.lastIndexOf("/") - 1;
  if (path[end] !== "]") return undefined;
  const begin = path.lastIndexOf("[", end);
  return { container: path.slice(0, begin), index: Number(path.slice(begin + 1, end)) };
}

/** Where a step's own path ends and a path below it continues: a step inside, an iteration, or a function beside. */
const separators = "/[#";

/** True when `path` belongs to the step at `container`, at any depth. */
export function isBelow(path: string, container: string): boolean {
  return path.startsWith(container) && separators.includes(path[container.length] ?? " ");
}

/** The steps that a path belongs to, outermost first: each beginning that ends before a separator, as `isBelow` has it. */
export function containersOf(path: string): readonly string[] {
  const containers: string[] = [];
  for (let index = 0; index < path.length; index++) {
    if (separators.includes(path[index] ?? " ")) containers.push(path.slice(0, index));
  }
  return containers;
}

/** The step's own id: the last part of its path without iteration or function. */
export function stepIdOf(path: string): string {
  if (isPlain(path)) return path;
  const last = path.slice(path.lastIndexOf("/") + 1);
  const end = last.search(/[[#]/);
  return end === -1 ? last : last.slice(0, end);
}

/** `a/b[2]/c` → `a/b[2]` → `a/b` → `a` → null; a function beside a step belongs to the step. */
export function parentPath(path: string): string | null {
  if (isPlain(path)) return null;
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("["), path.lastIndexOf("#"));
  return end <= 0 ? null : path.slice(0, end);
}

/** True for a step of the workflow itself: most paths are, and looking for the last "/" takes longer than this. */
function isPlain(path: string): boolean {
  return !path.includes("/") && !path.includes("[") && !path.includes("#");
}

/** The path of the step itself: without the numbers of iterations and without a function beside it. */
export function stepPathOf(path: string): string {
  return path.replaceAll(/\[\d+\]|#[^/]*/g, "");
}
