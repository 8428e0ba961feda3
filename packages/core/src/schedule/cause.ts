// The schedule that has started an execution, as the links of the execution hold it.
import { Fields, isRecord } from "../values/fields.ts";

export interface ScheduleCause {
  readonly scheduleId: string;
  /** The nominal time of the occurrence. */
  readonly at: number;
}

/** `awaitsEnd`: the schedule is to learn of the end of the execution. */
export function linkToSchedule({ scheduleId, at }: ScheduleCause, awaitsEnd: boolean): string {
  return JSON.stringify({ schedule: { scheduleId, at, ...(awaitsEnd && { awaitsEnd }) } });
}

/** Whether nothing is to be done when an execution with these links has ended. */
export function isEndUnneeded(links: Readonly<Record<string, unknown>>): boolean {
  const { schedule, ...others } = links;
  return isRecord(schedule) && schedule.awaitsEnd !== true && Object.keys(others).length === 0;
}

/** Undefined for an execution that no schedule has started. */
export function scheduleIn(links: string | null): ScheduleCause | undefined {
  if (links === null) return undefined;
  const fields = Fields.parse(links, (problem) => new TypeError(`The links of an execution: ${problem}`));
  const schedule = fields.object("schedule");
  return schedule && { scheduleId: schedule.text("scheduleId"), at: schedule.number("at") };
}
