// Checks ids and the like that callers choose: short strings that every database keeps as they are.
import { InvalidOptionError } from "../errors/index.ts";

const longestId = 200;

export function checkId(value: unknown, option: string): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value === "" || value.length > longestId) {
    throw new InvalidOptionError({ option, problem: `expected a string of 1 to ${longestId} characters` });
  }
  // Databases keep neither half a character nor, some of them, a NUL: two ids would become one.
  if (/\p{Cc}/u.test(value))
    throw new InvalidOptionError({ option, problem: "it contains a control character" });
  if (!value.isWellFormed())
    throw new InvalidOptionError({ option, problem: "it contains half a surrogate pair" });
}
