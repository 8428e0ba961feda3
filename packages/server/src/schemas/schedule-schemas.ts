// Schedules, in bodies, queries and responses.
import { z } from "zod";
import { component, fields, orNull, page, shape, strings, timestamp } from "./component.ts";

const duration = () =>
  z.union([z.number(), z.templateLiteral([z.number(), z.enum(["ms", "s", "m", "h", "d"])])]);
const overlap = () => z.enum(["skip", "queue-one", "queue", "cancel", "allow"]);
const outcome = () =>
  z.enum([
    "started",
    "skipped-overlap",
    "missed",
    "replaced",
    "invalid-input",
    "refused",
    "already-started",
    "by-hand",
  ]);
const catchUp = () => z.enum(["latest", "all", "none"]);

/** The options that say when. Null counts as absent. */
const timing = shape(() => ({
  cron: orNull(z.string()).describe("5 fields, or 6 with seconds first"),
  zone: orNull(z.string()).describe("The time zone of `cron`. Default: UTC"),
  every: orNull(duration()).describe("In place of `cron`: the time between two occurrences"),
  from: orNull(z.string()).describe("No occurrence is before it"),
  to: orNull(z.string()).describe("No occurrence is after it"),
}));

export const scheduleBody = component("ScheduleOptions", () =>
  z.object({
    workflowId: orNull(z.string()).describe("The workflow whose executions it starts, or an `agentId`"),
    agentId: orNull(z.string()).describe("The agent that its prompts go to"),
    ...timing(),
    input: z.unknown().optional(),
    prompt: orNull(z.string()).describe("For an agent: the message of each occurrence"),
    conversationId: orNull(z.string()).describe(
      "For an agent: the conversation of its prompts. Default: one for the schedule, with its id",
    ),
    jitter: orNull(duration()),
    overlap: orNull(overlap()),
    catchUp: orNull(catchUp()),
    window: orNull(duration()).describe("Occurrences that are older are not made up. Default: 7 d"),
    pauseOnFailure: orNull(z.int()).describe("After so many failed executions in a row it is paused"),
    tags: orNull(strings()),
    userId: orNull(z.string()).describe(
      "The user its executions belong to; with authentication that of the token",
    ),
    context: orNull(fields()),
  }),
);

export const schedule = component("Schedule", () =>
  z.object({
    scheduleId: z.string(),
    workflowId: z.string().nullable().describe("Null for an agent"),
    agentId: z.string().nullable().describe("Null for a workflow"),
    userId: z.string().nullable(),
    origin: z.enum(["code", "api"]).describe("Where it is declared"),
    state: z.enum(["active", "paused", "removed", "broken"]),
    note: z.string().nullable().describe("Why it is in this state"),
    pausedBy: z.string().nullable().describe("The user who has paused it"),
    cron: z.string().optional(),
    zone: z.string().optional(),
    every: z.number().optional().describe("Milliseconds"),
    from: timestamp().nullable(),
    to: timestamp().nullable(),
    jitter: z.number().describe("Milliseconds"),
    overlap: overlap(),
    catchUp: catchUp(),
    window: z.number().describe("Milliseconds"),
    pauseOnFailure: z.int().nullable(),
    tags: z.array(z.string()),
    input: z.unknown().describe("Null for none, and for one that is declared in code"),
    prompt: z.string().nullable().describe("Null for a workflow, and for one that is declared in code"),
    conversationId: z.string().nullable().describe("The conversation that a caller has chosen"),
    revision: z.int(),
    nextAt: timestamp().nullable().describe("Its next nominal time"),
    last: z
      .object({ at: timestamp(), outcome: outcome(), late: z.number().describe("Milliseconds") })
      .nullable()
      .describe("The newest occurrence that was decided"),
    lastAt: timestamp().nullable().describe("The nominal time of the last occurrence that started"),
    lastExecutionId: z.string().nullable().describe("For an agent the id of the last message"),
    started: z.int(),
    skipped: z.int(),
    missed: z.int(),
    waiting: z.int().describe("Nominal times that wait for the end of an execution, or for the conversation"),
  }),
);

export const schedulePage = component("SchedulePage", () =>
  z.object({ schedules: z.array(schedule()), nextCursor: z.string().nullable() }),
);

export const scheduleListQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    agentId: z.string().optional(),
    userId: z.string().optional(),
    ...page(),
    limit: z.coerce.number().int().min(1).max(200).optional(),
  }),
);

export const occurrenceList = component("ScheduleOccurrences", () =>
  z.object({
    occurrences: z
      .array(
        z.object({
          at: timestamp().describe("Its nominal time"),
          outcome: outcome(),
          executionId: z.string().nullable().describe("For an agent the id of the message"),
          conversationId: z.string().nullable().describe("The conversation of the message"),
          decidedAt: timestamp(),
          late: z.number().describe("Milliseconds; 0 for less than a second"),
          count: z.int().describe("How many times it represents, the last of which is `at`"),
        }),
      )
      .describe("The last 100, the newest first"),
  }),
);

export const scheduleReason = component("SchedulePause", () => z.object({ reason: orNull(z.string()) }));

export const backfillBody = component("BackfillOptions", () =>
  z.object({
    from: z.string(),
    to: z.string(),
    dryRun: orNull(z.boolean()).describe("Only returns the times"),
  }),
);
export const backfilled = component("ScheduleBackfill", () => z.object({ times: z.array(timestamp()) }));
export const triggered = component("ScheduleTrigger", () =>
  z.object({ executionId: z.string().describe("For an agent the id of the message") }),
);
export const removedSchedule = component("RemovedSchedule", () => z.object({ scheduleId: z.string() }));

export const previewBody = component("PreviewOptions", () =>
  z.object({ ...timing(), count: orNull(z.int()).describe("How many times, at most 100. Default: 10") }),
);
export const schedulePreview = component("SchedulePreview", () =>
  z.object({
    times: z.array(timestamp()),
    follows: z.enum(["elapsed time", "wall clock"]),
    changes: z
      .array(
        z.object({
          at: timestamp(),
          minutes: z.number().describe("Minutes by which clocks are put forward; below 0 back"),
          times: z.array(timestamp()).describe("The times within half a day of it"),
        }),
      )
      .describe("The next two changes of the zone's clocks"),
  }),
);
