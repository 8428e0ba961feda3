// A call of an agent as a tool: its reply as text, or a task while the reply is made in a conversation.
import { ConversationNotFoundError, InputValidationError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import { askAgent, startReply, textOf, visibleReply } from "../exposed/replies.ts";
import type { McpCall } from "./call.ts";
import { type Result, textResult } from "./results.ts";
import { createdTask, type ReplyId, replyTaskId } from "./task-shape.ts";

type Fields = Readonly<Record<string, unknown>>;

export async function callAgent(call: McpCall, agentId: string, given: Fields): Promise<Result> {
  const { input, conversationId } = given;
  if (typeof input !== "string") throw new InputValidationError({ detail: "input: expected a string" });
  if (conversationId !== undefined && typeof conversationId !== "string")
    throw new InputValidationError({ detail: "conversationId: expected a string" });
  const options = conversationId === undefined ? {} : { conversationId };
  const startAt = new Date().toISOString();
  const started = call.supportsTasks ? await startOwn(call, agentId, input, options) : undefined;
  if (started !== undefined) return settleReply(call, { agentId, ...started, startAt });
  return replyResult(await askAgent(call, agentId, input, options), conversationId);
}

/** Undefined in a conversation that began with another agent: an agent shows no task of that one. */
async function startOwn(...[call, agentId, input, options]: Parameters<typeof startReply>) {
  try {
    return await startReply(call, agentId, input, options, { ownConversation: true });
  } catch (error) {
    if (!(error instanceof ConversationNotFoundError)) throw error;
    return undefined;
  }
}

async function settleReply(call: McpCall, reply: ReplyId): Promise<Result> {
  const { agents } = call.service.andante;
  const drain = async () => {
    const { userId } = call.caller;
    const owner = userId === undefined ? {} : { userId };
    const chunks = await agents.attach(reply.agentId, reply.conversationId, owner);
    for await (const _ of chunks ?? []);
  };
  await withTimeout(drain(), call.options.wait);
  const state = await readReply(call, reply);
  return state.status === "done" || state.status === "none"
    ? state.result
    : createdTask(replyTaskId(reply), reply.startAt);
}

/** The reply behind a task, which the caller may see. */
export async function readReply(call: McpCall, { conversationId, messageId }: ReplyId) {
  const { status, agentId, asked, queued, ...reply } = await visibleReply(call, conversationId, messageId);
  const result =
    status === "none"
      ? textResult("The reply could not be made", true)
      : replyResult(textOf(reply), conversationId);
  return { status, agentId, asked, queued, result };
}

function replyResult(text: string, conversationId: string | undefined): Result {
  const structuredContent = { text, ...(conversationId !== undefined && { conversationId }) };
  return { content: [{ type: "text", text }], structuredContent };
}

export const agentInput: Fields = {
  type: "object",
  properties: {
    input: { type: "string", description: "The message to the agent" },
    conversationId: { type: "string", description: "A conversation to continue. Default: none" },
  },
  required: ["input"],
};

export const agentOutput: Fields = {
  type: "object",
  properties: { text: { type: "string" }, conversationId: { type: "string" } },
  required: ["text"],
};
