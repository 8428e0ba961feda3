// Checks a JSON Schema that a caller sent: it is one, it is not too large, and it refers to nothing outside itself.
import { InvalidSchemaError, UnserializableError } from "../../errors/index.ts";
import { isRecord } from "../../values/fields.ts";
import { toJson } from "../../values/json.ts";

const maxCharacters = 64 * 1024;
const maxDepth = 32;
const maxPatternLength = 1000;

const types: readonly unknown[] = ["null", "boolean", "object", "array", "number", "string", "integer"];

type Check = (value: unknown) => boolean;
const isString: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number";
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isStrings: Check = (value) => Array.isArray(value) && value.every(isString);
const isType: Check = (value) => types.includes(value);

/** Keywords whose value is not a schema, and the type of the value. */
const plain: Readonly<Record<string, readonly [Check, expected: string]>> = {
  type: [(value) => isType(value) || (isArray(value) && value.every(isType)), "a type or an array of types"],
  enum: [Array.isArray, "an array"],
  required: [isStrings, "an array of strings"],
  title: [isString, "a string"],
  description: [isString, "a string"],
  format: [isString, "a string"],
  $id: [isString, "a string"],
  $anchor: [isString, "a string"],
  $dynamicAnchor: [isString, "a string"],
  $comment: [isString, "a string"],
  $schema: [isString, "a string"],
  uniqueItems: [isFlag, "true or false"],
  minimum: [isNumber, "a number"],
  maximum: [isNumber, "a number"],
  exclusiveMinimum: [isNumber, "a number"],
  exclusiveMaximum: [isNumber, "a number"],
  multipleOf: [(value) => isNumber(value) && Number(value) > 0, "a number above 0"],
  minLength: [isCount, "a whole number"],
  maxLength: [isCount, "a whole number"],
  minItems: [isCount, "a whole number"],
  maxItems: [isCount, "a whole number"],
  minContains: [isCount, "a whole number"],
  maxContains: [isCount, "a whole number"],
  minProperties: [isCount, "a whole number"],
  maxProperties: [isCount, "a whole number"],
  pattern: [isPattern, "a regular expression"],
  $ref: [isLocal, "a reference inside the schema, starting with #"],
  $dynamicRef: [isLocal, "a reference inside the schema, starting with #"],
  dependentRequired: [
    (value) => isRecord(value) && Object.values(value).every(isStrings),
    "an object of string arrays",
  ],
};

/** Keywords that hold a schema, an array of schemas, or schemas by name. */
const oneSchema = [
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "items",
  "additionalItems",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
];
const schemaList = ["allOf", "anyOf", "oneOf", "prefixItems"];
const namedSchemas = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** The schema as JSON text; throws when it is not an object, not JSON, or too large. Its keywords are not looked at. */
export function schemaText(schema: unknown): string {
  if (!isRecord(schema)) throw new InvalidSchemaError({ detail: "expected a JSON Schema object" });
  if (isTooLarge(schema)) throw new InvalidSchemaError({ detail: `larger than ${maxCharacters} characters` });
  try {
    return toJson(schema, "schema") ?? "{}";
  } catch (error) {
    if (error instanceof UnserializableError) throw new InvalidSchemaError({ detail: error.message });
    throw error;
  }
}

/** Before the walk that finds values that JSON cannot hold: with 4 MiB that took 880 ms, and this takes 77. */
function isTooLarge(schema: object): boolean {
  try {
    return JSON.stringify(schema).length > maxCharacters;
  } catch {
    return false;
  }
}

/**
 * Where and why it is not a schema that we evaluate; undefined when it is one. Not for the main thread: a regular
 * expression of a thousand characters can take 46 ms to read, and a schema may hold sixty of them.
 */
export function problemOfSchema(schema: unknown): string | undefined {
  return problemOfNode(schema, "schema", 0);
}

function problemOfNode(schema: unknown, at: string, depth: number): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) return problem(at, "expected a schema");
  if (depth > maxDepth) return problem(at, `nested deeper than ${maxDepth} levels`);
  for (const [keyword, value] of Object.entries(schema)) {
    const found = problemOfKeyword(keyword, value, `${at}.${keyword}`, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOfKeyword(keyword: string, value: unknown, at: string, depth: number): string | undefined {
  const known = Object.hasOwn(plain, keyword) ? plain[keyword] : undefined;
  if (known !== undefined) return known[0](value) ? undefined : problem(at, `expected ${known[1]}`);
  if (oneSchema.includes(keyword)) return problemOfNode(value, at, depth + 1);
  if (schemaList.includes(keyword)) {
    if (!isArray(value) || value.length === 0) return problem(at, "expected an array of schemas");
    return firstProblem(Object.entries(value), at, depth);
  }
  if (!namedSchemas.includes(keyword)) return undefined;
  if (!isRecord(value)) return problem(at, "expected an object of schemas");
  if (keyword === "patternProperties" && !Object.keys(value).every(isPattern)) {
    return problem(at, "expected regular expressions");
  }
  return firstProblem(Object.entries(value), at, depth);
}

function firstProblem(
  schemas: readonly (readonly [string, unknown])[],
  at: string,
  depth: number,
): string | undefined {
  for (const [name, each] of schemas) {
    const found = problemOfNode(each, `${at}.${name}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string" || value.length > maxPatternLength) return false;
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

function isLocal(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("#");
}

function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function problem(at: string, what: string): string {
  return `${at.slice(0, 200)}: ${what}`;
}
