// Schemas are any Standard Schema that also speaks JSON Schema (Zod 4 first); the library itself does both jobs.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { DefinitionError, SchemaBusyError } from "../errors/index.ts";
import { isRecord, propertyOf } from "./fields.ts";
import { inTurn, ownTurn } from "./own-turn.ts";
import { isTimeout, tryWithin } from "./within-limit.ts";

/** A schema as Andante accepts it: it validates, and describes itself as JSON Schema. */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

/** The type that a schema accepts. */
export type SchemaInput<S> = S extends Schema<infer Input, unknown> ? Input : unknown;
/** The type that a schema returns: with defaults and transforms. */
export type SchemaOutput<S> = S extends Schema<infer _, infer Output> ? Output : unknown;

export type JsonSchema = Record<string, unknown>;

/** The result of a validation: the value as the schema returns it, or the problem in one line. */
export type Validation<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly detail: string };

/**
 * Validates a value; returns at once unless the schema itself is asynchronous, the value is huge or other validations have
 * filled the turn of the event loop. Rejects with an error of the schema's own, and does not throw. A large value that has not been validated after `maxValidation` is refused: libraries
 * make an object for each wrong element of a list, so that 2.6 MB of them took 7 s and 1.8 GB, and with a union all memory
 * there is.
 */
export function validate<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  maxTries = usualTries,
): Validation<Output> | Promise<Validation<Output>> {
  const parts = partsOf(value);
  if (parts <= largeFrom) return inTurn(() => validateOwn(schema, value));
  if (parts > hugeFrom) return validateHuge(schema, value, maxTries).then(toValidation);
  return inTurn(() => {
    const result = validateLarge(schema, value, maxTries);
    return result instanceof Promise ? result.then(toValidation) : toValidation(result);
  });
}

/** Validates a value that the host's own code made, such as the output of a step: without a limit. */
export function validateOwn<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): Validation<Output> | Promise<Validation<Output>> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(toValidation) : toValidation(result);
}

/**
 * Milliseconds of the processor for a large value, during which the process does nothing else; 13 MB of valid records of
 * ten fields took 300.
 */
export const maxValidation = 500;

/**
 * Tries of work under way, which would fail for good; a request, which the caller can send again, has fewer. The wall time of
 * a try doubles at most: six tries take up to 32 s together, enough for a process that has a thirtieth of a processor.
 */
const usualTries = 6;

/** A turn of the event loop before and after: making the value and writing it take as long. */
async function validateHuge<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  maxTries: number,
): Promise<StandardSchemaV1.Result<Output>> {
  await ownTurn("continue");
  const result = await validateLarge(schema, value, maxTries);
  await ownTurn("continue");
  return result;
}

function validateLarge<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  triesLeft: number,
  wall = maxValidation,
): StandardSchemaV1.Result<Output> | Promise<StandardSchemaV1.Result<Output>> {
  try {
    const work = () => parseEarly(schema, value) ?? schema["~standard"].validate(value);
    const tried = tryWithin(work, maxValidation, wall);
    if ("outcome" in tried) return tried.outcome;
    if (triesLeft === 1) throw new SchemaBusyError();
    return ownTurn("continue").then(() => validateLarge(schema, value, triesLeft - 1, tried.wall));
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return { issues: [{ message: `it could not be validated within ${maxValidation} ms` }] };
  }
}

/** Zod's own entries with an option that its Standard Schema does not pass on. */
interface EarlyParser<Output> {
  safeParse(value: unknown, context: typeof early): Parsed<Output>;
  safeParseAsync(value: unknown, context: typeof early): Promise<Parsed<Output>>;
}

type Parsed<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly error: StandardSchemaV1.FailureResult };

const early = { abortEarly: true } as const;

/**
 * Validates with Zod, which stops at the first element of a wrong type: 2.6 MB of them take 10 ms. Undefined for another
 * library. A schema that throws is parsed again, as Zod does itself: this is how it reports that it is asynchronous.
 */
function parseEarly<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): StandardSchemaV1.Result<Output> | Promise<StandardSchemaV1.Result<Output>> | undefined {
  if (!isEarlyParser(schema)) return undefined;
  try {
    return resultOf(schema.safeParse(value, early));
  } catch {
    return schema.safeParseAsync(value, early).then(resultOf);
  }
}

function resultOf<Output>(parsed: Parsed<Output>): StandardSchemaV1.Result<Output> {
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
}

