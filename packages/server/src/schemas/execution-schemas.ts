// The schemas of requests and responses about workflows and executions, as the API description names them.
import { z } from "zod";
import { budgetState } from "./budget-schemas.ts";
import {
  component,
  fields,
  jsonSchema,
  optionsOf,
  orNull,
  page,
  shape,
  strings,
  timestamp,
} from "./component.ts";
import { usage } from "./usage.ts";

export const executionStatus = component("ExecutionStatus", () =>
  z.enum(["running", "suspended", "completed", "error", "cancelled"]),
);

export const workflowSummary = component("WorkflowSummary", () =>
  z.object({
    id: z.string(),
    name: z.string(),
    purpose: z.string(),
    stepsCount: z.int(),
    status: z.enum(["idle", "running", "suspended", "completed", "error"]),
  }),
);

export const workflowList = component("WorkflowList", () => z.array(workflowSummary()));

export const step = component("Step", () =>
  z.object({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    purpose: z.string(),
    inputSchema: jsonSchema().optional(),
    outputSchema: jsonSchema().optional(),
    suspendSchema: jsonSchema().optional(),
    resumeSchema: jsonSchema().optional(),
    get steps(): z.ZodOptional<z.ZodArray<z.ZodType>> {
      return z.array(step()).optional().describe("Of a container: the steps inside");
    },
  }),
);

export const workflowDetail = component("WorkflowDetail", () =>
  workflowSummary().extend({
    steps: z.array(step()),
    inputSchema: jsonSchema(),
    resultSchema: jsonSchema().nullable(),
    suspendSchema: jsonSchema().nullable(),
    resumeSchema: jsonSchema().nullable(),
  }),
);

const awaitedEvents = shape(() =>
  z.array(z.object({ name: z.string(), key: z.string().nullable().describe("Null for any") })),
);

export const suspension = component("Suspension", () =>
  z
    .object({
      suspensionId: z.string(),
      suspendedAt: timestamp(),
      reason: z.string().describe('"" when the step gave none'),
      suspendedStepIndex: z
        .int()
        .describe("The index of the top-level step, also when a step inside it is suspended"),
      stepIndex: z.int(),
      stepId: z.string(),
      stepPath: z.string().optional().describe("Absent for a pause"),
      data: z.unknown().optional().describe("The value that the step passed to `suspend`"),
      resumeSchema: jsonSchema().optional().describe("The JSON Schema of its resume data"),
      deadline: timestamp().optional().describe("When it ends by itself; absent when it has no deadline"),
      onDeadline: z
        .union([z.enum(["fail", "cancel"]), z.object({ resume: z.unknown() })])
        .optional()
        .describe("How it ends then: the step fails, the execution is cancelled, or the step gets this data"),
      events: awaitedEvents()
        .optional()
        .describe(
          "The events that end it: the data of one, or `{ name, data }` of several, is the resume data",
        ),
      to: z.string().optional().describe("Who is to decide; absent where the step named no one"),
    })
    .describe("An open suspension of an execution. Times are ISO 8601"),
);

export const replayOf = component("ReplayOf", () =>
  z.object({ executionId: z.string(), stepId: z.string() }),
);
export const executionCause = component("ExecutionCause", () =>
  z.union([
    z.object({ scheduleId: z.string(), at: timestamp().describe("The nominal time of the occurrence") }),
    z.object({
      eventId: z.string(),
      event: z.string().describe("The name of the event"),
      at: timestamp().describe("When it was sent"),
    }),
  ]),
);
/** Optional fields of an execution. */
const marks = shape(() => ({
  tags: z.array(z.string()).optional(),
  parked: z
    .object({ reason: z.string() })
    .optional()
    .describe("No process may run it: the workflow has changed, and `reason` says how"),
  replayOf: replayOf().optional(),
  cause: executionCause().optional().describe("The schedule or the event that has started it"),
}));

