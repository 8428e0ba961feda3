// andThen: runs a function and passes on its return value.
import type { KnownOptions } from "../../values/check-options.ts";
import type { Schema } from "../../values/schema.ts";
import type { ThenStep } from "../step.ts";
import { type BodyContext, checkFunction, type StepOptions, stepBase, stepOptions } from "./step-options.ts";

export interface ThenOptions<
  Data,
  Input,
  Output,
  S extends Schema | undefined = Schema | undefined,
  R extends Schema | undefined = Schema | undefined,
> extends StepOptions<Awaited<Output>, S, R> {
  /** The body. Runs at least once; its outcome is kept exactly once. */
  execute(context: BodyContext<Data, Input, S, R>): Output;
}

const knownOptions: KnownOptions<ThenOptions<unknown, unknown, unknown>> = { ...stepOptions, execute: true };

export function thenStep(options: ThenOptions<unknown, unknown, unknown>): ThenStep {
  const base = stepBase(options, "andThen", knownOptions);
  checkFunction(options.execute, "execute", `andThen "${base.id}"`);
  return { ...base, type: "andThen", execute: options.execute };
}
