// The shapes of what shows all executions at once: the inbox, counts over time, what changes, and the server itself.
import { z } from "zod";
import { component, shape, timestamp } from "./component.ts";
import { executionStatus, suspension, time } from "./execution-schemas.ts";

export const serverStatus = component("ServerStatus", () =>
  z.object({
    version: z.string(),
    store: z.object({ name: z.string(), bytes: z.int().nullable() }),
    slots: z.object({
      running: z.int().nullable().describe("Of everyone; null for a caller that sees only its own"),
      limit: z.int(),
    }),
    suspended: z.int().nullable().describe("Of everyone; null for a caller that sees only its own"),
    authentication: z.boolean(),
    user: z.looseObject({ id: z.string().optional() }).nullable(),
  }),
);

export const inbox = component("Inbox", () =>
  z.object({
    items: z.array(
      z.object({
        executionId: z.string(),
        workflowId: z.string(),
        userId: z.string().nullable(),
        startAt: timestamp(),
        suspension: suspension(),
        example: z.unknown().optional(),
      }),
    ),
    more: z.boolean(),
    nextCursor: z.string().nullable(),
  }),
);

export const inboxQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    cursor: z.string().describe("`nextCursor` of the page before").optional(),
    limit: z.coerce.number().int().min(1).max(500).describe("How many on a page; 200 by default").optional(),
  }),
);

const durations = shape(() => ({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
}));

export const activity = component("Activity", () =>
  z.object({
    from: timestamp(),
    to: timestamp(),
    points: z.array(
      z.object({
        at: timestamp(),
        started: z.int(),
        completed: z.int(),
        failed: z.int(),
        suspended: z.int(),
        cancelled: z.int(),
        p50: z.number().nullable(),
      }),
    ),
    workflows: z.array(
      z.object({
        workflowId: z.string(),
        started: z.int(),
        completed: z.int(),
        failed: z.int(),
        ...durations(),
      }),
    ),
    ...durations(),
    complete: z.boolean(),
  }),
);

export const activityQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    from: time("At this time or later; an hour ago by default"),
    to: time("Before this time; now by default"),
    points: z.coerce
      .number()
      .int()
      .min(1)
      .max(500)
      .describe("How many points at most, of a minute or more each; 60 by default")
      .optional(),
  }),
);

export const stepActivity = component("StepActivity", () =>
  z.object({
    from: timestamp(),
    to: timestamp(),
    runs: z.int().nullable(),
    steps: z.array(
      z.object({
        stepPath: z.string(),
        completed: z.int(),
        failed: z.int(),
        retried: z.int(),
        ...durations(),
      }),
    ),
  }),
);

export const stepActivityQuery = shape(() =>
  z.object({
    from: time("At this time or later; a day ago by default"),
    to: time("Before this time; now by default"),
  }),
);

export const changeEvent = component("ChangeEvent", () =>
  z.object({
    type: z.enum(["open", "changes"]),
    executions: z
      .array(
        z.object({
          executionId: z.string(),
          workflowId: z.string(),
          userId: z.string().nullable(),
          status: executionStatus().optional(),
          stepPath: z.string().optional(),
          sequence: z.int(),
          timestamp: timestamp(),
        }),
      )
      .optional(),
    missed: z.int().optional(),
  }),
);

export const workflowExample = component("WorkflowExample", () =>
  z.object({ input: z.unknown(), calls: z.array(z.string()) }),
);
