// andSleep and andSleepUntil: wait for a time; the data passes unchanged. A sleeping execution holds no memory.
import { DefinitionError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { SleepStep, SleepUntilStep } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import { type PassiveStepOptions, passiveStepOptions, stepBase } from "./step-options.ts";

interface DurationFunction<Data, Input> {
  duration(context: FunctionContext<Data, Input>): Duration | Promise<Duration>;
}

export interface SleepOptions<Data, Input> extends PassiveStepOptions {
  /** How long, counted from the start of the step; or a function of the data, which is kept. */
  readonly duration: Duration | DurationFunction<Data, Input>["duration"];
}

/** A date, milliseconds since 1970, or a string that `Date` reads. */
export type DateLike = Date | number | string;

interface DateFunction<Data, Input> {
  date(context: FunctionContext<Data, Input>): DateLike | Promise<DateLike>;
}

export interface SleepUntilOptions<Data, Input> extends PassiveStepOptions {
  /** Until when; or a function of the data, which is kept. A date that has passed does not wait. */
  readonly date: DateLike | DateFunction<Data, Input>["date"];
}

const knownSleepOptions: KnownOptions<SleepOptions<unknown, unknown>> = {
  ...passiveStepOptions,
  duration: true,
};
const knownSleepUntilOptions: KnownOptions<SleepUntilOptions<unknown, unknown>> = {
  ...passiveStepOptions,
  date: true,
};

export function sleepStep(options: SleepOptions<unknown, unknown>): SleepStep {
  const base = stepBase(options, "andSleep", knownSleepOptions);
  const { duration } = options;
  if (typeof duration === "function") return { ...base, type: "andSleep", duration };
  return {
    ...base,
    type: "andSleep",
    duration: parseDuration(duration, `andSleep "${base.id}", duration`),
  };
}

export function sleepUntilStep(options: SleepUntilOptions<unknown, unknown>): SleepUntilStep {
  const base = stepBase(options, "andSleepUntil", knownSleepUntilOptions);
  const { date } = options;
  if (typeof date === "function") return { ...base, type: "andSleepUntil", date };
  const time = parseDate(date);
  if (time === undefined) {
    throw new DefinitionError({ where: `andSleepUntil "${base.id}"`, problem: "date is not a valid date" });
  }
  return { ...base, type: "andSleepUntil", date: time };
}

/** Milliseconds since 1970; undefined when it is not a valid date. */
export function parseDate(date: unknown): number | undefined {
  if (!(date instanceof Date) && typeof date !== "number" && typeof date !== "string") return undefined;
  const time = new Date(date).getTime();
  return Number.isNaN(time) ? undefined : time;
}
