// Replies of an agent as tasks: a context is a conversation that began with the agent, and a task the reply to one of its
// messages.
import { setTimeout } from "node:timers/promises";
import { type Andante, AndanteError } from "@andante/core";
import { ConversationNotFoundError } from "@andante/core/errors";
import type { ReplyQuestion, ReplyState } from "@andante/core/internal";
import { rowOf } from "../exposed/inner-call.ts";
import {
  agentOfConversation,
  askAgent,
  startReply,
  stopReply,
  textOf,
  visibleReply,
} from "../exposed/replies.ts";
import { isObject } from "../is-object.ts";
import { type A2aCall, type TaskSource, whileOpen } from "./a2a-call.ts";
import { A2aError, taskNotFound } from "./a2a-errors.ts";
import type { PartIn } from "./params.ts";
import { questionIn } from "./questions.ts";
import { type Message, type Part, statusOf, type Task } from "./task.ts";

/** Milliseconds until a reply that waits, or that another process makes, is read again. */
const pause = 1000;
/** Messages among which the last one of the user is looked for. */
const lastAmong = 10;

export const agentTasks: TaskSource = {
  read: async (call, taskId) => {
    const { conversationId, messageId } = placeOf(taskId);
    const reply = await replyOf(call, taskId);
    const mayAnswer =
      reply.questions.length > 0 && (await call.may("conversations.decide", { conversationId }));
    return taskOf(conversationId, reply, messageId, mayAnswer);
  },

  start: async (call, message) => {
    const { id } = call.agent;
    const { contextId: conversationId, messageId } = message;
    const input = [{ id: messageId, role: "user", parts: message.parts.map(inputOf) }];
    const options = conversationId === undefined ? {} : { conversationId };
    const started = await startReply(call, id, input, options, { ownConversation: true }).catch(
      (error: unknown) => {
        if (!(error instanceof ConversationNotFoundError)) throw error;
        throw new A2aError(
          "INVALID_PARAMS",
          "message.contextId: the context belongs to another agent or user",
        );
      },
    );
    if (started === undefined) {
      const text = await askAgent(call, id, input, options);
      const contextId = conversationId === undefined ? {} : { contextId: conversationId };
      return { messageId: `${messageId}:reply`, role: "ROLE_AGENT", parts: [{ text }], ...contextId };
    }
    const taskId = taskIdOf(started.conversationId, started.messageId);
    return agentTasks.read(call, taskId).catch((error: unknown) => {
      if (!(error instanceof A2aError)) throw error;
      // Its message is kept in a moment.
      return workingTask(taskId, started.conversationId);
    });
  },

  answer: async (call, task, message) => {
    const { questionId } = questionIn(task, message);
    const { conversationId } = placeOf(task.id);
    const { questions } = await replyOf(call, task.id);
    const question = questions.find(({ suspensionId }) => suspensionId === questionId);
    if (question === undefined) throw new A2aError("UNSUPPORTED_OPERATION", "The question was answered");
    const answer = message.parts.map((part) => ("data" in part ? part.data : part.text))[0];
    const params = { conversationId };
    if (question.approvalId === null)
      return void (await call.ask(rowOf("resumeTool"), {
        params,
        body: { suspensionId: questionId, resumeData: answer },
      }));
    if (!isObject(answer) || typeof answer.approved !== "boolean")
      throw new A2aError("INVALID_PARAMS", "message.parts: expected data with `approved`, true or false");
    const { approved, reason } = answer;
    const body = { approvalId: question.approvalId, approved, ...(reason !== undefined && { reason }) };
    await call.ask(rowOf("decideApproval"), { params, body });
  },

  cancel: async (call, task) => {
    if (task.status.state !== "TASK_STATE_WORKING" && task.status.state !== "TASK_STATE_INPUT_REQUIRED")
      return false;
    const { conversationId, messageId } = placeOf(task.id);
    const { queued } = await replyOf(call, task.id);
    const params = { id: call.agent.id, conversationId };
    if (!queued) {
      const stopped = await stopReply(call, call.agent.id, conversationId);
      return isObject(stopped) && stopped.stopped === true;
    }
    await call.ask(rowOf("withdrawMessage"), { params: { ...params, messageId } });
    return true;
  },

  list: async (call, { contextId, limit, cursor }) => {
    if (contextId !== undefined) {
      const isOurs = (await agentOfConversation(call, contextId)) === call.agent.id;
      return isOurs ? tasksIn(call, contextId, limit, cursor) : { tasks: [], next: undefined };
    }
    const query = { agentId: call.agent.id, limit, ...(cursor !== undefined && { cursor }) };
    const page = await call.ask(rowOf("listConversations"), { params: {}, query });
    const found =
      isObject(page) && Array.isArray(page.conversations) ? page.conversations.filter(isObject) : [];
    const tasks: Task[] = [];
    for (const { conversationId } of found) {
      const newest = await tasksIn(call, String(conversationId), lastAmong, undefined, 1);
      tasks.push(...newest.tasks);
    }
    return { tasks, next: nextOf(page) };
  },

  signs: async function* (call, task, signal) {
    const { conversationId } = placeOf(task.id);
    const { userId } = call.caller;
    const owner = userId === undefined ? {} : { userId };
    while (!signal.aborted) {
      yield {};
      const { status, queued } = await replyOf(call, task.id);
      const chunks =
        status === "running" && !queued
          ? await call.service.andante.agents.attach(call.agent.id, conversationId, owner)
          : undefined;
      if (chunks === undefined) await setTimeout(pause, undefined, { signal }).catch(() => undefined);
      else
        for await (const chunk of whileOpen(chunks, signal))
          if (chunk.type === "text-delta") yield { text: chunk.delta };
    }
  },
};

