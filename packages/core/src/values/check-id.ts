// Checks ids and the like that callers choose: short strings that every database keeps as they are.
import { DefinitionError, InvalidOptionError } from "../errors/index.ts";

/** In UTF-16 units, which are at most 600 bytes of UTF-8: an index entry of PostgreSQL holds about 2700. */
export const maxIdLength = 200;

export function checkId(value: unknown, option: string): void {
  if (value === undefined) return;
  const problem = problemOfId(value);
  if (problem !== undefined) throw new InvalidOptionError({ option, problem });
}

/** Why this is not an id; undefined when it is one. */
export function problemOfId(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > maxIdLength)
    return `expected a string of 1 to ${maxIdLength} characters`;
  // Databases keep neither half a character nor, some of them, a NUL: two ids would become one.
  if (/\p{Cc}/u.test(value)) return "it contains a control character";
  return value.isWellFormed() ? undefined : "it contains half a surrogate pair";
}

/** The id of a log line, which a host may fill with any text: cut, and with U+FFFD for characters that an id cannot hold. */
export function storableId(value: string): string {
  if (problemOfId(value) === undefined) return value;
  const short = value.length > maxIdLength ? `${value.slice(0, maxIdLength - 1)}…` : value;
  return short.toWellFormed().replace(/\p{Cc}/gu, "\ufffd");
}

/** The same as `checkId` for an id that is also a part of URLs. */
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
