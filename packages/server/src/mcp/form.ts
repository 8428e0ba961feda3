// A form for resume data: clients show the fields of a flat object, and ask for any other data as JSON.
import { BadRequestError } from "../errors/request-errors.ts";
import { isObject } from "../is-object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The field of a form for data that no form can show. */
export const jsonField = "resumeData";
/** Characters of a schema or of data in a text for people. */
const maxText = 2000;

const ofString = ["title", "description", "default", "minLength", "maxLength", "enum", "enumNames"];
const ofNumber = ["title", "description", "default", "minimum", "maximum"];
const keywords: Readonly<Record<string, readonly string[]>> = {
  string: ofString,
  number: ofNumber,
  integer: ofNumber,
  boolean: ["title", "description", "default"],
};
const formats = ["email", "uri", "date", "date-time"];

/** The schema of a form, as the protocol restricts it. */
export function formOf(schema: Fields | undefined): Fields {
  return flatFormOf(schema) ?? jsonFormOf(schema);
}

/** The resume data in the content of a form that was filled in. Throws a BadRequestError. */
export function dataOfForm(schema: Fields | undefined, content: Fields): unknown {
  if (flatFormOf(schema) !== undefined) return content;
  const text = content[jsonField];
  if (text === undefined || text === "") return undefined;
  try {
    return JSON.parse(String(text));
  } catch {
    throw new BadRequestError({ problem: `${jsonField}: expected JSON` });
  }
}

/** A text of at most 2000 characters. */
export function short(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}…` : text;
}

/** Undefined where a form cannot show every field. */
function flatFormOf(schema: Fields | undefined): Fields | undefined {
  if (schema?.type !== "object" || !isObject(schema.properties)) return undefined;
  const fields: [string, Fields][] = [];
  for (const [name, property] of Object.entries(schema.properties)) {
    const field = isObject(property) ? fieldOf(property) : undefined;
    if (field === undefined) return undefined;
    fields.push([name, field]);
  }
  const required = Array.isArray(schema.required) ? { required: schema.required } : {};
  return { type: "object", properties: Object.fromEntries(fields), ...required };
}

function fieldOf(property: Fields): Fields | undefined {
  const { type, format } = property;
  const names = typeof type === "string" && Object.hasOwn(keywords, type) ? keywords[type] : undefined;
  if (names === undefined || ["anyOf", "oneOf", "allOf", "not"].some((name) => name in property))
    return undefined;
  const kept = names.flatMap((name) => (name in property ? [[name, property[name]]] : []));
  const known = typeof format === "string" && formats.includes(format) ? { format } : {};
  return { type, ...Object.fromEntries(kept), ...known };
}

function jsonFormOf(schema: Fields | undefined): Fields {
  const description =
    schema === undefined ? "Any JSON, or nothing" : short(`JSON that fits ${JSON.stringify(schema)}`);
  return {
    type: "object",
    properties: { [jsonField]: { type: "string", title: "Resume data", description } },
    ...(schema !== undefined && { required: [jsonField] }),
  };
}
