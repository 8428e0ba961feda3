// A complete reply as text.
import type { UIMessageChunk } from "ai";
import { ReplyStoppedError } from "../../errors/index.ts";
import { chatChunks } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import { StepCollector } from "../reply/step-collector.ts";
import { type TextReply, viewReply } from "../reply/text-reply.ts";
import type { Turn } from "./turn.ts";

/** Those who ask the same again in the conversation get this one. */
export function textReply(turn: Turn): Promise<TextReply> {
  const reply = turn.isKept ? keptText(turn) : plainText(turn);
  turn.shareText(reply);
  return reply;
}

function plainText(turn: Turn): Promise<TextReply> {
  return turn.run(async () => withOutput(turn, viewReply(await turn.generate(), turn.operation.usage)));
}

/** Read as a chat reads it, so that the conversation keeps the same message, also of a reply that breaks off. */
function keptText(turn: Turn): Promise<TextReply> {
  const builder = new MessageBuilder(turn);
  const steps = new StepCollector();
  const add = (chunk: UIMessageChunk) => builder.add(chunk);
  turn.operation.writer.readBy(add);
  return turn.run(
    async () => {
      for await (const part of turn.parts()) {
        if (part.type === "error") throw part.error;
        if (part.type === "abort") throw whyStopped(turn);
        chatChunks(part, turn, add);
        steps.add(part);
      }
      await turn.complete(await builder.finish());
      return withOutput(turn, steps.reply(turn.operation.usage));
    },
    () => builder.finish(),
  );
}

/** Why a reply that was aborted ended. */
export function whyStopped({ operation: { signal, loop } }: Turn): unknown {
  return signal.aborted ? signal.reason : (loop?.left?.reason ?? new ReplyStoppedError());
}

/** With the agent's `output` the text is read as that says. */
async function withOutput(turn: Turn, reply: TextReply): Promise<TextReply> {
  const { output } = turn;
  // A reply that waits for a tool has not been said yet.
  if (output === undefined || reply.finishReason === "tool-calls") return reply;
  const { text, usage, finishReason } = reply;
  const details = { inputTokenDetails: noInputDetails, outputTokenDetails: noOutputDetails };
  const response = { id: turn.messageId, timestamp: new Date(turn.now), modelId: "" };
  const context = { response, usage: { ...usage, ...details }, finishReason };
  return { ...reply, output: await output.parseCompleteOutput({ text }, context) };
}

const noInputDetails = { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined };
const noOutputDetails = { textTokens: undefined, reasoningTokens: undefined };
