// andTap: a side effect that never changes the data; its failure is kept and does not stop the run.
import type { KnownOptions } from "../../values/check-options.ts";
import type { Schema } from "../../values/schema.ts";
import type { TapStep } from "../step.ts";
import {
  type BodyContext,
  checkFunction,
  type StepOptions,
  stepBase,
  stepOptionsWithoutOutput,
} from "./step-options.ts";

export interface TapOptions<
  Data,
  Input,
  S extends Schema | undefined = Schema | undefined,
  R extends Schema | undefined = Schema | undefined,
> extends Omit<StepOptions<unknown, S, R>, "outputSchema"> {
  /** The side effect. Its return value is not used. */
  execute(context: BodyContext<Data, Input, S, R>): unknown;
}

const knownOptions: KnownOptions<TapOptions<unknown, unknown>> = {
  ...stepOptionsWithoutOutput,
  execute: true,
};

export function tapStep(options: TapOptions<unknown, unknown>): TapStep {
  const base = stepBase(options, "andTap", knownOptions);
  checkFunction(options.execute, "execute", `andTap "${base.id}"`);
  return { ...base, type: "andTap", execute: options.execute, outputSchema: undefined };
}
