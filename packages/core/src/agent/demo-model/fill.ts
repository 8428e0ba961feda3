// Fills a JSON Schema with valid, plausible, made-up values; words of the prompt are used where they fit.
import type { JSONValue } from "@ai-sdk/provider";
import { accepts } from "./accept.ts";
import { type Hints, normalizeName } from "./hints.ts";
import { numberCandidates } from "./number.ts";
import { MAXIMUM_DEPTH, readShape, type SchemaScope, type Shape, spendStep, type TypeName } from "./shape.ts";
import { stringCandidates, takesPlace, takesPrompt } from "./string.ts";

/** Enough for some thousand values; a schema that needs more is filled again with required values only. */
const MAXIMUM_STEPS = 20_000;
const MAXIMUM_CHARACTERS = 200_000;
const MAXIMUM_ITEMS = 1_000;
const MAXIMUM_BRANCHES = 50;
/** Optional fields are left out below this depth. */
const OPTIONAL_DEPTH = 6;

export interface FillRequest {
  schema: unknown;
  hints: Hints;
  /** Which optional fields to fill: all of them, or only those that the message gives a value for. */
  optional: "all" | "mentioned";
}

/** One filling of one schema: what is left to spend, and which loose values of the message are taken. */
interface Filling {
  scope: SchemaScope;
  hints: Hints;
  optional: "all" | "mentioned" | "none";
  /** How often a schema may stand inside itself. */
  recursion: number;
  characters: number;
  quotedTaken: number;
  numbersTaken: number;
}

/** Where in the value we are. */
interface Place {
  name: string;
  /** 0 for the first item of a list, 1 for the next: gives different values. */
  variant: number;
  depth: number;
  /** How often each schema stands around this place. */
  around: ReadonlyMap<object, number>;
}

/** A value for the schema; an empty object when none was found, as for a schema that nothing satisfies. */
export function fillSchema({ schema, hints, optional }: FillRequest): JSONValue {
  if (hints.json !== undefined && schemaAccepts(schema, hints.json)) return hints.json;
  const start = { hints, characters: MAXIMUM_CHARACTERS, quotedTaken: 0, numbersTaken: 0 };
  for (const attempt of [
    { optional, recursion: 2 },
    { optional: "none" as const, recursion: 1 },
  ]) {
    const scope: SchemaScope = { root: schema, steps: MAXIMUM_STEPS };
    const place: Place = { name: "", variant: 0, depth: 0, around: new Map() };
    const value = fill(readShape([schema], scope), place, { ...start, ...attempt, scope });
    if (value !== undefined && (scope.steps > 0 || attempt.recursion === 1)) return value;
  }
  return {};
}

export function schemaAccepts(schema: unknown, value: JSONValue): boolean {
  const scope: SchemaScope = { root: schema, steps: MAXIMUM_STEPS };
  return accepts(readShape([schema], scope), value, scope);
}

function fill(shape: Shape, place: Place, filling: Filling): JSONValue | undefined {
  const isRecursing = shape.sources.some((source) => (place.around.get(source) ?? 0) >= filling.recursion);
  if (shape.impossible || isRecursing || place.depth > MAXIMUM_DEPTH || !spendStep(filling.scope))
    return undefined;
  const given = givenValues(shape, place, filling).find((value) => accepts(shape, value, filling.scope));
  if (given !== undefined || shape.values !== undefined) return given;
  if (shape.alternatives.length > 0) return fillAlternative(shape, place, filling);
  for (const type of likelyTypes(shape)) {
    const value = fillType(type, shape, place, filling);
    if (value === undefined) continue;
    if (shape.excluded.length === 0 || accepts(shape, value, filling.scope)) return value;
  }
  return undefined;
}

/** Values that need not be made up: named in the message, listed by the schema, its default. */
function givenValues(shape: Shape, place: Place, filling: Filling): JSONValue[] {
  const { hints } = filling;
  const named = place.variant === 0 ? hints.named.get(normalizeName(place.name)) : undefined;
  const spoken = named === undefined ? [] : typeof named === "string" ? readSpoken(named) : [named];
  const values = shape.values ?? [];
  const mentioned = values.filter((value) => isMentioned(value, hints)).slice(0, place.variant === 0 ? 1 : 0);
  const turn = values.length === 0 ? 0 : place.variant % values.length;
  const listed = [...values.slice(turn), ...values.slice(0, turn)];
  const notNull = listed.filter((value) => value !== null);
  const suggested = place.variant < 1 ? shape.suggestions : [];
  return [...spoken, ...mentioned, ...suggested, ...notNull, ...listed];
}