const executionResultFields = shape(() => ({
  executionId: z.string(),
  startAt: timestamp(),
  endAt: timestamp().nullable(),
  status: executionStatus(),
  result: z.unknown(),
  suspension: suspension().optional(),
  error: z
    .string()
    .optional()
    .describe("Why it failed: the message of the step's error only when that was a `PublicError`"),
  usage: usage().optional().describe("The usage of its agents, when it has any"),
}));

export const executionResult = component("ExecutionResult", () => z.object(executionResultFields()));

export const executionState = component("ExecutionState", () =>
  z.object({
    ...executionResultFields(),
    workflowId: z.string(),
    input: z.unknown(),
    context: z.record(z.string(), z.unknown()),
    suspensions: z.array(suspension()).optional().describe("Every open suspension, when there is one"),
    ...marks(),
  }),
);

export const suspendResult = component("SuspendResult", () =>
  z.object({ executionId: z.string(), status: z.literal("suspended"), suspension: suspension() }),
);

export const executionEvent = component("ExecutionEvent", () =>
  z.looseObject({
    type: z.string(),
    executionId: z.string(),
    timestamp: timestamp(),
    sequence: z.int().optional(),
    from: z.string().optional(),
  }),
);

export const executionEvents = component("ExecutionEvents", () => z.array(executionEvent()));

export const waitKind = component("WaitKind", () =>
  z
    .enum(["parked", "pause", "suspension", "tool", "budget", "retry", "sleep", "capacity", "running"])
    .describe("The reason why an execution waits; later releases may add kinds"),
);

export const wait = component("Wait", () =>
  z
    .object({
      kind: waitKind(),
      stepPath: z.string().optional(),
      since: timestamp().optional().describe("Since when it waits, or the step runs"),
      until: timestamp()
        .optional()
        .describe("When it continues by itself: the end of a sleep, the next attempt, a deadline"),
      onDeadline: z
        .enum(["fail", "cancel", "resume"])
        .optional()
        .describe("The deadline fails the step, cancels the execution, or resumes it with `resume`"),
      resume: z.unknown().optional(),
      suspensionId: z.string().optional(),
      events: awaitedEvents().optional().describe("The events that end it"),
      toolName: z.string().optional(),
      reason: z.string().optional(),
      userId: z.string().optional().describe("Who paused it"),
      attempt: z.int().optional().describe("The attempt that failed; 1 is the first"),
      attempts: z.int().optional().describe("How many attempts the step has"),
      error: z.string().optional(),
    })
    .describe("One thing that an execution waits for"),
);

export const explanation = component("Explanation", () =>
  z.object({
    executionId: z.string(),
    workflowId: z.string(),
    status: executionStatus(),
    sentence: z
      .string()
      .describe("The reason why it waits, or the way in which it ended; times in it are ISO 8601"),
    waits: z
      .array(wait())
      .describe("Everything that it waits for, the most important first; empty once it has ended"),
    usage: usage().optional().describe("The usage of its agents, when it has any"),
    budgets: z
      .array(budgetState())
      .optional()
      .describe(
        "The budgets over time that its calls count for; a caller that sees only its own gets those of its user",
      ),
  }),
);

export const shortExplanation = component("ShortExplanation", () =>
  z.object({
    sentence: z.string().describe("Times in it are ISO 8601"),
    kind: waitKind(),
    until: timestamp().optional().describe("When it continues by itself"),
  }),
);

export const executionSummary = component("ExecutionSummary", () =>
  z
    .object({
      executionId: z.string(),
      workflowId: z.string(),
      status: executionStatus(),
      startAt: timestamp(),
      endAt: timestamp().nullable(),
      userId: z.string().nullable(),
      conversationId: z.string().nullable(),
      stepIndex: z.int().describe("The top-level step that runs now or comes next"),
      ...marks(),
      error: z.object({ name: z.string(), message: z.string(), step: z.string().optional() }).optional(),
      explanation: shortExplanation()
        .optional()
        .describe("With `explain`: the reason why an open execution waits"),
    })
    .describe("An execution in a list"),
);
export const executionPage = component("ExecutionPage", () =>
  z.object({
    executions: z.array(executionSummary()),
    nextCursor: z.string().nullable().describe("Null on the last page"),
  }),
);

