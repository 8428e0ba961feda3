// The schedules that a workflow or an agent declares in code.
import { DefinitionError } from "../errors/index.ts";
import {
  type Refuse,
  readScheduleOptions,
  type ScheduleOptions,
  type ScheduleSpec,
} from "../schedule/schedule-options.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import type { WorkflowSchedule } from "./step.ts";
import { problemWithTags } from "./tags.ts";

/** An occurrence whose input is made. */
export interface OccurrenceContext {
  /** Its nominal time: without jitter and lateness. */
  readonly at: Date;
}

/** A schedule of a workflow. */
export interface WorkflowScheduleOptions<Input = unknown> extends ScheduleOptions {
  /** The input of its executions, or a function that makes it. Default: none. */
  readonly input?: Input | ((occurrence: OccurrenceContext) => Input | Promise<Input>);
}

const knownOptions: KnownOptions<WorkflowScheduleOptions> = {
  cron: true,
  zone: true,
  every: true,
  from: true,
  to: true,
  jitter: true,
  overlap: true,
  catchUp: true,
  window: true,
  pauseOnFailure: true,
  tags: true,
  input: true,
};

/** Characters of the id of a schedule: that of its executions ends with a time, and has at most 200. */
const maxScheduleId = 180;

/** The id of a schedule that a workflow or an agent declares. Ids of callers have no colon. */
export function scheduleIdOf(ownerId: string, name: string): string {
  return `${ownerId}:${name}`;
}

export function readSchedules(
  workflowId: string,
  schedules: Readonly<Record<string, WorkflowScheduleOptions>>,
  where: string,
): ReadonlyMap<string, WorkflowSchedule> {
  return readDeclared(workflowId, schedules, where, knownOptions, (spec, { input }) => ({ spec, input }));
}

/** `read`: makes the schedule of its options. */
export function readDeclared<Options extends ScheduleOptions, Declared>(
  ownerId: string,
  schedules: Readonly<Record<string, Options>>,
  where: string,
  known: Readonly<Record<string, true>>,
  read: (spec: ScheduleSpec, options: Options, refuse: Refuse) => Declared,
): ReadonlyMap<string, Declared> {
  const declared = Object.entries(schedules).map(([name, options]): [string, Declared] => {
    const place = `${where}, schedule "${name}"`;
    if (!/^[\w-]+$/.test(name))
      throw new DefinitionError({ where: place, problem: "a name has letters, digits, _ and - alone" });
    if (scheduleIdOf(ownerId, name).length > maxScheduleId)
      throw new DefinitionError({
        where: place,
        problem: `its id is longer than ${maxScheduleId} characters`,
      });
    checkKnownOptions(place, options, known);
    const problem = problemWithTags(options.tags ?? []);
    if (problem !== undefined) throw new DefinitionError({ where: place, problem: `tags: ${problem}` });
    const refuse = (option: string, problem: string) =>
      new DefinitionError({ where: place, problem: `${option}: ${problem}` });
    return [name, read(readScheduleOptions(options, refuse), options, refuse)];
  });
  return new Map(declared);
}
