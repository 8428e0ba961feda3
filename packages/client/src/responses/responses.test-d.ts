// The client's types of responses are those of the server's schemas, which its API description is made of.
import type { ExecutionResult as CoreResult, ExecutionState as CoreState } from "@andante/core";
import { describe, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type * as agents from "../../../server/src/schemas/agent-schemas.ts";
import type * as executions from "../../../server/src/schemas/execution-schemas.ts";
import type * as logs from "../../../server/src/schemas/log-schemas.ts";
import type * as overview from "../../../server/src/schemas/overview-schemas.ts";
import type * as traces from "../../../server/src/schemas/trace-schemas.ts";
import type {
  AgentDetail,
  AgentSummary,
  Conversation,
  ConversationPage,
  MessagePage,
  TextReply,
} from "./agents.ts";
import type {
  ExecutionPage,
  ExecutionResult,
  ExecutionState,
  SuspendResult,
  Suspension,
  WorkflowDetail,
  WorkflowExample,
  WorkflowSummary,
} from "./executions.ts";
import type {
  Activity,
  ChangeEvent,
  Inbox,
  LogRecord,
  ServerStatus,
  StepActivity,
  Trace,
  TracePage,
} from "./observability.ts";

/** What a schema returns, as nobody may change it. */
type Sent<Shape extends () => z.ZodType> = Frozen<z.output<ReturnType<Shape>>>;
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

describe("equal", () => {
  test("workflows and executions", () => {
    expectTypeOf<Sent<typeof executions.workflowSummary>>().toEqualTypeOf<Frozen<WorkflowSummary>>();
    expectTypeOf<Omit<Sent<typeof executions.workflowDetail>, "steps">>().toEqualTypeOf<
      Omit<Frozen<WorkflowDetail>, "steps">
    >();
    expectTypeOf<Sent<typeof executions.suspension>>().toEqualTypeOf<Frozen<Suspension>>();
    expectTypeOf<Sent<typeof executions.suspendResult>>().toEqualTypeOf<Frozen<SuspendResult>>();
    expectTypeOf<Sent<typeof executions.executionPage>>().toEqualTypeOf<Frozen<ExecutionPage>>();
    expectTypeOf<Sent<typeof overview.workflowExample>>().toEqualTypeOf<Frozen<WorkflowExample>>();
  });

  test("agents and conversations", () => {
    expectTypeOf<Sent<typeof agents.agentList>>().toEqualTypeOf<readonly Frozen<AgentSummary>[]>();
    expectTypeOf<Sent<typeof agents.agentDetail>>().toEqualTypeOf<Frozen<AgentDetail>>();
    expectTypeOf<Sent<typeof agents.textReply>>().toEqualTypeOf<Frozen<TextReply>>();
    expectTypeOf<Sent<typeof agents.conversation>>().toEqualTypeOf<Frozen<Conversation>>();
    expectTypeOf<Sent<typeof agents.conversationPage>>().toEqualTypeOf<Frozen<ConversationPage>>();
    expectTypeOf<Sent<typeof agents.messagePage>>().toEqualTypeOf<Frozen<MessagePage>>();
  });

  test("what is observed", () => {
    expectTypeOf<Sent<typeof overview.serverStatus>>().toEqualTypeOf<Frozen<ServerStatus>>();
    expectTypeOf<Sent<typeof overview.inbox>>().toEqualTypeOf<Frozen<Inbox>>();
    expectTypeOf<Sent<typeof overview.activity>>().toEqualTypeOf<Frozen<Activity>>();
    expectTypeOf<Sent<typeof overview.stepActivity>>().toEqualTypeOf<Frozen<StepActivity>>();
    expectTypeOf<Sent<typeof logs.logRecords>>().toEqualTypeOf<readonly Frozen<LogRecord>[]>();
    expectTypeOf<Sent<typeof traces.tracePage>>().toEqualTypeOf<Frozen<TracePage>>();
    expectTypeOf<Sent<typeof traces.trace>>().toEqualTypeOf<Frozen<Trace>>();
  });
});

describe("unions where a schema has optional fields", () => {
  test("the result and the state of an execution fit their schemas, and core's own types", () => {
    expectTypeOf<ExecutionResult>().toExtend<Sent<typeof executions.executionResult>>();
    expectTypeOf<ExecutionState>().toExtend<Sent<typeof executions.executionState>>();
    expectTypeOf<CoreResult<{ n: number }>>().toExtend<ExecutionResult<{ n: number }>>();
    expectTypeOf<CoreState<{ n: number }, string>>().toExtend<ExecutionState<{ n: number }, string>>();
  });

  test("a change", () => {
    expectTypeOf<ChangeEvent>().toExtend<Sent<typeof overview.changeEvent>>();
  });
});