/** The tasks of a conversation, the newest first; at most `most` of the page. */
async function tasksIn(call: A2aCall, conversationId: string, limit: number, cursor?: string, most = limit) {
  const query = { order: "newest", limit, ...(cursor !== undefined && { cursor }) };
  const page = await call.ask(rowOf("listMessages"), { params: { conversationId }, query });
  const messages = isObject(page) && Array.isArray(page.messages) ? page.messages.filter(isObject) : [];
  const asked = messages.filter(({ role }) => role === "user").slice(0, most);
  const tasks: Task[] = [];
  for (const { id } of asked) tasks.push(await agentTasks.read(call, taskIdOf(conversationId, String(id))));
  return { tasks, next: nextOf(page) };
}

function nextOf(page: unknown): string | undefined {
  return isObject(page) && typeof page.nextCursor === "string" ? page.nextCursor : undefined;
}

function taskIdOf(conversationId: string, messageId: string): string {
  return [conversationId, messageId].map(encodeURIComponent).join("/");
}

function placeOf(taskId: string): { readonly conversationId: string; readonly messageId: string } {
  try {
    const [conversationId = "", messageId = "", ...rest] = taskId.split("/").map(decodeURIComponent);
    if (messageId !== "" && rest.length === 0) return { conversationId, messageId };
  } catch {
    // No id of a task.
  }
  throw taskNotFound(taskId);
}

async function replyOf(call: A2aCall, taskId: string): Promise<ReplyState> {
  const { conversationId, messageId } = placeOf(taskId);
  const reply = await visibleReply(call, conversationId, messageId).catch((error: unknown) => {
    if (error instanceof AndanteError && [400, 404].includes(error.status)) throw taskNotFound(taskId);
    throw error;
  });
  if (reply.asked?.role !== "user" || reply.agentId !== call.agent.id) throw taskNotFound(taskId);
  return reply;
}

/** The task as its owner sees it who may answer. */
export async function peekReply(andante: Andante, taskId: string): Promise<Task> {
  const { conversationId, messageId } = placeOf(taskId);
  const reply = await andante.agents.reply(conversationId, messageId, {});
  if (reply.asked === undefined) throw taskNotFound(taskId);
  return taskOf(conversationId, reply, messageId, true);
}

function taskOf(contextId: string, reply: ReplyState, messageId: string, mayAnswer: boolean): Task {
  const id = taskIdOf(contextId, messageId);
  const { status, message, asked, questions } = reply;
  const askedAt = asked?.createdAt ?? new Date(0).toISOString();
  const history = [asked, message].flatMap((each) =>
    each === undefined ? [] : [messageOf(id, contextId, each)],
  );
  const text = textOf(reply);
  const artifacts = text === "" ? [] : [{ artifactId: "reply", parts: [{ text }] }];
  const of = { id, contextId };
  const task = (state: Task["status"]): Task => ({ ...of, status: state, artifacts, history });
  if (status === "none")
    return task(statusOf(of, "TASK_STATE_FAILED", askedAt, "The reply could not be made"));
  if (status === "done") {
    const at = message?.createdAt ?? askedAt;
    if (message?.partial !== true) return task(statusOf(of, "TASK_STATE_COMPLETED", at, ""));
    return task(statusOf(of, "TASK_STATE_CANCELED", at, "The reply was stopped before its end"));
  }
  if (!mayAnswer || questions.length === 0) return task(statusOf(of, "TASK_STATE_WORKING", askedAt, ""));
  const at = message?.createdAt ?? askedAt;
  return task(statusOf(of, "TASK_STATE_INPUT_REQUIRED", at, "", questions.map(questionOf)));
}

function workingTask(id: string, contextId: string): Task {
  const status = statusOf({ id, contextId }, "TASK_STATE_WORKING", new Date().toISOString(), "");
  return { id, contextId, status, artifacts: [], history: [] };
}

function questionOf({ suspensionId: questionId, reason, data, resumeSchema }: ReplyQuestion) {
  return {
    ...{ questionId, reason },
    ...(data !== undefined && { data }),
    ...(resumeSchema && { schema: resumeSchema }),
  };
}

function messageOf(
  taskId: string,
  contextId: string,
  { id, role, parts }: NonNullable<ReplyState["asked"]>,
): Message {
  const shown = parts.flatMap((part): Part[] => {
    if (part.type === "text") return [{ text: part.text }];
    if (part.type !== "file") return [];
    const [, raw] = /^data:[^,]*;base64,(.*)$/s.exec(part.url) ?? [];
    const content = raw === undefined ? { url: part.url } : { raw };
    return [
      {
        ...content,
        mediaType: part.mediaType,
        ...(part.filename !== undefined && { filename: part.filename }),
      },
    ];
  });
  return {
    messageId: id,
    role: role === "user" ? "ROLE_USER" : "ROLE_AGENT",
    // A message has at least one part.
    parts: shown.length === 0 ? [{ text: "" }] : shown,
    ...{ contextId, taskId },
  };
}

/** A part as the AI SDK takes it. */
function inputOf({ text, raw, url, mediaType, filename, ...others }: PartIn): object {
  if (text !== undefined) return { type: "text", text };
  if ("data" in others) return { type: "text", text: JSON.stringify(others.data) };
  if (mediaType === undefined)
    throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", "message.parts: a file needs its mediaType");
  const address = url ?? `data:${mediaType};base64,${raw}`;
  return { type: "file", mediaType, url: address, ...(filename !== undefined && { filename }) };
}
