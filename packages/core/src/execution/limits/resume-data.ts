// Checks resume data against the schema of the suspension and its size limit.
import type { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { ResumeValidationError, UnserializableError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";
import { type Schema, validate } from "../../values/schema.ts";
import { requestTries } from "../../values/within-limit.ts";
import { checkSize, type SizeLimits } from "./limits.ts";

export interface ResumeChecks {
  readonly executionId: string;
  readonly limits: SizeLimits;
  readonly schemas: SchemaChecker;
}

/** Returns the data as JSON text; absent data is null. A schema given as text is a JSON Schema. */
export async function checkResumeData(
  { executionId, limits, schemas }: ResumeChecks,
  data: unknown,
  schema: Schema | string | undefined,
): Promise<string> {
  const misfit = (detail: string) => new ResumeValidationError({ executionId, detail });
  const toText = (value: unknown) =>
    checkSize(limits, "resumeData", toJson(value, "resumeData") ?? "null", "Resume data");
  try {
    if (schema === undefined) return toText(data);
    if (typeof schema === "string") {
      const text = toText(data);
      // 4 MB of objects took 0.3 s, on a busy machine a second: no pattern may block other checks for longer.
      const milliseconds = Math.min(1000, 100 + Math.ceil(text.length / 1000));
      const verdict = await schemas.check(schema, text, milliseconds);
      if (!verdict.ok) throw misfit(verdict.detail);
      return text;
    }
    const result = await validate(schema, data, requestTries);
    if (!result.ok) throw misfit(result.detail);
    return toText(result.value);
  } catch (error) {
    // A recursive schema descends as deep as the value, which is not JSON text yet.
    if (error instanceof RangeError) throw misfit("it is nested too deeply");
    throw error instanceof UnserializableError ? misfit(error.message) : error;
  }
}
