// Schemas are any Standard Schema that also speaks JSON Schema (Zod 4 first); the library itself does both jobs.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { DefinitionError } from "../errors/index.ts";

/** A schema as Andante accepts it: it validates, and describes itself as JSON Schema. */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

/** What a schema accepts. */
export type SchemaInput<S> = S extends Schema<infer Input, unknown> ? Input : unknown;
/** What a schema makes of it: defaults filled in, transforms applied. */
export type SchemaOutput<S> = S extends Schema<infer _, infer Output> ? Output : unknown;

export type JsonSchema = Record<string, unknown>;

/** The result of a validation: the value as the schema returns it, or what is wrong in one line. */
export type Validation<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly detail: string };

/** Validates a value; returns at once unless the schema itself is asynchronous. */
export function validate<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
): Validation<Output> | Promise<Validation<Output>> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(toValidation) : toValidation(result);
}

function toValidation<Output>(result: StandardSchemaV1.Result<Output>): Validation<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, detail: result.issues.map(issueText).join("; ") };
}

function issueText(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/**
 * The JSON Schema of a schema, converted by its own library: `input` for what callers send (a field with a default is
 * not required), `output` for what comes out. A part that JSON Schema has no word for, such as Zod's `date()`, is
 * described as "anything" rather than refused: it is enforced anyway.
 */
export function toJsonSchema(schema: Schema, side: "input" | "output", where: string): JsonSchema {
  try {
    return schema["~standard"].jsonSchema[side]({
      target: "draft-2020-12",
      libraryOptions: { unrepresentable: "any" },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DefinitionError({ where, problem: `the schema cannot be written as JSON Schema: ${reason}` });
  }
}

/** Tells a schema of a library from a JSON Schema. JSON that only looks like the former has no function in it. */
export function isStandardSchema(schema: Schema | JsonSchema): schema is Schema {
  const standard: unknown = Object(schema)["~standard"];
  return typeof Object(standard).validate === "function";
}

/** Refuses, while the host defines, what is not a schema at all. */
export function checkSchema(schema: unknown, where: string): void {
  if (schema === undefined) return;
  const standard: unknown = Object(schema)["~standard"];
  const { validate, jsonSchema } = Object(standard);
  if (typeof validate !== "function" || typeof Object(jsonSchema).input !== "function") {
    throw new DefinitionError({
      where,
      problem: "not a Standard Schema with JSON Schema (Zod 4.2 or later is one)",
    });
  }
}
