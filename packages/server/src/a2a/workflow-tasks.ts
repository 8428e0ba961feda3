// Executions of a workflow as tasks: the input is the data of the message, a suspension is a question, and the result an artifact.
import { randomUUID } from "node:crypto";
import type { Andante, ExecutionState, StartOptions } from "@andante/core";
import { ExecutionNotFoundError } from "@andante/core/errors";
import {
  cancelExecution,
  type OpenSuspension,
  questionsFor,
  resumeSuspension,
  suspensionsOf,
  visibleState,
} from "../exposed/executions.ts";
import { rowOf } from "../exposed/inner-call.ts";
import { isObject } from "../is-object.ts";
import { startOptions } from "../routes/start-options.ts";
import { type A2aCall, type TaskSource, whileOpen } from "./a2a-call.ts";
import { A2aError, taskNotFound } from "./a2a-errors.ts";
import type { MessageIn } from "./params.ts";
import { questionIn } from "./questions.ts";
import { type Part, statusOf, type Task, type TaskState } from "./task.ts";

const statusIn: Readonly<Partial<Record<TaskState, ExecutionState["status"]>>> = {
  TASK_STATE_WORKING: "running",
  TASK_STATE_INPUT_REQUIRED: "suspended",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "error",
  TASK_STATE_CANCELED: "cancelled",
};

/** The events after which a task has another status. */
const turns = new Set(["workflow-suspended", "workflow-resumed", "workflow-result"]);

export const workflowTasks: TaskSource = {
  read: async (call, taskId) => {
    const state = await stateOf(call, taskId);
    return taskOf(state, await contextOf(call.service.andante, taskId), await questionsFor(call, state));
  },

  start: async (call, message) => {
    const { id } = call.agent;
    const { contextId = randomUUID() } = message;
    const input = valueIn(message);
    const options = { conversationId: contextId, tags: [tagOf(contextId)] };
    const request = { params: { id }, body: { input: input ?? null, options } };
    const { executionId } = await call.perform(rowOf("executeWorkflow"), request, (context) =>
      call.service.andante.start(id, input, startOptions<StartOptions>(context, options)),
    );
    return workflowTasks.read(call, executionId);
  },

  answer: async (call, task, message) => {
    const { questionId } = questionIn(task, message);
    await resumeSuspension(call, await stateOf(call, task.id), questionId, valueIn(message));
  },

  cancel: (call, task) => cancelExecution(call, task.id),

  list: async (call, { contextId, state, limit, cursor }) => {
    const status = state && statusIn[state];
    if (state !== undefined && status === undefined) return { tasks: [], next: undefined };
    const query = {
      workflowId: call.agent.id,
      limit,
      ...(status && { status }),
      ...(cursor !== undefined && { cursor }),
      ...(contextId !== undefined && { tag: tagOf(contextId) }),
    };
    const page = await call.ask(rowOf("listExecutions"), { params: {}, query });
    const rows = isObject(page) && Array.isArray(page.executions) ? page.executions.filter(isObject) : [];
    const tasks: Task[] = [];
    for (const { executionId } of rows) {
      const task = await workflowTasks.read(call, String(executionId)).catch((error: unknown) => {
        // Deleted since the page was read.
        if (!(error instanceof A2aError)) throw error;
      });
      if (task !== undefined) tasks.push(task);
    }
    const next = isObject(page) && typeof page.nextCursor === "string" ? page.nextCursor : undefined;
    return { tasks, next };
  },

  signs: async function* (call, task, signal) {
    const attached = await call.service.andante.attach(call.agent.id, task.id);
    for await (const { type } of attached === undefined ? [] : whileOpen(attached.events, signal))
      if (turns.has(type)) yield {};
    yield {};
  },
};

/** The mark of the executions of a context. */
function tagOf(contextId: string): string {
  return `a2a:${contextId}`;
}

async function stateOf(call: A2aCall, taskId: string): Promise<ExecutionState> {
  const state = await visibleState(call, taskId).catch((error: unknown) => {
    if (error instanceof ExecutionNotFoundError) throw taskNotFound(taskId);
    throw error;
  });
  if (state.workflowId !== call.agent.id) throw taskNotFound(taskId);
  return state;
}

/** The task as its owner sees it who may answer. */
export async function peekExecution(andante: Andante, taskId: string): Promise<Task> {
  const state = await andante.find(taskId);
  const open = suspensionsOf(state).filter(({ stepPath }) => stepPath !== undefined);
  return taskOf(state, await contextOf(andante, taskId), open);
}

async function contextOf(andante: Andante, taskId: string): Promise<string> {
  return (await andante.idsOf(taskId))?.conversationId ?? taskId;
}

function taskOf(state: ExecutionState, contextId: string, open: readonly OpenSuspension[]): Task {
  const { executionId: id, status, startAt, endAt, result, error, input, suspension, parked } = state;
  const of = { id, contextId };
  const sent = {
    messageId: `${id}:input`,
    role: "ROLE_USER",
    parts: [partOf(input)],
    contextId,
    taskId: id,
  } as const;
  const shared = { id, contextId, history: [sent], artifacts: [] };
  const settledAt = endAt ?? suspension?.suspendedAt ?? startAt;
  if (status === "completed")
    return {
      ...shared,
      status: statusOf(of, "TASK_STATE_COMPLETED", settledAt, ""),
      artifacts: [{ artifactId: "result", parts: [partOf(result)] }],
    };
  if (status === "error")
    return { ...shared, status: statusOf(of, "TASK_STATE_FAILED", settledAt, error ?? "The task failed") };
  if (status === "cancelled")
    return { ...shared, status: statusOf(of, "TASK_STATE_CANCELED", settledAt, "") };
  const questions = open.map(({ suspensionId, reason, data, resumeSchema }) => ({
    ...{ questionId: suspensionId, reason },
    ...(data !== undefined && { data }),
    ...(resumeSchema && { schema: resumeSchema }),
  }));
  if (questions.length > 0)
    return { ...shared, status: statusOf(of, "TASK_STATE_INPUT_REQUIRED", settledAt, "", questions) };
  const why = parked === undefined ? (suspension?.reason ?? "") : `Not runnable: ${parked.reason}`;
  return { ...shared, status: statusOf(of, "TASK_STATE_WORKING", settledAt, why) };
}

/** The data of a message, or its text. */
function valueIn({ parts }: MessageIn): unknown {
  const [first, ...others] = parts;
  if (first === undefined || others.length > 0 || (first.text === undefined && !("data" in first)))
    throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", "A workflow takes one part, with data or text");
  return "data" in first ? first.data : first.text;
}

function partOf(value: unknown): Part {
  return typeof value === "string" ? { text: value } : { data: value ?? null, mediaType: "application/json" };
}
