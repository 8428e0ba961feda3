// The form for resume data: its fields from a JSON Schema, and the data from the sent fields. Works without scripts.
import type { JsonSchema } from "@andante/core/internal";
import { BadRequestError } from "../errors/request-errors.ts";
import { isObject } from "../is-object.ts";
import { escapeHtml } from "../openapi/page.ts";
import { parseJson } from "../request/request-body.ts";

type Kind = "text" | "long-text" | "number" | "boolean" | "choice" | "json";

interface Field {
  /** The property of the data; null for data that is no object. */
  readonly property: string | null;
  readonly label: string;
  readonly hint: string;
  readonly kind: Kind;
  /** The values of a `choice`. */
  readonly values: readonly unknown[];
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** The type of the input element. */
  readonly input: string;
}

export type SentFields = Pick<URLSearchParams, "get" | "has">;

/** Choices with more values are lists. */
const maxButtons = 6;
const maxFields = 100;

/** The inputs of the form and its buttons: one for each value of a property that is the only choice. */
export function formOf(schema: JsonSchema | undefined, sent: SentFields): string {
  const fields = fieldsOf(schema);
  const choices = fields.filter(({ kind, isRequired, values }) => {
    const count = kind === "boolean" ? 2 : values.length;
    return (kind === "boolean" || kind === "choice") && isRequired && count <= maxButtons;
  });
  const [choice] = choices.length === 1 ? choices : [];
  const inputs = fields
    .filter((field) => field !== choice)
    .map((field) => inputOf(field, sent.get(nameOf(field))));
  return [
    ...inputs,
    `<p class="buttons">${choice === undefined ? button("", "", "Send") : buttonsOf(choice)}</p>`,
  ].join("\n");
}

/** The data of a sent form. */
export function dataOf(schema: JsonSchema | undefined, sent: SentFields): unknown {
  const fields = fieldsOf(schema);
  const entries: (readonly [string, unknown])[] = [];
  for (const field of fields) {
    const value = dataIn(field, sent.get(nameOf(field)));
    if (field.property === null) return value;
    if (value !== undefined) entries.push([field.property, value]);
  }
  // Own properties, also those with names of the prototype.
  return Object.fromEntries(entries);
}

export function button(name: string, value: string, label: string): string {
  const sends = name === "" ? "" : ` name="${escapeHtml(name)}" value="${escapeHtml(value)}"`;
  return `<button type="submit"${sends}>${escapeHtml(label)}</button>`;
}

function fieldsOf(schema: JsonSchema | undefined): readonly Field[] {
  const properties = propertiesOf(schema);
  if (properties === undefined)
    return [fieldOf(null, schema ?? {}, isObject(schema) && !acceptsAnything(schema))];
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, each]) => fieldOf(name, each, required.includes(name)));
}

/** Undefined for data that is no object, or has further properties or more than the form may show. */
function propertiesOf(schema: JsonSchema | undefined): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties)) return undefined;
  const isOpen =
    isObject(schema.additionalProperties) || Array.isArray(schema.anyOf) || Array.isArray(schema.allOf);
  return isOpen || Object.keys(schema.properties).length > maxFields ? undefined : schema.properties;
}

function acceptsAnything(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(schema).every(
    (name) => name === "$schema" || name === "description" || name === "title",
  );
}

function fieldOf(property: string | null, given: unknown, isRequired: boolean): Field {
  const { schema, isNullable } = withoutNull(given);
  const { kind, values = [], input = "text" } = kindOf(schema);
  const { title, description } = schema;
  const label = typeof title === "string" ? title : (property ?? "Data");
  const hint = typeof description === "string" ? description : "";
  return { property, label, hint, kind, values, isRequired, isNullable, input };
}

function withoutNull(given: unknown) {
  const schema = isObject(given) ? given : {};
  const options: readonly unknown[] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const others = options.filter((option) => !(isObject(option) && option.type === "null"));
  const [only] = others;
  if (others.length === options.length || others.length !== 1 || !isObject(only))
    return { schema, isNullable: false };
  const { anyOf: _, ...outer } = schema;
  return { schema: { ...outer, ...only }, isNullable: true };
}

