// The methods of push notifications, and the state of a task as they send it.
import { randomUUID } from "node:crypto";
import type { Andante } from "@andante/core";
import { AndanteError } from "@andante/core";
import type { PushedTask, PushSettings, PushSource } from "@andante/core/internal";
import type { A2aCall } from "./a2a-call.ts";
import { A2aError } from "./a2a-errors.ts";
import { peekReply } from "./agent-tasks.ts";
import type { PushIn } from "./params.ts";
import { hasEnded, type Task } from "./task.ts";
import { peekExecution } from "./workflow-tasks.ts";

/** The header with the token of a configuration. */
const tokenHeader = "x-a2a-notification-token";

export function pushSource(andante: Andante, allowPrivate: boolean): PushSource {
  return {
    allowPrivate,
    describe: async ({ agentId, taskId }) => {
      const task = await (agentId === null
        ? peekExecution(andante, taskId)
        : peekReply(andante, taskId)
      ).catch((error: unknown) => {
        if (error instanceof A2aError || (error instanceof AndanteError && error.status === 404)) return;
        throw error;
      });
      if (task === undefined) return undefined;
      const { id, contextId, status } = task;
      // Without the words: who may read them is decided when they are asked for.
      const { state, timestamp } = status;
      const body = JSON.stringify({ statusUpdate: { taskId: id, contextId, status: { state, timestamp } } });
      return { body, isOver: hasEnded(task) };
    },
  };
}

/** Refuses pushes where they are off, and those that could never be made. */
export async function checkPush(call: A2aCall, given?: Pick<PushIn, "url">): Promise<void> {
  if (!call.options.push)
    throw new A2aError("PUSH_NOTIFICATION_NOT_SUPPORTED", "Push notifications are not supported");
  await call.permission({ action: "a2a.push" }).scopeOf({});
  if (given !== undefined) call.service.andante.deliveries.pushes.check(given);
}

export async function createPush(call: A2aCall, { id: taskId }: Task, given: PushIn): Promise<object> {
  const { id: pushId = randomUUID(), url, token, authentication } = given;
  const headers: Record<string, string> = { "content-type": "application/a2a+json", "user-agent": "andante" };
  if (token !== undefined) headers[tokenHeader] = token;
  if (authentication !== undefined) {
    const { scheme, credentials = "" } = authentication;
    headers.authorization = `${scheme} ${credentials}`.trimEnd();
  }
  const settings = { pushId, url, headers };
  await call.service.andante.deliveries.pushes.set(pushedTask(call, taskId), settings);
  return viewOf(taskId, settings);
}

export async function listPushes(call: A2aCall, { id: taskId }: Task): Promise<readonly object[]> {
  const found = await call.service.andante.deliveries.pushes.list(pushedTask(call, taskId));
  return found.map((each) => viewOf(taskId, each));
}

export async function readPush(call: A2aCall, { id: taskId }: Task, pushId: string): Promise<object> {
  const found = await call.service.andante.deliveries.pushes.list(pushedTask(call, taskId));
  const settings = found.find((each) => each.pushId === pushId);
  if (settings !== undefined) return viewOf(taskId, settings);
  throw new A2aError("TASK_NOT_FOUND", "The task has no such configuration");
}

export function removePush(call: A2aCall, { id: taskId }: Task, pushId: string): Promise<void> {
  return call.service.andante.deliveries.pushes.remove(pushedTask(call, taskId), pushId);
}

function pushedTask({ agent: { kind, id } }: A2aCall, taskId: string): PushedTask {
  return kind === "agent"
    ? { workflowId: "", agentId: id, taskId }
    : { workflowId: id, agentId: null, taskId };
}

/** Without its secrets, the token and the credentials. */
function viewOf(taskId: string, { pushId, url, headers }: PushSettings): object {
  const [scheme] = (headers.authorization ?? "").split(" ");
  return { id: pushId, taskId, url, ...(scheme && { authentication: { scheme } }) };
}
