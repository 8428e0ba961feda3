// Splits the server's error message about a value, and assigns each part to its field.
import type { JsonSchema } from "@andante/client";
import { asSchema } from "./as-schema.ts";

/** Errors in the structure of the form library: nested by field name, then the messages. */
export interface FieldErrors {
  readonly [name: string]: FieldErrors | { readonly __errors: string[] } | string[];
}

const intro = /^(?:Input|Resume data) validation failed: /;

/** `rest` are the messages without a field. */
export function errorsByField(
  error: unknown,
  schema: JsonSchema | undefined,
): { readonly fields: FieldErrors; readonly rest: string | undefined } {
  if (error === undefined) return { fields: {}, rest: undefined };
  const message = error instanceof Error ? error.message : String(error);
  if (schema === undefined || !intro.test(message)) return { fields: {}, rest: message };
  const fields: Record<string, FieldErrors> = {};
  const rest: string[] = [];
  for (const sentence of message.replace(intro, "").split("; ")) {
    const path = /^([^\s:]+): /.exec(sentence)?.[1];
    if (path === undefined || !isField(schema, path)) rest.push(sentence);
    else put(fields, path.split("."), sentence);
  }
  return { fields, rest: rest.length > 0 ? rest.join("; ") : undefined };
}

function isField(schema: JsonSchema, path: string): boolean {
  const [first = ""] = path.split(/[.[]/);
  return Object.hasOwn(asSchema(schema.properties), first);
}

function put(fields: Record<string, unknown>, path: readonly string[], message: string): void {
  const [name = "", ...below] = path;
  const inside: Record<string, unknown> = { ...asSchema(fields[name]) };
  const { __errors: known } = inside;
  if (below.length > 0) put(inside, below, message);
  else inside.__errors = [...(Array.isArray(known) ? known : []), message];
  fields[name] = inside;
}
