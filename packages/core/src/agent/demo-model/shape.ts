// Reads JSON Schema into one flat shape: references followed, allOf merged, every keyword checked for its type.
import type { JSONValue } from "@ai-sdk/provider";

/** Deeper references, merges or values than this are not followed. */
export const MAXIMUM_DEPTH = 32;
/** Longer lists in a schema (enum, properties, required) are read up to this entry. */
const MAXIMUM_ENTRIES = 1_000;
const MAXIMUM_SUGGESTIONS = 10;

export const typeNames = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
export type TypeName = (typeof typeNames)[number];

/** The schema that references point into, and the steps that may still be spent on it. */
export interface SchemaScope {
  root: unknown;
  steps: number;
}

export interface Alternative {
  /** True for oneOf, false for anyOf. */
  exactlyOne: boolean;
  branches: readonly unknown[];
}

/** Everything that one or more schemas ask of a value. A list of schemas means that all of them hold. */
export interface Shape {
  /** The schema objects that were read, to notice recursion. */
  sources: readonly object[];
  impossible: boolean;
  types: readonly TypeName[] | undefined;
  /** The values of enum or const. */
  values: readonly JSONValue[] | undefined;
  /** Default and examples. */
  suggestions: readonly JSONValue[];
  minimum: number;
  maximum: number;
  exclusiveMinimum: number;
  exclusiveMaximum: number;
  multiples: readonly number[];
  minLength: number;
  maxLength: number;
  patterns: readonly string[];
  format: string | undefined;
  prefixItems: readonly (readonly unknown[])[];
  items: readonly unknown[];
  minItems: number;
  maxItems: number;
  uniqueItems: boolean;
  properties: ReadonlyMap<string, readonly unknown[]>;
  required: ReadonlySet<string>;
  additionalProperties: readonly unknown[];
  propertyNames: readonly unknown[];
  minProperties: number;
  maxProperties: number;
  excluded: readonly unknown[];
  alternatives: readonly Alternative[];
}

type SchemaObject = Record<string, unknown>;

const anything: Shape = {
  sources: [],
  impossible: false,
  types: undefined,
  values: undefined,
  suggestions: [],
  minimum: Number.NEGATIVE_INFINITY,
  maximum: Number.POSITIVE_INFINITY,
  exclusiveMinimum: Number.NEGATIVE_INFINITY,
  exclusiveMaximum: Number.POSITIVE_INFINITY,
  multiples: [],
  minLength: 0,
  maxLength: Number.POSITIVE_INFINITY,
  patterns: [],
  format: undefined,
  prefixItems: [],
  items: [],
  minItems: 0,
  maxItems: Number.POSITIVE_INFINITY,
  uniqueItems: false,
  properties: new Map(),
  required: new Set(),
  additionalProperties: [],
  propertyNames: [],
  minProperties: 0,
  maxProperties: Number.POSITIVE_INFINITY,
  excluded: [],
  alternatives: [],
};

/** Takes one step; false when none is left, which bounds the work that any schema can cause. */
export function spendStep(scope: SchemaScope): boolean {
  scope.steps -= 1;
  return scope.steps >= 0;
}

/** The shape of a value for which all the schemas hold, and `start` too. */
export function readShape(schemas: readonly unknown[], scope: SchemaScope, start: Shape = anything): Shape {
  return schemas.reduce<Shape>((shape, schema) => addSchema(shape, schema, scope, 0), start);
}

function addSchema(start: Shape, schema: unknown, scope: SchemaScope, depth: number): Shape {
  if (schema === false) return { ...start, impossible: true };
  if (!isSchemaObject(schema) || depth > MAXIMUM_DEPTH || !spendStep(scope)) return start;
  spendEntries(start, schema, scope);
  const parts = [...list(schema, "allOf")];
  if (typeof schema.$ref === "string") parts.unshift(followReference(schema.$ref, scope.root));
  let shape: Shape = { ...start, sources: [...start.sources, schema] };
  for (const part of parts) shape = addSchema(shape, part, scope, depth + 1);
  return {
    ...shape,
    ...readValues(shape, schema),
    ...readNumbers(shape, schema),
    ...readStrings(shape, schema),
    ...readItems(shape, schema),
    ...readProperties(shape, schema),
    excluded: "not" in schema ? [...shape.excluded, schema.not] : shape.excluded,
    alternatives: [...shape.alternatives, ...readAlternatives(schema)],
  };
}

/** Copying long lists costs steps too: one for fifty entries. */
function spendEntries(shape: Shape, schema: SchemaObject, scope: SchemaScope): void {
  const properties = isSchemaObject(schema.properties) ? Object.keys(schema.properties).length : 0;
  const read = properties + list(schema, "enum").length + list(schema, "required").length;
  const copied =
    shape.sources.length + shape.properties.size + shape.required.size + shape.alternatives.length;
  scope.steps -= Math.floor((read + copied) / 50);
}

function readValues(shape: Shape, schema: SchemaObject): Partial<Shape> {
  const found = [schema.type].flat().flatMap((name) => typeNames.filter((known) => known === name));
  const types = found.length === 0 ? undefined : found;
  const values = "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined;
  const read = values?.slice(0, MAXIMUM_ENTRIES).flatMap((value) => readJson(value));
  const known = read === undefined ? undefined : new Set(read.map((value) => JSON.stringify(value)));
  const kept = shape.values?.filter((value) => known?.has(JSON.stringify(value)) ?? true);
  return {
    types:
      shape.types === undefined || types === undefined
        ? (shape.types ?? types)
        : commonTypes(shape.types, types),
    values: kept ?? read,
    suggestions: [
      ...readJson(schema.default),
      ...list(schema, "examples").flatMap((value) => readJson(value)),
      ...shape.suggestions,
    ].slice(0, MAXIMUM_SUGGESTIONS),
  };
}

