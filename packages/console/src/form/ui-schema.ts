// Rendering hints that a schema does not contain: long text gets a text area.
import type { JsonSchema } from "@andante/client";
import { asSchema } from "./as-schema.ts";

type Look = Record<string, unknown>;

const longNames =
  /(note|comment|text|body|description|message|reason|prompt|instructions|question|content)$/i;
const deepest = 6;

export function uiSchemaFor(schema: JsonSchema, depth = 0): Look {
  const properties = asSchema(schema.properties);
  if (depth > deepest) return {};
  const looks: Look = {};
  for (const [name, given] of Object.entries(properties)) {
    const field = asSchema(given);
    if (isLongText(name, field)) looks[name] = { "ui:widget": "textarea" };
    else if (field.type === "object") looks[name] = uiSchemaFor(field, depth + 1);
    else if (field.type === "array") looks[name] = { items: uiSchemaFor(asSchema(field.items), depth + 1) };
  }
  return looks;
}

function isLongText(name: string, { type, format, enum: values, maxLength }: JsonSchema): boolean {
  if (type !== "string" || format !== undefined || values !== undefined) return false;
  return longNames.test(name) || (typeof maxLength === "number" && maxLength > 120);
}
