// Checks a JSON Schema that a caller sent: it is one, it is not too large, and it refers to nothing outside itself.
import { InvalidSchemaError, UnserializableError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";
import type { JsonSchema } from "../../values/schema.ts";

const maxCharacters = 64 * 1024;
const maxDepth = 32;
const maxPatternLength = 1000;

const types = ["null", "boolean", "object", "array", "number", "string", "integer"];

type Check = (value: unknown) => boolean;
const isString: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number";
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isStrings: Check = (value) => Array.isArray(value) && value.every(isString);
const isType: Check = (value) => typeof value === "string" && types.includes(value);

/** Keywords whose value is not a schema, and what the value must be. */
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

/** The schema; throws an error that says where it is not one. */
export function checkJsonSchema(schema: unknown): JsonSchema {
  if (!isRecord(schema)) throw new InvalidSchemaError({ detail: "expected a JSON Schema object" });
  let text: string | undefined;
  try {
    text = toJson(schema, "schema");
  } catch (error) {
    if (error instanceof UnserializableError) throw new InvalidSchemaError({ detail: error.message });
    throw error;
  }
  if (text !== undefined && text.length > maxCharacters) {
    throw new InvalidSchemaError({ detail: `larger than ${maxCharacters} characters` });
  }
  checkNode(schema, "schema", 0);
  return { ...schema };
}

function checkNode(schema: unknown, at: string, depth: number): void {
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) refuse(at, "expected a schema");
  if (depth > maxDepth) refuse(at, `nested deeper than ${maxDepth} levels`);
  for (const [keyword, value] of Object.entries(schema)) {
    const inside = `${at}.${keyword}`;
    const known = Object.hasOwn(plain, keyword) ? plain[keyword] : undefined;
    if (known !== undefined && !known[0](value)) refuse(inside, `expected ${known[1]}`);
    if (oneSchema.includes(keyword)) checkNode(value, inside, depth + 1);
    else if (schemaList.includes(keyword)) checkList(value, inside, depth);
    else if (namedSchemas.includes(keyword)) checkNamed(value, keyword, inside, depth);
  }
}

function checkList(value: unknown, at: string, depth: number): void {
  if (!Array.isArray(value) || value.length === 0) refuse(at, "expected an array of schemas");
  for (const [index, each] of value.entries()) checkNode(each, `${at}.${index}`, depth + 1);
}

function checkNamed(value: unknown, keyword: string, at: string, depth: number): void {
  if (!isRecord(value)) refuse(at, "expected an object of schemas");
  for (const [name, each] of Object.entries(value)) {
    if (keyword === "patternProperties" && !isPattern(name)) refuse(at, "expected regular expressions");
    checkNode(each, `${at}.${name}`, depth + 1);
  }
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(at: string, problem: string): never {
  throw new InvalidSchemaError({ detail: `${at.slice(0, 200)}: ${problem}` });
}
