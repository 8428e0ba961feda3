// Makes the summary of older messages beside a reply. Its call is recorded in the turn, so that a crash makes no second one.
import type { ToolSet, UIMessage } from "ai";
import type { KeptSummary } from "../../store/conversation-store.ts";
import { uuid } from "../../values/uuid.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";
import { operationInside } from "../call/tool-context.ts";
import { type DueSummary, type KeptMessage, summaryRequest } from "../conversation/compaction.ts";
import { forModel } from "../messages/given-messages.ts";

export interface SummarizedReply {
  readonly agent: Pick<CallableAgent, "summarizer" | "convertDataPart">;
  readonly operation: Operation;
  /** The tools of the reply, by whose definitions the model reads their calls. */
  readonly tools: ToolSet;
  /** Aborted when the reply breaks off. */
  readonly signal: AbortSignal;
}

/** Never rejects: without a summary the model sees the window, and the next reply makes one. */
export async function makeSummary(
  { agent, operation, tools, signal }: SummarizedReply,
  { before, range, messages }: DueSummary,
): Promise<KeptSummary | undefined> {
  const { summarizer, convertDataPart } = agent;
  if (summarizer === undefined) return undefined;
  try {
    const request: UIMessage = { id: "", role: "user", parts: [{ type: "text", text: summaryRequest }] };
    const chat = [...messages.map(withoutFiles), request];
    const { text } = await summarizer.generate({
      messages: await forModel({ kind: "chat", messages: chat }, tools, convertDataPart),
      operation: operationInside(operation, "summary"),
      abortSignal: signal,
      tools: definitionsOf(tools, messages),
    });
    if (text.trim() === "") throw new TypeError("the model has written no summary");
    const message: KeptMessage = {
      id: uuid(),
      role: "system",
      parts: [{ type: "text", text }],
      summary: range,
    };
    return { messageId: message.id, before, body: JSON.stringify(message) };
  } catch (error) {
    if (!signal.aborted) operation.logger.warn({ err: error }, "a conversation could not be summarized");
    return undefined;
  }
}

/** Files are named, not read: a summary of hundreds of messages would load all of theirs. */
function withoutFiles(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    part.type === "file"
      ? { type: "text" as const, text: `[file ${part.filename ?? ""} ${part.mediaType}]` }
      : part,
  );
  return { ...message, parts };
}

/** The definitions of the tools that were called: some providers refuse calls of unknown tools. None of them can run. */
function definitionsOf(tools: ToolSet, messages: readonly UIMessage[]): ToolSet {
  const called = new Set(messages.flatMap(({ parts }) => parts.map(({ type }) => type)));
  const found = Object.entries(tools).filter(([name]) => called.has(`tool-${name}`));
  return Object.fromEntries(
    found.map(([name, { inputSchema, description }]) => [
      name,
      { inputSchema, ...(typeof description === "string" && { description }) },
    ]),
  );
}
