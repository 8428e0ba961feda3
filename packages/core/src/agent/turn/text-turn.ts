// A complete reply as text.
import type { FinishReason, UIMessageChunk } from "ai";
import { ReplyStoppedError } from "../../errors/index.ts";
import { type AgentUsage, countedTokens } from "../call/operation.ts";
import { chatChunks } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import type { Part } from "../reply/stream-parts.ts";
import { type StepView, type TextReply, viewCall, viewReply, viewResult } from "../reply/text-reply.ts";
import type { Turn } from "./turn.ts";

/** Callers that send the same message again in the conversation get the same reply. */
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

type Growing = {
  -readonly [Field in keyof StepView]: StepView[Field] extends readonly (infer Each)[]
    ? Each[]
    : StepView[Field];
};

/** Collects the steps of a streamed reply, for callers that get it as a whole. */
export class StepCollector {
  readonly #steps: Growing[] = [];
  #finishReason: FinishReason = "other";

  add(part: Part): void {
    if (part.type === "start-step") this.#steps.push(emptyStep());
    if (part.type === "finish") this.#finishReason = part.finishReason;
    const step = this.#steps.at(-1);
    if (step === undefined) return;
    switch (part.type) {
      case "text-delta":
        step.text += part.text;
        return;
      case "tool-call":
        step.toolCalls.push(viewCall(part));
        return;
      case "tool-result":
        if (part.preliminary !== true) step.toolResults.push(viewResult(part));
        return;
      case "finish-step":
        step.finishReason = part.finishReason;
        step.usage = countedTokens(part.usage);
        return;
      default:
      // The other parts have no place in a step.
    }
  }

  reply(usage: AgentUsage): TextReply {
    const steps = this.#steps;
    return {
      text: steps.at(-1)?.text ?? "",
      usage,
      finishReason: this.#finishReason,
      toolCalls: steps.flatMap((step) => step.toolCalls),
      toolResults: steps.flatMap((step) => step.toolResults),
      steps,
    };
  }
}

function emptyStep(): Growing {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { text: "", finishReason: "other", usage, toolCalls: [], toolResults: [] };
}
