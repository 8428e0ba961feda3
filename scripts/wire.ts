// Writes the client's types of responses from the server's schemas: `npm run wire`, after a change in `schemas/`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { routes } from "../packages/server/src/routes/index.ts";
import { components } from "../packages/server/src/schemas/components.ts";
import { errorCodes } from "./error-codes.ts";

const root = path.dirname(import.meta.dirname);
/** The generated file. */
export const wireFile = path.join(root, "packages/client/src/responses/wire.ts");

/** Components whose schema says less than the type that the client gives them, or nothing. */
const typedByHand = new Set(["ExecutionEvent", "ExecutionEvents", "StreamPart", "ObjectPart", "ObjectReply"]);

type Schema = z.core.JSONSchema.BaseSchema;

/** The source text of the generated file: a type for each named schema in a response of the route table, and the codes of errors. */
export async function wireTypes(): Promise<string> {
  const { schemas } = z.toJSONSchema(components(), { uri: (id) => id, io: "output", unrepresentable: "any" });
  const types = new Map<string, string>();
  const add = (id: string): string => {
    const schema = schemas[id];
    if (schema === undefined) throw new TypeError(`no schema ${id}`);
    // Before its fields are visited: a schema may refer to itself.
    if (!types.has(id) && !typedByHand.has(id) && schema.type !== "array") {
      types.set(id, "");
      types.set(id, declaration(id, schema, baseOf(schema, schemas), add));
    }
    return schema.type === "array" ? typeOf(schema, add) : id;
  };
  for (const { response } of routes) {
    if (response.kind === "other") continue;
    const payload = response.kind === "json" ? response.data : response.event;
    for (const shape of [payload, response.acceptedData]) {
      const id = shape && components().get(shape())?.id;
      if (id !== undefined) add(id);
    }
  }
  const codes = [...new Set((await errorCodes()).map(([code]) => JSON.stringify(code)))].sort();
  types.set(
    "ErrorCode",
    `/** The codes of a server's errors. A later release may have others. */\nexport type ErrorCode = ${codes.join(" | ")};`,
  );
  const sorted = [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return formatted(
    ["// Generated from the server's schemas by `npm run wire`; do not edit.", ...sorted].join("\n\n"),
  );
}

function declaration(
  id: string,
  schema: Schema,
  base: readonly [id: string, Schema] | undefined,
  add: (id: string) => string,
): string {
  if (schema.properties === undefined) return `${comment(schema)}export type ${id} = ${typeOf(schema, add)};`;
  const inherited = Object.keys(base?.[1].properties ?? {});
  const own = Object.entries(schema.properties).filter(([name]) => !inherited.includes(name));
  const fields = objectType({ ...schema, properties: Object.fromEntries(own) }, add);
  return `${comment(schema)}export interface ${id} ${base ? `extends ${add(base[0])} ` : ""}${fields}`;
}

/** The largest named schema with some of the same fields and no others: a detail has the fields of its summary. */
function baseOf(schema: Schema, named: Readonly<Record<string, Schema>>) {
  const sizeOf = ({ properties = {} }: Schema) => Object.keys(properties).length;
  const isBase = (each: Schema) => {
    const fields = Object.entries(each.properties ?? {});
    const isSame = ([name, field]: (typeof fields)[number]) =>
      JSON.stringify(field) === JSON.stringify(schema.properties?.[name]) &&
      each.required?.includes(name) === schema.required?.includes(name);
    return fields.length > 2 && fields.length < sizeOf(schema) && fields.every(isSame);
  };
  const bases = Object.entries(named).filter(([, each]) => isBase(each));
  return bases.sort(([, one], [, other]) => sizeOf(other) - sizeOf(one))[0];
}

function typeOf(schema: Schema, add: (id: string) => string): string {
  const { $ref, anyOf, oneOf, enum: values } = schema;
  if ($ref !== undefined) return add($ref);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map((each) => typeOf(asSchema(each), add)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  return [schema.type]
    .flat()
    .map((type) => namedType(type, schema, add))
    .join(" | ");
}

function namedType(type: Schema["type"], schema: Schema, add: (id: string) => string): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(asSchema(schema.items), add)})[]`;
    case "object":
      return objectType(schema, add);
    default:
      return "unknown";
  }
}

function objectType(
  { properties, required = [], additionalProperties }: Schema,
  add: (id: string) => string,
) {
  if (properties === undefined) return "Readonly<Record<string, unknown>>";
  const fields = Object.entries(properties).map(([name, field]) => {
    const schema = asSchema(field);
    const type = typeOf(schema, add);
    const [mark, orNone] = required.includes(name)
      ? ["", ""]
      : ["?", type === "unknown" ? "" : " | undefined"];
    return `${comment(schema)}readonly ${name}${mark}: ${type}${orNone};`;
  });
  if (typeof additionalProperties === "object") fields.push("readonly [field: string]: unknown;");
  // A line break after the brace makes the formatter put each field on a line of its own.
  return `{${fields.some((field) => field.startsWith("/**")) ? "\n" : " "}${fields.join("\n")}}`;
}

function comment({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description}. */\n`;
}

/** `true` and a list of schemas are JSON Schema too, but no Zod schema of the server becomes one. */
function asSchema(value: Schema["items"]): Schema {
  if (typeof value !== "object" || Array.isArray(value)) throw new TypeError(`not a schema: ${value}`);
  return value;
}

function formatted(source: string): string {
  const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "format", "--stdin-file-path", wireFile];
  return execFileSync(process.execPath, args, { cwd: root, input: source, encoding: "utf8" });
}

if (import.meta.main) writeFileSync(wireFile, await wireTypes());
