// A call of an agent as a tool: its reply as text, or a task while the reply is made in a conversation.
import { InputValidationError, InvalidOptionError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import { optionsOf } from "../routes/agents.ts";
import { ownerFor } from "../routes/conversation-ids.ts";
import { type McpCall, rowOf } from "./call.ts";
import { type Result, textResult } from "./results.ts";
import { createdTask, type ReplyId, replyTaskId, taskNotFound } from "./task-shape.ts";

type Fields = Readonly<Record<string, unknown>>;

export async function callAgent(call: McpCall, agentId: string, given: Fields): Promise<Result> {
  const { input, conversationId } = given;
  if (typeof input !== "string") throw new InputValidationError({ detail: "input: expected a string" });
  if (conversationId !== undefined && typeof conversationId !== "string")
    throw new InputValidationError({ detail: "conversationId: expected a string" });
  const options = conversationId === undefined ? {} : { conversationId };
  const request = { params: { id: agentId }, body: { input, options } };
  const { agents } = call.service.andante;
  const ask = () =>
    call.perform(rowOf("generateText"), request, async (context) => {
      const { text } = await agents.text(agentId, input, optionsOf(context, options));
      return replyResult(text, conversationId);
    });
  if (!call.supportsTasks) return ask();
  const startAt = new Date().toISOString();
  try {
    const started = await call.perform(rowOf("generateText"), request, (context) => {
      const { signal: _, ...rest } = optionsOf(context, options);
      return agents.start(agentId, input, rest);
    });
    return await settleReply(call, { agentId, ...started, startAt });
  } catch (error) {
    // An agent that keeps no conversations has nothing that a task could be.
    if (error instanceof InvalidOptionError && conversationId === undefined) return ask();
    throw error;
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
export async function readReply(call: McpCall, reply: ReplyId) {
  const { conversationId, messageId } = reply;
  const { status, message } = await call.perform(
    rowOf("listMessages"),
    { params: { conversationId }, query: { replyTo: messageId } },
    (context) => {
      const owner = ownerFor(context);
      if (owner === undefined) throw taskNotFound(call.sdk, replyTaskId(reply));
      return context.andante.agents.reply(conversationId, messageId, owner);
    },
  );
  const text = (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const result =
    status === "none" ? textResult("The reply could not be made", true) : replyResult(text, conversationId);
  return { status, result };
}

/** Stops the reply. It is kept as far as it came. */
export async function stopReply(call: McpCall, { agentId, conversationId }: ReplyId): Promise<void> {
  await call.ask(rowOf("stopChat"), { params: { id: agentId, conversationId } });
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
