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
  /** How long, counted from the start of the step; or a function of the data, whose answer is kept. */
  readonly duration: Duration | DurationFunction<Data, Input>["duration"];
}

/** A moment: a date, milliseconds since 1970, or a text that `Date` reads. */
export type Moment = Date | number | string;

interface DateFunction<Data, Input> {
  date(context: FunctionContext<Data, Input>): Moment | Promise<Moment>;
}

export interface SleepUntilOptions<Data, Input> extends PassiveStepOptions {
  /** Until when; or a function of the data, whose answer is kept. A moment that has passed does not wait. */
  readonly date: Moment | DateFunction<Data, Input>["date"];
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
  const time = parseMoment(date);
  if (time === undefined) {
    throw new DefinitionError({ where: `andSleepUntil "${base.id}"`, problem: "date must be a date" });
  }
  return { ...base, type: "andSleepUntil", date: time };
}

/** Milliseconds since 1970; undefined when it is no moment. */
export function parseMoment(moment: unknown): number | undefined {
  if (!(moment instanceof Date) && typeof moment !== "number" && typeof moment !== "string") return undefined;
  const time = new Date(moment).getTime();
  return Number.isNaN(time) ? undefined : time;
}