function kindOf(schema: Readonly<Record<string, unknown>>): {
  readonly kind: Kind;
  readonly values?: readonly unknown[];
  readonly input?: string;
} {
  if (Array.isArray(schema.enum)) return { kind: "choice", values: schema.enum };
  if ("const" in schema) return { kind: "choice", values: [schema.const] };
  switch (schema.type) {
    case "boolean":
      return { kind: "boolean" };
    case "number":
    case "integer":
      return { kind: "number" };
    case "string": {
      const { format, maxLength } = schema;
      if (format === "date") return { kind: "text", input: "date" };
      if (format === "email") return { kind: "text", input: "email" };
      const isShort = format !== undefined || (typeof maxLength === "number" && maxLength <= 80);
      return { kind: isShort ? "text" : "long-text" };
    }
    default:
      return { kind: "json" };
  }
}

/** With a beginning of its own: a property may have the name of any other field. */
function nameOf({ property }: Field): string {
  return property === null ? "value" : `value.${property}`;
}

function inputOf(field: Field, sent: string | null): string {
  const { label, hint, kind, isRequired } = field;
  const name = escapeHtml(nameOf(field));
  const required = isRequired && kind !== "long-text" && kind !== "json" ? " required" : "";
  const text = escapeHtml(sent ?? "");
  const inner = (): string => {
    if (kind === "boolean")
      return select(
        name,
        required,
        [true, false].map((each) => [String(each), each ? "yes" : "no"]),
        sent,
      );
    if (kind === "choice")
      return select(
        name,
        required,
        field.values.map((each, index) => [String(index), textOf(each)]),
        sent,
      );
    if (kind === "number")
      return `<input type="number" step="any" name="${name}" value="${text}"${required}>`;
    if (kind === "text") return `<input type="${field.input}" name="${name}" value="${text}"${required}>`;
    return `<textarea name="${name}" rows="${kind === "json" ? 5 : 2}">${text}</textarea>`;
  };
  const notes = [hint, kind === "json" ? "JSON" : "", isRequired ? "" : "optional"].filter(
    (note) => note !== "",
  );
  const note = notes.length === 0 ? "" : ` <small>${escapeHtml(notes.join(", "))}</small>`;
  return `<label><span>${escapeHtml(label)}${note}</span>${inner()}</label>`;
}

function select(
  name: string,
  required: string,
  options: readonly (readonly [value: string, label: string])[],
  sent: string | null,
): string {
  const each = options.map(
    ([value, label]) =>
      `<option value="${escapeHtml(value)}"${value === sent ? " selected" : ""}>${escapeHtml(label)}</option>`,
  );
  return `<select name="${name}"${required}><option value=""></option>${each.join("")}</select>`;
}

function buttonsOf(field: Field): string {
  const name = nameOf(field);
  if (field.kind === "boolean")
    return [true, false]
      .map((each) => button(name, String(each), `${field.label}: ${each ? "yes" : "no"}`))
      .join("");
  return field.values.map((each, index) => button(name, String(index), textOf(each))).join("");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Undefined for a field that is left empty; a text that does not fit is left to the schema. */
function dataIn({ kind, values, label, isRequired, isNullable }: Field, sent: string | null): unknown {
  const isEmpty = sent === null || sent === "";
  if (isEmpty && isNullable) return null;
  if (isEmpty) return isRequired && (kind === "text" || kind === "long-text") ? "" : undefined;
  switch (kind) {
    case "number":
      return Number.isFinite(Number(sent)) ? Number(sent) : sent;
    case "boolean":
      return sent === "true" ? true : sent === "false" ? false : sent;
    case "choice":
      return /^\d{1,6}$/.test(sent) ? values[Number(sent)] : undefined;
    case "json":
      return jsonOf(sent, label);
    case "text":
    case "long-text":
      return sent;
  }
}

function jsonOf(text: string, label: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new BadRequestError({ problem: `${label}: expected JSON` });
  }
}
