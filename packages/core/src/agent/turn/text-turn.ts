// A complete reply as text.
import { messageOfReply, type TextReply, viewReply } from "../reply/text-reply.ts";
import type { Turn } from "./turn.ts";

/** Those who ask the same again in the conversation get this one. */
export function textReply(turn: Turn): Promise<TextReply> {
  const reply = turn.run(async () => {
    const result = await turn.generate();
    await turn.complete(messageOfReply(turn.messageId, result));
    return viewReply(result, turn.operation.usage);
  });
  turn.shareText(reply);
  return reply;
}
