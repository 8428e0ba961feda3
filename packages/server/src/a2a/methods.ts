// The methods of the protocol for one agent.
import type { z } from "zod";
import { parse } from "../request/parse.ts";
import type { A2aCall, TaskSource } from "./a2a-call.ts";
import { A2aError } from "./a2a-errors.ts";
import { agentTasks } from "./agent-tasks.ts";
import {
  listParams,
  type MessageIn,
  onePushParams,
  type PushIn,
  pushListParams,
  pushParams,
  sendParams,
  taskParams,
} from "./params.ts";
import { checkPush, createPush, listPushes, readPush, removePush } from "./push-methods.ts";
import { hasEnded, type Message, statusOf, type Task, viewTask } from "./task.ts";
import { settled, type Update, updatesOf } from "./updates.ts";
import { workflowTasks } from "./workflow-tasks.ts";

/** A result, or the updates of a stream. */
export type Answer = { readonly result: unknown } | { readonly updates: AsyncGenerator<Update, undefined> };
type Method = (call: A2aCall, params: unknown) => Promise<Answer>;

const read = <Params>(schema: z.ZodType<Params>, params: unknown) => parse(schema, params ?? {}, "params");
const sourceOf = ({ agent }: A2aCall): TaskSource => (agent.kind === "agent" ? agentTasks : workflowTasks);
const pageLength = 50;

export const methods: Readonly<Record<string, Method>> = {
  SendMessage: async (call, params) => {
    const { message, configuration } = read(sendParams, params);
    const sent = await send(call, message, configuration?.taskPushNotificationConfig);
    if (!("status" in sent)) return { result: { message: sent } };
    const signal = AbortSignal.any([call.http.req.raw.signal, AbortSignal.timeout(call.options.wait)]);
    const source = sourceOf(call);
    const task =
      configuration?.returnImmediately === true ? sent : await settled(sent, { call, source, signal });
    return { result: { task: viewTask(task, { historyLength: configuration?.historyLength }) } };
  },

  SendStreamingMessage: async (call, params) => {
    const { message, configuration } = read(sendParams, params);
    const sent = await send(call, message, configuration?.taskPushNotificationConfig);
    return { updates: "status" in sent ? follow(call, sent, "settled") : only({ message: sent }) };
  },

  SubscribeToTask: async (call, params) => {
    const task = await sourceOf(call).read(call, read(taskParams, params).id);
    if (hasEnded(task)) throw new A2aError("UNSUPPORTED_OPERATION", "The task has ended");
    return { updates: follow(call, task, "ended") };
  },

  GetTask: async (call, params) => {
    const { id, historyLength } = read(taskParams, params);
    return { result: viewTask(await sourceOf(call).read(call, id), { historyLength }) };
  },

  ListTasks: async (call, params) => {
    const given = read(listParams, params);
    const { contextId, status, pageSize = pageLength, pageToken: cursor, historyLength } = given;
    const { statusTimestampAfter: after, includeArtifacts = false } = given;
    const state = status === "TASK_STATE_UNSPECIFIED" ? undefined : status;
    const page = await sourceOf(call).list(call, { contextId, state, limit: pageSize, cursor });
    const tasks = page.tasks.filter(
      (task) =>
        (state === undefined || task.status.state === state) &&
        (after === undefined || Date.parse(task.status.timestamp) >= Date.parse(after)),
    );
    const shown = tasks.map((task) => viewTask(task, { historyLength, includeArtifacts }));
    const nextPageToken = page.next ?? "";
    return { result: { tasks: shown, nextPageToken, pageSize, totalSize: tasks.length } };
  },

  CancelTask: async (call, params) => {
    const { id } = read(taskParams, params);
    const source = sourceOf(call);
    const task = await source.read(call, id);
    if (hasEnded(task) || !(await source.cancel(call, task)))
      throw new A2aError("TASK_NOT_CANCELABLE", "The task cannot be cancelled");
    const canceled = await source.read(call, id).catch((error: unknown) => {
      if (!(error instanceof A2aError)) throw error;
      // A message that was taken back is not kept.
      return { ...task, status: statusOf(task, "TASK_STATE_CANCELED", new Date().toISOString(), "") };
    });
    return { result: viewTask(canceled, {}) };
  },

  CreateTaskPushNotificationConfig: async (call, params) => {
    await checkPush(call);
    const { taskId, ...push } = read(pushParams, params);
    await checkPush(call, push);
    return { result: await createPush(call, await sourceOf(call).read(call, taskId), push) };
  },

  GetTaskPushNotificationConfig: async (call, params) => {
    await checkPush(call);
    const { taskId, id } = read(onePushParams, params);
    return { result: await readPush(call, await sourceOf(call).read(call, taskId), id) };
  },

  ListTaskPushNotificationConfigs: async (call, params) => {
    await checkPush(call);
    const { taskId } = read(pushListParams, params);
    const configs = await listPushes(call, await sourceOf(call).read(call, taskId));
    return { result: { configs, nextPageToken: "" } };
  },

  DeleteTaskPushNotificationConfig: async (call, params) => {
    await checkPush(call);
    const { taskId, id } = read(onePushParams, params);
    await removePush(call, await sourceOf(call).read(call, taskId), id);
    return { result: {} };
  },

  GetExtendedAgentCard: async () => {
    throw new A2aError("UNSUPPORTED_OPERATION", "There is no extended card");
  },
};

/** Begins a task, or answers the question of one. */
async function send(call: A2aCall, message: MessageIn, push: PushIn | undefined): Promise<Task | Message> {
  if (push !== undefined) await checkPush(call, push);
  const sent = await begin(call, message);
  if (push !== undefined && "status" in sent) await createPush(call, sent, push);
  return sent;
}

async function begin(call: A2aCall, message: MessageIn): Promise<Task | Message> {
  const source = sourceOf(call);
  const { taskId, contextId } = message;
  if (taskId === undefined) return source.start(call, message);
  const task = await source.read(call, taskId);
  if (contextId !== undefined && contextId !== task.contextId)
    throw new A2aError("INVALID_PARAMS", "message.contextId: not the context of the task");
  if (task.status.state !== "TASK_STATE_INPUT_REQUIRED") {
    const problem = hasEnded(task) ? "has ended" : "does not wait for an answer";
    throw new A2aError("UNSUPPORTED_OPERATION", `The task ${problem}`);
  }
  await source.answer(call, task, message);
  return source.read(call, taskId);
}

function follow(call: A2aCall, task: Task, until: "settled" | "ended") {
  return updatesOf(task, { call, source: sourceOf(call), until, signal: call.http.req.raw.signal });
}

async function* only(update: Update): AsyncGenerator<Update, undefined> {
  yield update;
}
