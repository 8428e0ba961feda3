// The chunk of the UI message stream that a part of an answer becomes.
import { toUIMessageChunk, type UIMessageChunk } from "ai";
import { AndanteError } from "../../errors/index.ts";
import type { Turn } from "../turn/turn.ts";
import type { Part } from "./stream-parts.ts";

/** Undefined for parts that chat clients do not see. */
export function chatChunk(part: Part, turn: Turn): UIMessageChunk | undefined {
  return toUIMessageChunk(part, {
    tools: turn.agent.tools,
    sendReasoning: true,
    sendSources: false,
    onError: wordsFor,
    responseMessageId: turn.messageId,
  });
}

/** Failures are our own errors by now, those of tools are texts. */
export function wordsFor(error: unknown): string {
  if (error instanceof AndanteError) return error.message;
  return typeof error === "string" ? error : "The answer failed";
}