/** A value from the message is text, unless the schema wants the number, the truth value or the null that it spells. */
function readSpoken(text: string): JSONValue[] {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  const words: Record<string, JSONValue> = { true: true, yes: true, false: false, no: false, null: null };
  const word = words[text.toLowerCase()];
  return [text, ...(Number.isFinite(number) ? [number] : []), ...(word === undefined ? [] : [word])];
}

function isMentioned(value: JSONValue, hints: Hints): boolean {
  if (typeof value !== "string" || value === "") return false;
  const position = hints.lowerMessage.indexOf(value.toLowerCase());
  const around = `${hints.lowerMessage[position - 1] ?? " "}${hints.lowerMessage[position + value.length] ?? " "}`;
  return position >= 0 && !/\w/.test(around);
}

/** The first branch whose value the whole shape accepts; null only when no other branch will do. */
function fillAlternative(shape: Shape, place: Place, filling: Filling): JSONValue | undefined {
  const [alternative, ...alternatives] = shape.alternatives;
  const branches = alternative?.branches.slice(0, MAXIMUM_BRANCHES) ?? [];
  let isNullAccepted = false;
  let fallback: JSONValue | undefined;
  for (const branch of branches) {
    const others = branches.filter((other) => other !== branch);
    const wishes = alternative?.exactlyOne ? [[branch, { not: { anyOf: others } }], [branch]] : [[branch]];
    for (const schemas of wishes) {
      const value = fill(readShape(schemas, filling.scope, { ...shape, alternatives }), place, filling);
      if (value === undefined) continue;
      const isAccepted = accepts(shape, value, filling.scope);
      if (isAccepted && value !== null) return value;
      isNullAccepted ||= isAccepted;
      fallback ??= value;
    }
  }
  return isNullAccepted ? null : fallback;
}

function likelyTypes(shape: Shape): TypeName[] {
  if (shape.types !== undefined)
    return [...shape.types].sort((one, other) => Number(one === "null") - Number(other === "null"));
  if (shape.properties.size + shape.required.size + shape.minProperties > 0) return ["object"];
  if (shape.prefixItems.length + shape.items.length + shape.minItems > 0) return ["array"];
  if (Number.isFinite(Math.max(shape.minimum, shape.exclusiveMinimum)) || shape.multiples.length > 0)
    return ["number"];
  if (Number.isFinite(Math.min(shape.maximum, shape.exclusiveMaximum))) return ["number"];
  return shape.additionalProperties.length > 0
    ? ["object"]
    : ["string", "number", "boolean", "object", "array", "null"];
}

function fillType(type: TypeName, shape: Shape, place: Place, filling: Filling): JSONValue | undefined {
  if (type === "object") return fillProperties(shape, place, filling);
  if (type === "array") return fillItems(shape, place, filling);
  if (type === "string") return fillString(shape, place, filling);
  if (type === "number" || type === "integer") return fillNumber(shape, place, filling, type === "integer");
  const candidates = type === "null" ? [null] : place.variant % 2 === 0 ? [true, false] : [false, true];
  return candidates.find((value) => accepts(shape, value, filling.scope));
}

function fillString(shape: Shape, place: Place, filling: Filling): string | undefined {
  const { hints } = filling;
  const isAccepted = (value: string) => accepts(shape, value, filling.scope);
  const quoted = hints.quoted[filling.quotedTaken];
  if (hints.place !== undefined && takesPlace(place.name) && quoted === undefined && isAccepted(hints.place))
    return hints.place;
  if (quoted !== undefined && (filling.optional !== "all" || takesPrompt(place.name)) && isAccepted(quoted)) {
    filling.quotedTaken += 1;
    return quoted;
  }
  const candidates = stringCandidates(shape, place.name, place.variant, hints);
  const value = candidates.find(isAccepted);
  filling.characters -= value?.length ?? 0;
  return filling.characters < 0 ? undefined : value;
}

