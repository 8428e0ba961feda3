// Tells whether a value is valid for a shape, with bounded work: a value is used only when it is accepted here.
import type { JSONValue } from "@ai-sdk/provider";
import { hasFormat } from "./format.ts";
import { matchesPattern } from "./pattern.ts";
import {
  type Alternative,
  MAXIMUM_DEPTH,
  readShape,
  type SchemaScope,
  type Shape,
  sameJson,
  spendStep,
  type TypeName,
} from "./shape.ts";

type JsonRecord = Readonly<Record<string, JSONValue | undefined>>;

/** Out of steps, a value counts as accepted: the schema is then too large to be sure. */
export function accepts(shape: Shape, value: JSONValue, scope: SchemaScope, depth = 0): boolean {
  if (shape.impossible || depth > MAXIMUM_DEPTH) return false;
  if (!spendStep(scope)) return true;
  return (
    (shape.types === undefined || shape.types.some((type) => hasType(value, type))) &&
    (shape.values === undefined || shape.values.some((allowed) => sameJson(allowed, value))) &&
    acceptsContent(shape, value, scope, depth) &&
    shape.alternatives.every((alternative) => acceptsAlternative(alternative, value, scope, depth)) &&
    !shape.excluded.some((schema) => accepts(readShape([schema], scope), value, scope, depth + 1))
  );
}

function hasType(value: JSONValue, type: TypeName): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "object") return isJsonRecord(value);
  return typeof value === type;
}

function acceptsContent(shape: Shape, value: JSONValue, scope: SchemaScope, depth: number): boolean {
  if (typeof value === "number") return acceptsNumber(shape, value);
  if (typeof value === "string") return acceptsString(shape, value);
  if (Array.isArray(value)) return acceptsItems(shape, value, scope, depth);
  return isJsonRecord(value) ? acceptsProperties(shape, value, scope, depth) : true;
}

function acceptsNumber(shape: Shape, value: number): boolean {
  return (
    Number.isFinite(value) &&
    value >= shape.minimum &&
    value <= shape.maximum &&
    value > shape.exclusiveMinimum &&
    value < shape.exclusiveMaximum &&
    shape.multiples.every((multiple) => isMultiple(value, multiple))
  );
}

/** Decimal multiples are never exact in binary (0.15 / 0.05), so a small part of the quotient may be off. */
export function isMultiple(value: number, multiple: number): boolean {
  const quotient = value / multiple;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient) * 1e-3);
}

/** JSON Schema counts characters, most validators count UTF-16 units: both must fit. */
function acceptsString(shape: Shape, value: string): boolean {
  if (value.length > shape.maxLength || value.length < shape.minLength) return false;
  if (shape.minLength > 0 && [...value].length < shape.minLength) return false;
  if (shape.format !== undefined && !hasFormat(shape.format, value)) return false;
  return shape.patterns.every((pattern) => matchesPattern(pattern, value) !== false);
}

function acceptsItems(
  shape: Shape,
  values: readonly JSONValue[],
  scope: SchemaScope,
  depth: number,
): boolean {
  if (values.length < shape.minItems || values.length > shape.maxItems) return false;
  if (shape.uniqueItems && new Set(values.map((value) => JSON.stringify(value))).size < values.length)
    return false;
  return values.every((value, index) =>
    accepts(readShape(shape.prefixItems[index] ?? shape.items, scope), value, scope, depth + 1),
  );
}

function acceptsProperties(shape: Shape, value: JsonRecord, scope: SchemaScope, depth: number): boolean {
  const entries = Object.entries(value);
  if (entries.length < shape.minProperties || entries.length > shape.maxProperties) return false;
  if ([...shape.required].some((name) => !Object.hasOwn(value, name))) return false;
  const names = readShape(shape.propertyNames, scope);
  return entries.every(([name, entry]) => {
    if (entry === undefined || !accepts(names, name, scope, depth + 1)) return false;
    const schemas = shape.properties.get(name) ?? shape.additionalProperties;
    return accepts(readShape(schemas, scope), entry, scope, depth + 1);
  });
}

function acceptsAlternative(
  alternative: Alternative,
  value: JSONValue,
  scope: SchemaScope,
  depth: number,
): boolean {
  const fits = (branch: unknown) => accepts(readShape([branch], scope), value, scope, depth + 1);
  return alternative.exactlyOne
    ? alternative.branches.filter(fits).length === 1
    : alternative.branches.some(fits);
}

function isJsonRecord(value: JSONValue): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
