// A complete reply as text.
import { ReplyStoppedError } from "../../errors/index.ts";
import { chatChunk } from "../reply/chat-chunk.ts";
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
  return turn.run(async () => viewReply(await turn.generate(), turn.operation.usage));
}

/** Read as a chat reads it, so that the conversation keeps the same message, also of a reply that breaks off. */
function keptText(turn: Turn): Promise<TextReply> {
  const builder = new MessageBuilder(turn);
  const steps = new StepCollector();
  return turn.run(
    async () => {
      for await (const part of turn.parts()) {
        if (part.type === "error") throw part.error;
        if (part.type === "abort") throw whyStopped(turn);
        const chunk = chatChunk(part, turn);
        if (chunk !== undefined) builder.add(chunk);
        steps.add(part);
      }
      await turn.complete(await builder.finish());
      return steps.reply(turn.operation.usage);
    },
    () => builder.finish(),
  );
}

function whyStopped({ operation: { signal, loop } }: Turn): unknown {
  return signal.aborted ? signal.reason : (loop?.left?.reason ?? new ReplyStoppedError());
}