function isEarlyParser<Output>(
  schema: StandardSchemaV1<unknown, Output>,
): schema is StandardSchemaV1<unknown, Output> & EarlyParser<Output> {
  return (
    schema["~standard"].vendor === "zod" &&
    "safeParse" in schema &&
    typeof schema.safeParse === "function" &&
    "safeParseAsync" in schema &&
    typeof schema.safeParseAsync === "function"
  );
}

/**
 * A value of more parts than these is large, and its validation has a time limit. Each element and property is a part, and
 * so are each hundred characters: a wrong element of a list costs a union of objects 0.3 ms, a character next to nothing.
 */
const largeFrom = 500;
const charactersPerPart = 100;
/** A value of more parts than these is validated in a turn of its own. */
const hugeFrom = 10_000;

/** Counts parts no further than needed. A value that cannot be read is for the schema to refuse. */
function partsOf(value: unknown): number {
  const left: unknown[] = [value];
  let size = 0;
  try {
    while (left.length > 0 && size + left.length <= hugeFrom) {
      const each = left.pop();
      size += typeof each === "string" ? 1 + each.length / charactersPerPart : 1;
      if (Array.isArray(each)) {
        if (each.length > hugeFrom) return each.length;
        for (const item of each) left.push(item);
      } else if (isRecord(each) && !ArrayBuffer.isView(each)) {
        for (const key in each) {
          size += key.length / charactersPerPart;
          if (size + left.length > hugeFrom) break;
          left.push(each[key]);
        }
      }
    }
  } catch {
    // The parts that were counted before.
  }
  return size + left.length;
}

function toValidation<Output>(result: StandardSchemaV1.Result<Output>): Validation<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, detail: describeIssues(result.issues) };
}

/** More issues than these are only counted. */
const maxIssues = 5;
/** Characters. Places and messages hold keys that callers chose. */
const maxIssueLength = 300;

/** The first issues in one line; `within` names the place that their paths begin at. */
export function describeIssues(issues: readonly StandardSchemaV1.Issue[], within?: string): string {
  const shown = issues.slice(0, maxIssues).map((issue) => issueText(issue, within));
  if (issues.length > maxIssues) shown.push(`and ${issues.length - maxIssues} more`);
  return shown.join("; ");
}

function issueText({ path = [], message }: StandardSchemaV1.Issue, within?: string): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  const at = (within === undefined ? keys : [within, ...keys]).join(".");
  return at === "" ? shorten(message) : `${shorten(at)}: ${shorten(message)}`;
}

function shorten(text: string): string {
  return text.length <= maxIssueLength ? text : `${text.slice(0, maxIssueLength)}…`;
}

/**
 * The JSON Schema of a schema, converted by its own library: `input` for values of callers (a field with a default is
 * not required), `output` for returned values. A part that JSON Schema has no word for, such as Zod's `date()`, is
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

/** Whether it is a schema of a library, not a JSON Schema. JSON that only looks like the former has no function in it. */
export function isStandardSchema(schema: Schema | JsonSchema): schema is Schema {
  return typeof propertyOf(propertyOf(schema, "~standard"), "validate") === "function";
}

/** Refuses, while the host defines, a value that is not a schema. */
export function checkSchema(schema: unknown, where: string): void {
  if (schema === undefined) return;
  const standard = propertyOf(schema, "~standard");
  const toJson = propertyOf(propertyOf(standard, "jsonSchema"), "input");
  if (typeof propertyOf(standard, "validate") !== "function" || typeof toJson !== "function") {
    throw new DefinitionError({
      where,
      problem: "not a Standard Schema with JSON Schema (Zod 4.2 or later is one)",
    });
  }
}

/**
 * A Standard Schema that describes a value and checks it with a function: `problemOf` returns the problem of a value that
 * does not fit. Default: every value is accepted as it is. The AI SDK's `jsonSchema` does the same, but an agent is defined
 * before the AI SDK is loaded.
 */
export function plainSchema<Value>(
  schema: JsonSchema,
  problemOf: (value: unknown) => string | undefined = () => undefined,
): Schema<unknown, Value> {
  const describe = () => schema;
  return {
    "~standard": {
      version: 1,
      vendor: "andante",
      validate: (value) => {
        const message = problemOf(value);
        return message === undefined ? { value: value as Value } : { issues: [{ message }] };
      },
      jsonSchema: { input: describe, output: describe },
    },
  };
}
