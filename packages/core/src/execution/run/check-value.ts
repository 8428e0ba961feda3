// Checks a value against a schema on behalf of the interpreter.
import { StepSchemaError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { fromJson, toJson } from "../../values/json.ts";
import { type Validation, validate, validateOwn } from "../../values/schema.ts";
import type { Command } from "../interpreter/commands.ts";

/** The value as the schema returns it, or a failure; at once unless the schema is asynchronous. */
export function checkValue(command: Extract<Command, { kind: "check" }>): Outcome | Promise<Outcome> {
  const { path, what } = command;
  const fail = (thrown: unknown): Outcome => ({ kind: "error", error: toFailure(thrown, path) });
  const accept = (result: Validation): Outcome => {
    if (!result.ok) return fail(new StepSchemaError({ path, what, detail: result.detail }));
    return { kind: "output", value: toJson(result.value, `${what} of ${path}`) };
  };
  try {
    const check = command.isOwn ? validateOwn : validate;
    const result = check(command.schema, fromJson(command.value));
    return result instanceof Promise ? result.then(accept).catch(fail) : accept(result);
  } catch (thrown) {
    return fail(thrown);
  }
}
