// Values pass through JSON once: what JSON cannot hold is an error here, never a silent change.
import { UnserializableError } from "../errors/index.ts";

/** A value as JSON text; `undefined` stands for "no value" (a body that returned nothing). */
export type JsonText = string | undefined;

/**
 * What becomes of a type on its way through JSON: dates are strings, functions and `undefined` properties go away,
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
  check(value, what, "", []);
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new UnserializableError({ what, at: "", problem: wordsOf(cause), cause });
  }
}

/** Reads JSON text that `toJson` wrote. */
export function fromJson(text: JsonText): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(text: JsonText): string {
  return text === undefined ? "" : JSON.stringify(sortKeys(JSON.parse(text)));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

// A walk of our own before JSON.stringify: a replacer function would see the same values, but is several times slower
// on large ones and sees a Date only after its toJSON.
function check(value: unknown, what: string, at: string, above: object[]): void {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return;
    case "number":
      if (Number.isFinite(value)) return;
      throw new UnserializableError({ what, at, problem: `it is ${value}` });
    case "object":
      if (value !== null) checkObject(value, what, at, above);
      return;
    default:
      throw new UnserializableError({ what, at, problem: `it is a ${typeof value}` });
  }
}

function checkObject(value: object, what: string, at: string, above: object[]): void {
  if (above.includes(value)) throw new UnserializableError({ what, at, problem: "it contains itself" });
  if (above.length >= maxDepth)
    throw new UnserializableError({ what, at, problem: "it is nested too deeply" });
  above.push(value);
  if (hasToJson(value)) checkConverted(value, what, at, above);
  else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) check(value[index], what, `${at}[${index}]`, above);
  } else {
    checkKind(value, what, at);
    for (const key of Object.keys(value)) {
      const inside = at === "" ? key : `${at}.${key}`;
      check(read(value, key, what, inside), what, inside, above);
    }
  }
  above.pop();
}

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

function checkKind(value: object, what: string, at: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  if (!unkeepable.some((kind) => value instanceof kind)) return;
  const hint = value instanceof Promise ? " (is an await missing?)" : "";
  throw new UnserializableError({ what, at, problem: `it is a ${value.constructor.name}${hint}` });
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function checkConverted(value: { toJSON(): unknown }, what: string, at: string, above: object[]): void {
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    throw new UnserializableError({ what, at, problem: "it is an invalid Date" });
  }
  let converted: unknown;
  try {
    converted = value.toJSON();
  } catch (cause) {
    throw new UnserializableError({ what, at, problem: `its toJSON failed: ${wordsOf(cause)}`, cause });
  }
  if (converted !== value) check(converted, what, at, above);
}

function read(value: object, key: string, what: string, at: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch (cause) {
    throw new UnserializableError({ what, at, problem: `reading it failed: ${wordsOf(cause)}`, cause });
  }
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : typeof thrown;
}
