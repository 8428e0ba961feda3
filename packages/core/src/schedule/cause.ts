// The schedule that has started an execution, as the links of the execution hold it.
import { Fields } from "../values/fields.ts";

export interface ScheduleCause {
  readonly scheduleId: string;
  /** The nominal time of the occurrence. */
  readonly at: number;
}

export function linkToSchedule(schedule: ScheduleCause): string {
  return JSON.stringify({ schedule });
}

/** Undefined for an execution that no schedule has started. */
export function scheduleIn(links: string | null): ScheduleCause | undefined {
  if (links === null) return undefined;
  const fields = Fields.parse(links, (problem) => new TypeError(`The links of an execution: ${problem}`));
  const schedule = fields.object("schedule");
  return schedule && { scheduleId: schedule.text("scheduleId"), at: schedule.number("at") };
}