export const foundExecution = component("FoundExecution", () =>
  z
    .object({
      ...executionSummary().shape,
      matches: z
        .array(
          z.object({
            path: z.string().describe("Such as `input.items[0].sku`; `tags` for a tag"),
            value: z.string().describe("The value in lower case, at most 128 characters of it"),
          }),
        )
        .describe("Where the text was found, at most 5 places"),
    })
    .describe("An execution that a search has found"),
);
export const searchPage = component("SearchPage", () =>
  z.object({
    executions: z.array(foundExecution()),
    nextCursor: z.string().nullable().describe("Null on the last page"),
    complete: z.boolean().describe("False when so many values match that not all of them were read"),
  }),
);

const statusCount = shape(() =>
  z.object({
    count: z.int(),
    more: z.boolean().describe("True when there are more than were counted"),
  }),
);
export const executionCounts = component("ExecutionCounts", () =>
  z.object({
    running: statusCount(),
    suspended: statusCount(),
    completed: statusCount(),
    error: statusCount(),
    cancelled: statusCount(),
  }),
);

export const readiness = component("Readiness", () => z.object({ status: z.literal("ready") }));

export const health = component("Health", () => z.object({ status: z.literal("ok") }));

const startOptions = shape(() => ({
  userId: z.string(),
  conversationId: z.string(),
  executionId: z.string(),
  context: fields(),
  tags: strings(),
}));

export const startBody = component(
  "StartRequest",
  // Optional here and required in the description: the contract defines the message for a missing input.
  () =>
    z
      .object({ input: z.unknown().optional(), options: optionsOf(startOptions()) })
      .meta({ required: ["input"] }),
);

export const suspendBody = component("SuspendRequest", () => z.object({ reason: orNull(z.string()) }));

export const resumeBody = component("ResumeRequest", () =>
  z.object({
    resumeData: z.unknown().optional(),
    options: optionsOf({ stepId: z.string(), suspensionId: z.string() }),
  }),
);

export const replayBody = component("ReplayRequest", () =>
  z.object({
    stepId: z.string().describe("The top-level step that runs first"),
    options: optionsOf({ executionId: z.string(), userId: z.string() }),
  }),
);

/** A time in a query, with an explicit JSON Schema: Zod has none for a Date. */
export const time = (description: string) =>
  z.coerce.date().meta({ type: "string", format: "date-time", description }).optional();

export const listQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    status: executionStatus().optional(),
    userId: z.string().optional(),
    tag: z.string().optional(),
    id: z.string().describe("Ids that begin with this").optional(),
    replayOf: z.string().describe("Replays of this execution").optional(),
    parked: z.enum(["true", "false"]).describe("`true`: only those that no process may run").optional(),
    from: time("Started at this time or later"),
    to: time("Started before this time"),
    explain: z
      .enum(["true", "false"])
      .optional()
      .describe("Add `explanation` to open executions; at most 100 of a page"),
    ...page(),
  }),
);

export const searchQuery = shape(() =>
  z.object({
    text: z
      .string()
      .describe("A string or number of the values, or from three characters on its beginning; in any case"),
    ...listQuery().pick({ workflowId: true, status: true, userId: true, from: true, to: true }).shape,
    cursor: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(100).optional(),
  }),
);

/** The filters of a list whose executions are counted by status. */
export const countsQuery = shape(() =>
  listQuery().omit({ status: true, explain: true, limit: true, cursor: true }),
);

/** The list query of one workflow, whose id is in the path. */
export const workflowListQuery = shape(() => listQuery().omit({ workflowId: true }));

export const eventsQuery = shape(() =>
  z.object({
    after: z.coerce.number().int().min(0).optional(),
    limit: z.coerce.number().int().min(1).max(10_000).optional(),
  }),
);

export const attachQuery = shape(() => z.object({ after: z.coerce.number().int().min(0).optional() }));
