// The scalars of an execution's values that are searched, with their paths.
import { isSecretKey, withoutSecrets } from "../../values/redact-text.ts";
import type { SearchMatch } from "../search-store.ts";

/** Bytes of a value: a longer one is not searched. */
export const maxValueBytes = 131_072;
/** Characters of a scalar that are indexed: its beginning. */
const maxScalar = 128;
/** Characters of a path: scalars at longer ones are not indexed. */
const maxPath = 200;
/** Scalars of one value: the input, the result, the state or the data of a suspension. Those of upper levels come first. */
const maxScalars = 32;
/** Objects and arrays of one value that are entered. */
const maxEntered = 1_000;

/** The text in the form of the index. */
export function normalize(text: string): string {
  const cut = text.trim().slice(0, maxScalar).toLowerCase().slice(0, maxScalar);
  // Databases keep neither half a character nor, some of them, a NUL.
  return cut.toWellFormed().replaceAll("\u0000", "\u{fffd}");
}

interface Place {
  readonly value: unknown;
  readonly path: string;
  /** The path without the numbers of elements. */
  readonly plain: string;
}

/** The scalars below `root`, level by level, without secrets and excluded paths. Booleans and null are not searched. */
export function scalarsIn(root: string, value: unknown, excluded: readonly string[]): SearchMatch[] {
  const found: SearchMatch[] = [];
  const places: Place[] = [{ value, path: root, plain: root }];
  let entered = 0;
  for (const { value, path, plain } of places) {
    if (found.length === maxScalars) break;
    if (path.length > maxPath || excluded.includes(plain)) continue;
    if (typeof value === "string" || typeof value === "number") {
      const scalar = scalarOf(value);
      if (scalar !== "") found.push({ path, value: scalar });
    } else if (typeof value === "object" && value !== null && ++entered <= maxEntered)
      for (const place of placesIn(value, path, plain)) places.push(place);
  }
  return found;
}

function scalarOf(value: string | number): string {
  const text = String(value).slice(0, maxValueBytes);
  // A secret may begin in the part that is indexed and be recognised only by its rest.
  return typeof value === "string" && withoutSecrets(text) !== text ? "" : normalize(text);
}

function* placesIn(value: object, path: string, plain: string): Generator<Place> {
  let count = 0;
  for (const [key, each] of Object.entries(value)) {
    if (++count > maxEntered) return;
    if (Array.isArray(value)) yield { value: each, path: `${path}[${key}]`, plain };
    else if (!isSecretKey(key)) yield { value: each, path: path + partOf(key), plain: `${plain}.${key}` };
  }
}

/** A key in a path: `.order`, or `["order id"]`. */
function partOf(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