/** An integer is a number: `integer` and `number` together mean `integer`. */
function commonTypes(some: readonly TypeName[], others: readonly TypeName[]): TypeName[] {
  const allows = (types: readonly TypeName[], type: TypeName) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  return typeNames.filter(
    (type) => allows(some, type) && allows(others, type) && (some.includes(type) || others.includes(type)),
  );
}

function readNumbers(shape: Shape, schema: SchemaObject): Partial<Shape> {
  const minimum = number(schema, "minimum") ?? Number.NEGATIVE_INFINITY;
  const maximum = number(schema, "maximum") ?? Number.POSITIVE_INFINITY;
  // In draft 4, "exclusive" was a flag beside the limit.
  const above = schema.exclusiveMinimum === true ? minimum : number(schema, "exclusiveMinimum");
  const below = schema.exclusiveMaximum === true ? maximum : number(schema, "exclusiveMaximum");
  const multiple = number(schema, "multipleOf");
  return {
    minimum: Math.max(shape.minimum, minimum),
    maximum: Math.min(shape.maximum, maximum),
    exclusiveMinimum: Math.max(shape.exclusiveMinimum, above ?? Number.NEGATIVE_INFINITY),
    exclusiveMaximum: Math.min(shape.exclusiveMaximum, below ?? Number.POSITIVE_INFINITY),
    multiples: multiple !== undefined && multiple > 0 ? [...shape.multiples, multiple] : shape.multiples,
  };
}

function readStrings(shape: Shape, schema: SchemaObject): Partial<Shape> {
  return {
    minLength: Math.max(shape.minLength, number(schema, "minLength") ?? 0),
    maxLength: Math.min(shape.maxLength, number(schema, "maxLength") ?? Number.POSITIVE_INFINITY),
    patterns: typeof schema.pattern === "string" ? [...shape.patterns, schema.pattern] : shape.patterns,
    format: typeof schema.format === "string" ? schema.format : shape.format,
  };
}

function readItems(shape: Shape, schema: SchemaObject): Partial<Shape> {
  // Draft 7 writes a tuple as a list in "items", with "additionalItems" for the rest; 2020-12 uses "prefixItems".
  const tuple = Array.isArray(schema.items) ? schema.items : list(schema, "prefixItems");
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const length = Math.max(shape.prefixItems.length, tuple.length);
  return {
    prefixItems: Array.from({ length }, (_, index) => [
      ...(shape.prefixItems[index] ?? []),
      ...(index < tuple.length ? [tuple[index]] : []),
    ]),
    items: rest === undefined ? shape.items : [...shape.items, rest],
    minItems: Math.max(shape.minItems, number(schema, "minItems") ?? 0),
    maxItems: Math.min(shape.maxItems, number(schema, "maxItems") ?? Number.POSITIVE_INFINITY),
    uniqueItems: shape.uniqueItems || schema.uniqueItems === true,
  };
}

function readProperties(shape: Shape, schema: SchemaObject): Partial<Shape> {
  const properties = new Map(shape.properties);
  const own = isSchemaObject(schema.properties) ? Object.entries(schema.properties) : [];
  for (const [name, property] of own.slice(0, MAXIMUM_ENTRIES))
    properties.set(name, [...(properties.get(name) ?? []), property]);
  const required = list(schema, "required").slice(0, MAXIMUM_ENTRIES);
  const { additionalProperties: additional, propertyNames: names } = schema;
  return {
    properties,
    required: new Set([...shape.required, ...required.filter((name) => typeof name === "string")]),
    additionalProperties:
      additional === undefined ? shape.additionalProperties : [...shape.additionalProperties, additional],
    propertyNames: names === undefined ? shape.propertyNames : [...shape.propertyNames, names],
    minProperties: Math.max(shape.minProperties, number(schema, "minProperties") ?? 0),
    maxProperties: Math.min(shape.maxProperties, number(schema, "maxProperties") ?? Number.POSITIVE_INFINITY),
  };
}

function readAlternatives(schema: SchemaObject): Alternative[] {
  return [
    { exactlyOne: false, branches: list(schema, "anyOf") },
    { exactlyOne: true, branches: list(schema, "oneOf") },
  ].filter((alternative) => alternative.branches.length > 0);
}

/** What `#/definitions/name` points at; a reference that leads nowhere allows anything. */
function followReference(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return true;
  let target = root;
  for (const token of reference.slice(1).split("/").slice(1)) {
    const key = decode(token).replaceAll("~1", "/").replaceAll("~0", "~");
    if ((!isSchemaObject(target) && !Array.isArray(target)) || !Object.hasOwn(target, key)) return true;
    target = Reflect.get(target, key);
  }
  return target;
}

function decode(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

function readJson(value: unknown): JSONValue[] {
  return isShallowJson(value) ? [value] : [];
}

/** Whether a value is JSON, and nested no deeper than the demo model looks. */
export function isShallowJson(value: unknown, depth: number = MAXIMUM_DEPTH): value is JSONValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth === 0) return false;
  return Object.values(value).every((entry) => isShallowJson(entry, depth - 1));
}

export function sameJson(one: JSONValue, other: JSONValue): boolean {
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}

function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(schema: SchemaObject, keyword: string): readonly unknown[] {
  const value = schema[keyword];
  return Array.isArray(value) ? value.slice(0, MAXIMUM_ENTRIES) : [];
}

function number(schema: SchemaObject, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
}
