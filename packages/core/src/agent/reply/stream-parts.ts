// The parts of a streamed reply, fit for callers: failures in safe words, nothing of the provider's requests and headers.
import type { TextStreamPart, ToolSet } from "ai";
import { AndanteError, ReplyStoppedError, ReplyTimeoutError, ShuttingDownError } from "../../errors/index.ts";
import { plainJson } from "../../values/json.ts";
import { toAgentError, toolErrorText } from "../call/model-failure.ts";
import { noteFailure } from "../call/note-failure.ts";
import type { Operation } from "../call/operation.ts";
import { endForWait, waitChunk, waitsForTools } from "../messages/wait-part.ts";

export type Part = TextStreamPart<ToolSet>;
export type ApprovalRequest = Extract<Part, { type: "tool-approval-request" }>;

const notValid = "The call is not valid";
const end = { done: true as const, value: undefined };

type Open = () => PromiseLike<{ readonly stream: ReadableStream<Part> }>;
type Sign = (request: ApprovalRequest) => Promise<string>;

/**
 * The parts of the stream that `open` begins. A failure is the last part, whether the stream reported it or broke. `sign`
 * signs approval requests; without it they have no signature.
 */
export function safeParts(open: Open, operation: Operation, sign?: Sign): AsyncIterableIterator<Part> {
  return new SafeParts(open, operation, sign);
}

/** Not a generator, like the other iterators that every delta passes: each costs three promises a delta. */
class SafeParts implements AsyncIterableIterator<Part> {
  readonly #open: Open;
  readonly #operation: Operation;
  readonly #sign: Sign | undefined;
  /** Calls that the AI SDK refused: the error that follows them is not a tool's. */
  readonly #refused = new Set<string>();
  #reader: ReadableStreamDefaultReader<Part> | undefined;
  #isOver = false;
  /** The parts that follow the end of the stream. */
  #rest: Part[] = [];
  #waiting: ((result: IteratorResult<Part>) => void) | undefined;

  constructor(open: Open, operation: Operation, sign: Sign | undefined) {
    this.#open = open;
    this.#operation = operation;
    this.#sign = sign;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Not to be called while an earlier call waits. */
  next(): Promise<IteratorResult<Part>> {
    const following = this.#rest.shift();
    if (following !== undefined) return Promise.resolve({ done: false, value: following });
    if (this.#isOver) return Promise.resolve(end);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      void this.#read();
    });
  }

  async return(): Promise<IteratorResult<Part>> {
    this.#finish();
    return end;
  }

  /** Reads the next part. Never rejects. */
  async #read(): Promise<void> {
    try {
      this.#reader ??= (await this.#open()).stream.getReader();
      const { done, value: part } = await this.#reader.read();
      if (done || this.#isOver) return this.#finish();
      if ((part.type === "abort" || part.type === "error") && waitsForTools(this.#operation))
        return this.#endForWait();
      const safe = this.#safe(part);
      this.#settle({ done: false, value: safe instanceof Promise ? await safe : safe });
      // After an error the AI SDK still reports how the broken step "finished".
      if (part.type === "error") this.#finish();
    } catch (error) {
      this.#settle({ done: false, value: { type: "error", error: replyFailure(error, this.#operation) } });
      this.#finish();
    }
  }

  /** A reply that waits ends in order. */
  #endForWait(): void {
    for (const wait of this.#operation.loop?.waits ?? []) this.#operation.writeChunk(waitChunk(wait));
    const [first, ...rest] = endForWait;
    this.#rest = rest;
    if (first !== undefined) this.#settle({ done: false, value: first });
    this.#finish();
  }

  #safe(part: Part): Part | Promise<Part> {
    if (part.type !== "tool-approval-request" || this.#sign === undefined)
      return safe(part, this.#operation, this.#refused);
    return this.#sign(part).then((signature) => ({ ...part, signature }));
  }

  #settle(result: IteratorResult<Part>): void {
    this.#waiting?.(result);
    this.#waiting = undefined;
  }

  #finish(): void {
    this.#isOver = true;
    this.#reader?.cancel().catch(() => undefined);
    this.#settle(end);
  }
}

function safe(part: Part, operation: Operation, refused: Set<string>): Part {
  switch (part.type) {
    case "error":
      return isLeft(operation)
        ? aborted(operation)
        : { type: "error", error: replyFailure(part.error, operation) };
    case "abort":
      if (operation.signal.aborted || operation.loop?.left !== undefined) return aborted(operation);
      // No caller stopped it: one of the agent's timeouts did.
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

/** True when the reply stops here and has not failed: another process continues it, or its record is complete. */
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
