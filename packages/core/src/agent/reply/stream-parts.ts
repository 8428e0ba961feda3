// The parts of a streamed reply, fit for callers: failures in safe words, nothing of the provider's requests and headers.
import type { TextStreamPart, ToolSet } from "ai";
import { AndanteError, ReplyStoppedError, ReplyTimeoutError, ShuttingDownError } from "../../errors/index.ts";
import { toAgentError, toolErrorText } from "../call/model-failure.ts";
import { noteFailure } from "../call/note-failure.ts";
import type { Operation } from "../call/operation.ts";
import { plainJson } from "./plain-json.ts";

export type Part = TextStreamPart<ToolSet>;
export type ApprovalRequest = Extract<Part, { type: "tool-approval-request" }>;

const notValid = "The call is not valid";
const end = { done: true as const, value: undefined };

/**
 * The parts of the stream that `open` begins, approval requests with the signature that `sign` makes. A failure is the last part, whether the stream reported it or broke.
 *
 * Not a generator, like the other iterators that every delta passes: each costs three promises a delta.
 */
export function safeParts(
  open: () => PromiseLike<{ readonly stream: ReadableStream<Part> }>,
  operation: Operation,
  sign?: (request: ApprovalRequest) => Promise<string>,
): AsyncIterableIterator<Part> {
  let reader: ReadableStreamDefaultReader<Part> | undefined;
  let over = false;
  /** Calls that the AI SDK refused: what follows them as an error is not a tool's. */
  const refused = new Set<string>();
  const finish = () => {
    over = true;
    reader?.cancel().catch(() => undefined);
    return end;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return end;
      try {
        reader ??= (await open()).stream.getReader();
        const { done, value } = await reader.read();
        if (done) return finish();
        // After an error the AI SDK still reports how the broken step "finished".
        if (value.type === "error") finish();
        if (value.type === "tool-approval-request" && sign !== undefined) {
          return { done: false, value: { ...value, signature: await sign(value) } };
        }
        return { done: false, value: safe(value, operation, refused) };
      } catch (error) {
        finish();
        return { done: false, value: { type: "error", error: replyFailure(error, operation) } };
      }
    },
    return: async () => finish(),
  };
}

function safe(part: Part, operation: Operation, refused: Set<string>): Part {
  switch (part.type) {
    case "error":
      return isLeft(operation)
        ? aborted(operation)
        : { type: "error", error: replyFailure(part.error, operation) };
    case "abort":
      if (operation.signal.aborted || operation.loop?.left !== undefined) return aborted(operation);
      // Nobody stopped it: one of the agent's timeouts did.
      return { type: "error", error: replyFailure(new ReplyTimeoutError(), operation) };
    case "tool-error":
      if (refused.has(part.toolCallId)) return { ...part, error: notValid };
      operation.logger.warn({ err: part.error, toolName: part.toolName }, "a tool of the agent failed");
      return { ...part, error: toolErrorText(part.error) };
    case "tool-call":
      if (!("error" in part) || part.error === undefined) return part;
      refused.add(part.toolCallId);
      return { ...part, error: notValid };
    case "tool-result":
      return { ...part, output: plainJson(part.output) };
    default:
      return part;
  }
}

/** True when the reply stops here and has not failed: another process continues it, or what is recorded is all of it. */
function isLeft({ loop }: Operation): boolean {
  const reason = loop?.left?.reason;
  return reason instanceof ShuttingDownError || reason instanceof ReplyStoppedError;
}

function aborted({ signal, loop }: Operation): Part {
  const reason: unknown = signal.aborted ? signal.reason : loop?.left?.reason;
  return reason instanceof AndanteError ? { type: "abort", reason: reason.message } : { type: "abort" };
}

/** The error for the caller; the log gets the cause. */
export function replyFailure(thrown: unknown, operation: Operation): AndanteError {
  const error = toAgentError(thrown, operation.signal);
  noteFailure(error, operation);
  return error;
}
