// Values pass through JSON once: one that JSON cannot hold is an error here, never a silent change.
import { UnserializableError } from "../errors/index.ts";
import { isRecord } from "./fields.ts";

/** A value as JSON text; `undefined` is "no value" (a body that returned nothing). */
export type JsonText = string | undefined;

/**
 * The type of a value after JSON: dates are strings, functions and `undefined` properties go away,
 * the `void` of a body that returns nothing is `undefined`, maps, sets and bigints are not allowed at all.
 */
export type Json<T> = unknown extends T
  ? T
  : T extends { toJSON(): infer R }
    ? Json<R>
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends bigint | symbol | ((...args: never[]) => unknown)
        ? never
        : T extends
              | ReadonlyMap<unknown, unknown>
              | ReadonlySet<unknown>
              | Promise<unknown>
              | RegExp
              | ArrayBufferLike
          ? never
          : T extends object
            ? { [K in keyof T]: Json<T[K]> }
            : undefined extends T
              ? undefined
              : never;

/** Writes a value as JSON text. `what` names it in the error, such as `Output of step resize`. */
export function toJson(value: unknown, what: string): JsonText {
  if (value === undefined) return undefined;
  const found = misfitIn(value, []);
  if (found !== undefined) throw new UnserializableError({ what, at: placeOf(found), ...found });
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new UnserializableError({ what, at: "", problem: wordsOf(cause), cause });
  }
}

/**
 * Whether the fields and elements of a value alone make its JSON text longer than this. Counts no further: to copy, walk and
 * write 390 000 fields takes 1.6 s, to find that they are too many 0.2. False for a value that `toJson` refuses.
 */
export function isWiderThan(value: unknown, characters: number): boolean {
  try {
    return widthOf(value, characters, 0) > characters;
  } catch {
    return false;
  }
}

/** The characters of keys and punctuation, and one for each value; text is not counted, it costs little to write. */
function widthOf(value: unknown, most: number, depth: number): number {
  if (typeof value !== "object" || value === null || hasToJson(value)) return 1;
  if (depth > maxDepth) throw new RangeError("it is nested too deeply");
  let width = 1;
  if (Array.isArray(value)) {
    if (value.length > most) return value.length;
    for (let index = 0; index < value.length && width <= most; index++)
      width += 1 + widthOf(value[index], most - width, depth + 1);
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      if (width > most) break;
      const field = value[key];
      // JSON leaves it out.
      if (field !== undefined) width += key.length + 4 + widthOf(field, most - width, depth + 1);
    }
  }
  return width;
}

/** Reads JSON text that `toJson` wrote. */
export function fromJson(text: JsonText): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The same text for the same value, independent of the order of its keys. */
export function canonicalJson(text: JsonText): string {
  return text === undefined ? "" : JSON.stringify(sortKeys(JSON.parse(text)));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

/** A value that JSON cannot represent. The keys that lead to it are added from the inside out, so that a sound value costs no text. */
interface Misfit {
  readonly problem: string;
  readonly cause?: unknown;
  readonly keys: (string | number)[];
}

// A walk of our own before JSON.stringify: a replacer function would see the same values, but is several times slower
// on large ones and sees a Date only after its toJSON.
function misfitIn(value: unknown, above: object[]): Misfit | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : misfit(`it is ${value}`);
    case "object":
      return value === null ? undefined : misfitInObject(value, above);
    default:
      return misfit(`it is a ${typeof value}`);
  }
}

function misfit(problem: string, cause?: unknown): Misfit {
  return { problem, cause, keys: [] };
}

function misfitInObject(value: object, above: object[]): Misfit | undefined {
  if (above.includes(value)) return misfit("it contains itself");
  if (above.length >= maxDepth) return misfit("it is nested too deeply");
  above.push(value);
  const found = misfitInside(value, above);
  above.pop();
  return found;
}

function misfitInside(value: object, above: object[]): Misfit | undefined {
  if (hasToJson(value)) return misfitInConverted(value, above);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = misfitIn(value[index], above);
      if (found !== undefined) return below(index, found);
    }
    return undefined;
  }
  const kind = misfitOfKind(value);
  if (kind !== undefined || !isRecord(value)) return kind;
  for (const key of Object.keys(value)) {
    const found = misfitInProperty(value, key, above);
    if (found !== undefined) return below(key, found);
  }
  return undefined;
}

function misfitInProperty(
  value: Readonly<Record<string, unknown>>,
  key: string,
  above: object[],
): Misfit | undefined {
  let property: unknown;
  try {
    property = value[key];
  } catch (cause) {
    return misfit(`reading it failed: ${wordsOf(cause)}`, cause);
  }
  return misfitIn(property, above);
}

function below(key: string | number, found: Misfit): Misfit {
  found.keys.push(key);
  return found;
}

/** The place in words, such as `orders[3].total`; a caller chose the keys, so that its length is bounded. */
function placeOf({ keys }: Misfit): string {
  const at = keys.reduceRight<string>(
    (place, key) => (typeof key === "number" ? `${place}[${key}]` : place === "" ? key : `${place}.${key}`),
    "",
  );
  return at.length <= maxPlaceLength ? at : `${at.slice(0, maxPlaceLength)}…`;
}

const maxPlaceLength = 300;
const maxDepth = 500;

/** Kinds of objects that JSON would silently turn into `{}` or something else. */
const unkeepable: readonly (abstract new (...given: never[]) => object)[] = [
  Map,
  Set,
  Promise,
  WeakMap,
  WeakSet,
  RegExp,
  Error,
  ArrayBuffer,
  Object.getPrototypeOf(Uint8Array),
  Number,
  String,
  Boolean,
  BigInt,
  Symbol,
];

function misfitOfKind(value: object): Misfit | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  if (!unkeepable.some((kind) => value instanceof kind)) return undefined;
  const hint = value instanceof Promise ? " (is an await missing?)" : "";
  return misfit(`it is a ${value.constructor.name}${hint}`);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function misfitInConverted(value: { toJSON(): unknown }, above: object[]): Misfit | undefined {
  if (value instanceof Date && Number.isNaN(value.getTime())) return misfit("it is an invalid Date");
  let converted: unknown;
  try {
    converted = value.toJSON();
  } catch (cause) {
    return misfit(`its toJSON failed: ${wordsOf(cause)}`, cause);
  }
  return converted === value ? undefined : misfitIn(converted, above);
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : typeof thrown;
}

/** The value as JSON; a value that JSON cannot hold is replaced, so that it does not break the reply. */
export function plainJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return "[not representable as JSON]";
  }
}