function fillNumber(shape: Shape, place: Place, filling: Filling, isInteger: boolean): number | undefined {
  const isAccepted = (value: number) =>
    (!isInteger || Number.isSafeInteger(value)) && accepts(shape, value, filling.scope);
  const loose = filling.optional === "all" ? undefined : filling.hints.numbers[filling.numbersTaken];
  if (loose !== undefined && isAccepted(loose)) {
    filling.numbersTaken += 1;
    return loose;
  }
  return numberCandidates(shape, place.name, place.variant, isInteger).find(isAccepted);
}

function fillItems(shape: Shape, place: Place, filling: Filling): JSONValue[] | undefined {
  const usual = filling.optional === "none" ? 0 : Math.max(shape.prefixItems.length, 2);
  const wanted = Math.min(Math.max(shape.minItems, usual), shape.maxItems, MAXIMUM_ITEMS);
  const depth = place.depth + 1;
  const around = surround(shape, place);
  const values: JSONValue[] = [];
  const seen = new Set<string>();
  for (let variant = 0; values.length < wanted && variant < wanted * 2; variant += 1) {
    const itemShape = readShape(shape.prefixItems[values.length] ?? shape.items, filling.scope);
    const value = fill(itemShape, { name: singular(place.name), variant, depth, around }, filling);
    if (value === undefined) break;
    const text = shape.uniqueItems ? JSON.stringify(value) : "";
    if (shape.uniqueItems && seen.has(text)) continue;
    seen.add(text);
    values.push(value);
  }
  return values.length < Math.min(shape.minItems, MAXIMUM_ITEMS) ? undefined : values;
}

function fillProperties(shape: Shape, place: Place, filling: Filling): JSONValue | undefined {
  const inside: Place = { ...place, depth: place.depth + 1, around: surround(shape, place) };
  const entries = new Map<string, JSONValue>();
  const required = [...shape.required];
  const optional = [...shape.properties.keys()].filter(
    (name) => !shape.required.has(name) && isWanted(name, place, filling),
  );
  for (const name of [...shape.properties.keys(), ...required]) {
    const isRequired = shape.required.has(name);
    if (entries.has(name) || (!isRequired && !optional.includes(name))) continue;
    if (
      !isRequired &&
      entries.size + required.filter((other) => !entries.has(other)).length >= shape.maxProperties
    )
      continue;
    const schemas = shape.properties.get(name) ?? shape.additionalProperties;
    const value = fill(readShape(schemas, filling.scope), { ...inside, name }, filling);
    if (value !== undefined) entries.set(name, value);
    else if (isRequired) return undefined;
  }
  addEntries(entries, shape, inside, filling);
  return entries.size < Math.min(shape.minProperties, MAXIMUM_ITEMS)
    ? undefined
    : Object.fromEntries(entries);
}

function isWanted(name: string, place: Place, filling: Filling): boolean {
  if (filling.optional === "all") return place.depth < OPTIONAL_DEPTH;
  return filling.optional === "mentioned" && filling.hints.named.has(normalizeName(name));
}

/** Entries under free names: one for a record, more where the schema asks for a minimum. */
function addEntries(entries: Map<string, JSONValue>, shape: Shape, inside: Place, filling: Filling): void {
  const isRecord = shape.properties.size + shape.required.size === 0 && shape.additionalProperties.length > 0;
  const usual = isRecord && filling.optional === "all" ? 1 : 0;
  const wanted = Math.min(Math.max(shape.minProperties, usual), shape.maxProperties, MAXIMUM_ITEMS);
  for (let variant = 0; entries.size < wanted && variant < wanted * 2; variant += 1) {
    const names = readShape([{ type: "string" }, ...shape.propertyNames], filling.scope);
    const name = fill(names, { ...inside, name: "key", variant }, filling);
    if (typeof name !== "string" || entries.has(name)) continue;
    const schemas = shape.properties.get(name) ?? shape.additionalProperties;
    const value = fill(readShape(schemas, filling.scope), { ...inside, name, variant }, filling);
    if (value === undefined) return;
    entries.set(name, value);
  }
}

/** Copied once for all the children of a place. */
function surround(shape: Shape, place: Place): ReadonlyMap<object, number> {
  const around = new Map(place.around);
  for (const source of new Set(shape.sources)) around.set(source, (around.get(source) ?? 0) + 1);
  return around;
}

function singular(name: string): string {
  return name.length > 2 && name.endsWith("s") ? name.slice(0, -1) : name;
}
