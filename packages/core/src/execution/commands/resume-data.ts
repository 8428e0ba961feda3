// Resume data, validated by the schema of the suspension, within its size limit.
import type { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { ResumeValidationError, UnserializableError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";
import { type Schema, validate } from "../../values/schema.ts";
import { checkSize, type SizeLimits } from "../body/limits.ts";

export interface ResumeChecks {
  readonly limits: SizeLimits;
  readonly schemas: SchemaChecker;
}

export class ResumeData {
  readonly #executionId: string;
  readonly #value: unknown;
  readonly #checks: ResumeChecks;
  readonly #texts = new Map<Schema | string | undefined, Promise<string>>();

  /** Absent data arrives as null. */
  constructor(executionId: string, value: unknown = null, checks: ResumeChecks) {
    this.#executionId = executionId;
    this.#value = value;
    this.#checks = checks;
  }

  /**
   * As JSON text. A schema, of a library or a JSON Schema as text, sees it once, also when the execution is looked at
   * again: it may take long, or remember.
   */
  text(schema: Schema | string | undefined): Promise<string> {
    const known = this.#texts.get(schema);
    if (known !== undefined) return known;
    const text = typeof schema === "string" ? this.#checkJson(schema) : this.#check(schema);
    this.#texts.set(schema, text);
    return text;
  }

  async #checkJson(schema: string): Promise<string> {
    const text = await this.text(undefined);
    // 4 MB of objects took 0.3 s, on a busy machine a second: no pattern may keep others waiting for longer.
    const milliseconds = Math.min(1000, 100 + Math.ceil(text.length / 1000));
    const verdict = await this.#checks.schemas.check(schema, text, milliseconds);
    if (!verdict.ok) throw this.#misfit(verdict.detail);
    return text;
  }

  async #check(schema: Schema | undefined): Promise<string> {
    try {
      if (schema === undefined) return this.#toText(this.#value);
      const result = await validate(schema, this.#value);
      if (!result.ok) throw this.#misfit(result.detail);
      return this.#toText(result.value);
    } catch (error) {
      // A schema that refers to itself goes as deep as the value does, which is not JSON text yet.
      if (error instanceof RangeError) throw this.#misfit("it is nested too deeply");
      throw error instanceof UnserializableError ? this.#misfit(error.message) : error;
    }
  }

  #toText(value: unknown): string {
    const text = toJson(value, "resumeData") ?? "null";
    return checkSize(this.#checks.limits, "resumeData", text, "Resume data");
  }

  #misfit(detail: string): ResumeValidationError {
    return new ResumeValidationError({ executionId: this.#executionId, detail });
  }
}
