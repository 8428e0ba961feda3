// The schemas of the inbox, of counts over time, of the feed of changes and of the server's status.
import { z } from "zod";
import { component, shape, timestamp } from "./component.ts";
import { executionStatus, suspension, time } from "./execution-schemas.ts";

export const serverStatus = component("ServerStatus", () =>
  z.object({
    version: z.string(),
    store: z.object({
      name: z.string(),
      bytes: z.int().nullable(),
      nodes: z
        .int()
        .nullable()
        .describe("Processes that share it; null where only one can, or it is not known"),
    }),
    slots: z.object({
      running: z.int().nullable().describe("Of everyone; null for a caller that sees only its own"),
      limit: z.int(),
    }),
    suspended: z.int().nullable().describe("Of everyone; null for a caller that sees only its own"),
    search: z.boolean().describe("Whether executions can be found by their values"),
    mcp: z.boolean().describe("Whether clients of MCP are served at /mcp"),
    authentication: z.boolean(),
    user: z.looseObject({ id: z.string().optional() }).nullable().describe("The caller"),
  }),
);

export const inboxItem = component("InboxItem", () =>
  z
    .object({
      executionId: z.string(),
      workflowId: z.string().describe("Empty for a tool call of a chat"),
      agentId: z.string().nullable().describe("The agent of a chat; null for a workflow"),
      conversationId: z.string().nullable(),
      approvalId: z
        .string()
        .nullable()
        .describe("The id for `POST /api/conversations/:conversationId/decisions`; null for a workflow"),
      userId: z.string().nullable(),
      startAt: timestamp(),
      suspension: suspension(),
      example: z.unknown().optional().describe("Resume data that the suspension accepts"),
    })
    .describe("An open suspension with its execution"),
);
export const inbox = component("Inbox", () =>
  z.object({
    items: z.array(inboxItem()),
    more: z.boolean().describe("Whether there are further pages"),
    nextCursor: z.string().nullable().describe("Null on the last page"),
    counts: z
      .object({
        total: z.int(),
        workflows: z.array(z.object({ workflowId: z.string(), count: z.int() })),
        chats: z.int().describe("Tool calls that wait in chats"),
        agents: z
          .array(z.object({ agentId: z.string(), count: z.int() }))
          .describe("The same by the agent of the chat"),
        complete: z.boolean().describe("False when there were more than were counted"),
      })
      .optional()
      .describe(
        "All suspensions that the caller may see, with any filters but `events`; only with `counts=true`",
      ),
  }),
);

export const inboxQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    agentId: z.string().describe("Only tool calls that wait in chats with this agent").optional(),
    cursor: z.string().describe("`nextCursor` of the page before").optional(),
    limit: z.coerce.number().int().min(1).max(500).describe("How many on a page; 200 by default").optional(),
    text: z
      .string()
      .max(200)
      .describe("Only those with this text in their reason, data, ids, user or recipient")
      .optional(),
    events: z
      .enum(["true", "false"])
      .transform((events) => events === "true")
      .describe(
        "`true`: only those that an event ends; `false`: only those that wait for a person; all by default",
      )
      .optional(),
    order: z
      .enum(["oldest", "deadline", "user"])
      .describe("`oldest` by default; the others sort the oldest 10 000")
      .optional(),
    counts: z.enum(["true", "false"]).describe("Whether to count them; `false` by default").optional(),
  }),
);

const durations = shape(() => ({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
}));

