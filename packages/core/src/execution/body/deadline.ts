// The deadline of a suspension. Its effect is decided when it is set.
import { StepSchemaError } from "../../errors/index.ts";
import { parseDuration } from "../../values/duration.ts";
import { toJson } from "../../values/json.ts";
import { type Schema, validateOwn } from "../../values/schema.ts";
import type { DeadlineOptions } from "../../workflow/step-context.ts";

/** The deadline as a suspension keeps it: both are null when it waits for ever. */
export interface Deadline {
  /** Milliseconds since 1970. */
  readonly deadline: number | null;
  /** JSON text of an `AfterDeadline`. */
  readonly onDeadline: string | null;
}

/** Checks the deadline of a body. The resume data of a deadline must fit the schema like any other. */
export function readDeadline(
  options: DeadlineOptions,
  schema: Schema | undefined,
  path: string,
  now: number,
): Deadline {
  const { deadline, onDeadline = "fail" } = options;
  if (deadline === undefined) return { deadline: null, onDeadline: null };
  const at =
    deadline instanceof Date ? deadline.getTime() : now + parseDuration(deadline, `Step ${path}, deadline`);
  if (Number.isNaN(at)) throw wrong(path, "deadline", "is not a valid date");
  if (onDeadline === "fail" || onDeadline === "cancel") {
    return { deadline: at, onDeadline: JSON.stringify(onDeadline) };
  }
  if (typeof onDeadline !== "object" || onDeadline === null || !("resume" in onDeadline)) {
    throw wrong(path, "onDeadline", 'expected { resume: … }, "fail" or "cancel"');
  }
  const resume = checkResumeData(onDeadline.resume ?? null, schema, path);
  return { deadline: at, onDeadline: toJson({ resume }, `onDeadline of step ${path}`) ?? null };
}

function checkResumeData(value: unknown, schema: Schema | undefined, path: string): unknown {
  if (schema === undefined) return value;
  const result = validateOwn(schema, value);
  // `suspend` throws at once, so it cannot wait for an asynchronous schema.
  if (result instanceof Promise)
    throw wrong(path, "onDeadline", "the resume schema must not be asynchronous");
  if (!result.ok) throw wrong(path, "onDeadline", result.detail);
  return result.value;
}

function wrong(path: string, subject: string, detail: string): StepSchemaError {
  return new StepSchemaError({ path, subject, detail });
}
