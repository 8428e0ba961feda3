// The parts of a streamed reply, fit for callers: failures in safe words, nothing of the provider's requests and headers.
import type { TextStreamPart, ToolSet } from "ai";
import { AndanteError, ReplyStoppedError, ReplyTimeoutError, ShuttingDownError } from "../../errors/index.ts";
import { toAgentError, toolErrorText } from "../call/model-failure.ts";
import { noteFailure } from "../call/note-failure.ts";
import type { Operation } from "../call/operation.ts";
import type { DeltaReader, DeltaShortcut, ReplyDelta } from "../durable/delta-shortcut.ts";
import { plainJson } from "./plain-json.ts";

export type Part = TextStreamPart<ToolSet>;
export type ApprovalRequest = Extract<Part, { type: "tool-approval-request" }>;

const notValid = "The call is not valid";
const end = { done: true as const, value: undefined };

export interface SafePartsOptions {
  /** Signs approval requests. Default: they have no signature. */
  readonly sign?: ((request: ApprovalRequest) => Promise<string>) | undefined;
  /** Where text comes from that goes past the stream. Default: nowhere. */
  readonly shortcut?: DeltaShortcut | undefined;
}

/** The parts of the stream that `open` begins. A failure is the last part, whether the stream reported it or broke. */
export function safeParts(
  open: () => PromiseLike<{ readonly stream: ReadableStream<Part> }>,
  operation: Operation,
  options: SafePartsOptions = {},
): AsyncIterableIterator<Part> {
  return new SafeParts(open, operation, options);
}

/** Not a generator, like the other iterators that every delta passes: each costs three promises a delta. */
class SafeParts implements AsyncIterableIterator<Part>, DeltaReader {
  readonly #open: Parameters<typeof safeParts>[0];
  readonly #operation: Operation;
  readonly #options: SafePartsOptions;
  /** Calls that the AI SDK refused: what follows them as an error is not a tool's. */
  readonly #refused = new Set<string>();
  #reader: ReadableStreamDefaultReader<Part> | undefined;
  #isReading = false;
  #isOver = false;
  readonly #untaken: IteratorResult<Part>[] = [];
  #waiting: ((result: IteratorResult<Part>) => void) | undefined;

  constructor(open: Parameters<typeof safeParts>[0], operation: Operation, options: SafePartsOptions) {
    this.#open = open;
    this.#operation = operation;
    this.#options = options;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Not to be called while an earlier call waits. */
  next(): Promise<IteratorResult<Part>> {
    const untaken = this.#untaken.shift();
    if (untaken !== undefined) {
      this.#options.shortcut?.wake();
      return Promise.resolve(untaken);
    }
    if (this.#isOver) return Promise.resolve(end);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      if (!this.#isReading) void this.#read();
    });
  }

  async return(): Promise<IteratorResult<Part>> {
    this.#finish();
    return end;
  }

  get hasUntaken(): boolean {
    return this.#untaken.length > 0;
  }

  deliver(delta: ReplyDelta): void {
    this.#tell({ done: false, value: delta });
  }

  /** The next part of the stream that is not told yet. Never rejects. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      this.#reader ??= await this.#opened();
      let part: Part;
      do {
        const { done, value } = await this.#reader.read();
        if (done || this.#isOver) return this.#finish();
        part = value;
      } while (isDelta(part) && this.#options.shortcut?.isTold(part));
      const safe = this.#safe(part);
      // A delta is told at once: from now on the next one may go ahead.
      this.#tell({ done: false, value: safe instanceof Promise ? await safe : safe });
      // After an error the AI SDK still reports how the broken step "finished".
      if (part.type === "error") this.#finish();
    } catch (error) {
      this.#tell({ done: false, value: { type: "error", error: replyFailure(error, this.#operation) } });
      this.#finish();
    } finally {
      this.#isReading = false;
    }
  }

  async #opened(): Promise<ReadableStreamDefaultReader<Part>> {
    const result = await this.#open();
    this.#options.shortcut?.open(result, this);
    return result.stream.getReader();
  }

  #safe(part: Part): Part | Promise<Part> {
    const { sign } = this.#options;
    if (part.type !== "tool-approval-request" || sign === undefined)
      return safe(part, this.#operation, this.#refused);
    return sign(part).then((signature) => ({ ...part, signature }));
  }

  #tell(result: IteratorResult<Part>): void {
    if (this.#isOver) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#untaken.push(result);
    else waiting(result);
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.shortcut?.close();
    this.#reader?.cancel().catch(() => undefined);
    this.#waiting?.(end);
    this.#waiting = undefined;
  }
}

function isDelta(part: Part): part is Extract<Part, { type: "text-delta" | "reasoning-delta" }> {
  return part.type === "text-delta" || part.type === "reasoning-delta";
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