export const activityPoint = component("ActivityPoint", () =>
  z.object({
    at: timestamp(),
    started: z.int(),
    completed: z.int(),
    failed: z.int(),
    suspended: z.int(),
    cancelled: z.int(),
    p50: z
      .number()
      .nullable()
      .describe("Milliseconds from start to end of the executions that completed in it; null without any"),
  }),
);
export const activity = component("Activity", () =>
  z.object({
    from: timestamp(),
    to: timestamp(),
    points: z.array(activityPoint()),
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
    answers: z
      .object({
        count: z.int(),
        p50: z.number().nullable().describe("Milliseconds from the question to its answer; null without any"),
      })
      .nullable()
      .describe("Answers to suspensions of workflows, without deadlines; null where they are not counted"),
    complete: z.boolean().describe("False when there were more executions than were counted"),
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
    runs: z
      .int()
      .nullable()
      .describe("At most this many runs are counted, the newest; null when all of them are"),
    steps: z.array(
      z.object({
        stepPath: z.string(),
        completed: z.int(),
        failed: z.int(),
        retried: z.int(),
        tokens: z.int().describe("Of its agents, in the completed runs of the step"),
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

export const nodes = component("Nodes", () =>
  z.object({
    nodes: z
      .array(
        z.object({
          id: z.string().describe("A random name: another one after each start"),
          isSelf: z.boolean().describe("It is the process that responds"),
          isAlive: z
            .boolean()
            .describe("False when its lease has ended, and others have not taken over its executions"),
          executions: z
            .int()
            .describe("Executions and chats that it has claimed; suspended and sleeping ones do not count"),
          process: z
            .object({
              name: z.string().describe("The name of its host"),
              pid: z.int(),
              startedAt: timestamp(),
              seenAt: timestamp().describe("When it described itself"),
              running: z.int().describe("Executions that have a slot"),
              limit: z.int().describe("How many may run: `limits.running`"),
              definitions: z
                .string()
                .describe("Equal for processes whose workflows have the same ids and steps"),
              cpu: z.number().nullable().describe("Seconds of processor time per second, lately"),
              memory: z.int().describe("Resident memory in bytes"),
            })
            .nullable()
            .describe("Its own description; null where the store keeps none"),
        }),
      )
      .describe("At most 200, live ones first"),
    unowned: z.int().describe("Executions and chats that have work to do and wait for a process"),
  }),
);

export const definitionHistory = component("DefinitionHistory", () =>
  z.object({
    definitions: z
      .array(
        z.object({
          definition: z.string().describe("The fingerprint of its steps"),
          isCurrent: z.boolean().describe("It is the one of the process that responds"),
          firstAt: timestamp().nullable().describe("When a process first registered it; null: not known"),
          lastAt: timestamp().nullable().describe("When one last did, to within an hour; null: not known"),
          open: z.int().describe("Running and suspended executions that last ran with it"),
          steps: z.array(z.string()).nullable().describe("The ids of its top-level steps; null: not known"),
        }),
      )
      .describe("The last 20 that were registered, the most recent first"),
    complete: z.boolean().describe("False when more than 500 executions of a status are open"),
  }),
);

export const failureGroups = component("FailureGroups", () =>
  z.object({
    from: timestamp(),
    to: timestamp(),
    groups: z.array(
      z.object({
        id: z
          .string()
          .describe("For the query parameter `group`; the same for as long as it fails in this way"),
        workflowId: z.string(),
        stepPath: z.string().nullable().describe("The step that failed; null when none did"),
        name: z.string().describe("The name of the error"),
        message: z.string().describe("Its message with `#` in place of ids and numbers"),
        count: z.int(),
        firstAt: timestamp(),
        lastAt: timestamp(),
        executionId: z.string().describe("The one that failed last"),
        definitions: z
          .array(z.string())
          .describe("The definitions that they last ran with, at most 20, that of the newest first"),
        executions: z
          .array(
            z.object({
              executionId: z.string(),
              at: timestamp().describe("When it failed"),
              definition: z.string().nullable().describe("Null: not known"),
            }),
          )
          .optional()
          .describe("The newest 100; only with `group`"),
      }),
    ),
    complete: z.boolean().describe("False when there were more failures than were read"),
  }),
);

export const failuresQuery = shape(() =>
  z.object({
    workflowId: z.string().optional(),
    group: z.string().describe("Only the group of this id, with its executions").optional(),
    from: time("Executions that started at this time or later; a day ago by default"),
    to: time("Before this time; now by default"),
  }),
);

export const executionChange = component("ExecutionChange", () =>
  z.object({
    executionId: z.string(),
    workflowId: z
      .string()
      .describe("Empty for a chat whose tool calls wait for approval, or do not any more"),
    userId: z.string().nullable(),
    status: executionStatus().optional().describe("Absent when it has not changed"),
    stepPath: z.string().optional(),
    sequence: z.int(),
    timestamp: timestamp(),
  }),
);
export const changeEvent = component("ChangeEvent", () =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("open").describe("The feed is open: read the current state, then follow") }),
    z.object({
      type: z.literal("changes"),
      executions: z.array(executionChange()),
      missed: z.int().describe("How many further executions have changed, too many to list"),
    }),
  ]),
);

export const workflowExample = component("WorkflowExample", () =>
  z.object({
    input: z.unknown().describe("An input that the workflow accepts"),
    calls: z.array(z.string()).describe("Shell commands"),
  }),
);
