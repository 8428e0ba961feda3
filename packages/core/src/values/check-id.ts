// Checks ids and the like that callers choose: short strings that every database keeps as they are.
import { DefinitionError, InvalidOptionError } from "../errors/index.ts";

const maxIdLength = 200;

export function checkId(value: unknown, option: string): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value === "" || value.length > maxIdLength) {
    throw new InvalidOptionError({ option, problem: `expected a string of 1 to ${maxIdLength} characters` });
  }
  // Databases keep neither half a character nor, some of them, a NUL: two ids would become one.
  if (/\p{Cc}/u.test(value))
    throw new InvalidOptionError({ option, problem: "it contains a control character" });
  if (!value.isWellFormed())
    throw new InvalidOptionError({ option, problem: "it contains half a surrogate pair" });
}

/** The same for an id that is also a part of URLs. */
export function checkUrlId(value: unknown, option: string): void {
  checkId(value, option);
  if (!fitsUrl(value)) throw new InvalidOptionError({ option, problem: notInUrl });
}

/** Refuses, while the host defines, an id that no URL reaches. `where` names the place for the error. */
export function checkDefinedUrlId(id: string, where: string): void {
  if (!fitsUrl(id)) throw new DefinitionError({ where, problem: `the id "${id}" ${notInUrl}` });
}

const notInUrl = "cannot be used in a URL";

/** Clients resolve `.` and `..` like folders, encoded or not, before they send a request. */
function fitsUrl(id: unknown): boolean {
  return id !== "" && id !== "." && id !== "..";
}
