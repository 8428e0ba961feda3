// Work on a caller's JSON Schema with a time limit.
//
// A pattern can backtrack for years, and references can multiply without end. So the work runs inside a script with a time
// limit, which interrupts regular expressions too: `^(a+)+$` on 40 letters was interrupted after 114 ms with a limit of
// 100. A call costs 0.15 ms, far less than the model call before it.
import { type Context, createContext, Script } from "node:vm";
import { Validator } from "@cfworker/json-schema";
import type { JsonSchema, Validation } from "../../values/schema.ts";
import { maxTries } from "./limits.ts";

const limit = 100;
const maxDetailLength = 500;

/** A function that checks values against the schema; one that takes longer than this many milliseconds does not fit. */
export function boundedValidator(schema: JsonSchema, milliseconds = limit): (value: unknown) => Validation {
  return (value) => {
    try {
      return validateWithin(schema, value, milliseconds);
    } catch (error) {
      return { ok: false, detail: reasonOf(error, milliseconds) };
    }
  };
}

/** Checks a value against the schema; throws when that takes longer than this many milliseconds. */
export function validateWithin(
  schema: JsonSchema,
  value: unknown,
  milliseconds: number,
  mostTries?: number,
): Validation {
  return withinLimit(() => validateWith(schema, value), milliseconds, mostTries);
}

/** However long it takes. */
function validateWith(schema: JsonSchema, value: unknown): Validation {
  const { valid, errors } = new Validator(schema, "2020-12").validate(value);
  if (valid) return { ok: true, value: undefined };
  // The last one is the innermost: those before it only say that something inside is wrong.
  const { instanceLocation = "#", error = "it does not fit" } = errors.at(-1) ?? {};
  const at = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  return { ok: false, detail: (at === "" ? error : `${at}: ${error}`).slice(0, maxDetailLength) };
}

/** Does the work, which is interrupted after this many milliseconds. */
export function withinLimit<T>(work: () => T, milliseconds = limit, mostTries = maxTries): T {
  for (let tries = 1; ; tries++) {
    const before = processorTime();
    try {
      return once(work, milliseconds);
    } catch (error) {
      const worked = processorTime() - before > milliseconds / 2;
      if (!isTimeout(error) || worked || tries >= mostTries) throw error;
    }
  }
}

/** Milliseconds that this thread has worked; in Node before 22.19 those of the whole process. */
function processorTime(): number {
  const perThread: typeof process.threadCpuUsage | undefined = process.threadCpuUsage;
  const { user, system } = perThread === undefined ? process.cpuUsage() : perThread();
  return (user + system) / 1000;
}

/** One context for all checks, which run one at a time: creating one costs ten times as much as using it. */
const sandbox: { check(): void } = { check: () => undefined };
let prepared: { readonly script: Script; readonly context: Context } | undefined;

function once<T>(work: () => T, timeout: number): T {
  const outcomes: T[] = [];
  sandbox.check = () => {
    outcomes.push(work());
  };
  // Made for the first check, so that a start does not pay for it.
  prepared ??= { script: new Script("check()"), context: createContext(sandbox) };
  prepared.script.runInContext(prepared.context, { timeout });
  const [outcome] = outcomes;
  if (outcome === undefined) throw new TypeError("the check returned nothing");
  return outcome;
}

/** Why the work within the limit failed. */
export function reasonOf(error: unknown, milliseconds = limit): string {
  if (isTimeout(error)) return `the schema could not be checked within ${milliseconds} ms`;
  if (error instanceof RangeError) return "the schema refers to itself without end";
  return "the schema could not be evaluated";
}

/** Thrown inside the script's own realm, so it is not an instance of our Error. */
export function isTimeout(error: unknown): boolean {
  return Object(error).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
