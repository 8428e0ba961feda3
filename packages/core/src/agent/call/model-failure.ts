// Errors of replies, in words for the caller. The provider's own words are the cause, for the log.
import {
  APICallError,
  DownloadError,
  InvalidDataContentError,
  InvalidPromptError,
  InvalidToolApprovalError,
  InvalidToolApprovalSignatureError,
  MissingToolResultsError,
  NoObjectGeneratedError,
  RetryError,
  ToolCallNotFoundForApprovalError,
} from "ai";
import {
  AndanteError,
  InputValidationError,
  ModelBusyError,
  ModelFailedError,
  ObjectMismatchError,
  PublicError,
  ReplyTimeoutError,
} from "../../errors/index.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { withoutSecrets } from "../../values/redact-text.ts";

/** The error for the caller, of any value that a call of an agent threw. */
export function toAgentError(thrown: unknown, signal: AbortSignal): AndanteError {
  // The abort's own reason counts, not the error that the call made of it.
  if (signal.aborted && signal.reason instanceof AndanteError) return signal.reason;
  if (thrown instanceof AndanteError) return thrown;
  if (thrown instanceof LoopLeftError) return toAgentError(thrown.reason, signal);
  // The caller has not left, so one of the agent's timeouts did it.
  if (isAbort(thrown) && !signal.aborted) return new ReplyTimeoutError({ cause: thrown });
  if (NoObjectGeneratedError.isInstance(thrown))
    return new ObjectMismatchError({ detail: "it has another shape than the agent's output" });
  const busy = busyProvider(thrown);
  if (busy !== undefined) return busy;
  const detail = problemOfMessages(thrown);
  return detail === undefined
    ? new ModelFailedError({ cause: thrown })
    : new InputValidationError({ detail: `input: ${detail}` });
}

/** The provider's 429, also after the AI SDK's own retries; with the time that it names. */
function busyProvider(thrown: unknown): ModelBusyError | undefined {
  const refused = refusalOf(thrown);
  if (refused === undefined) return undefined;
  const seconds = secondsUntil(refused, Date.now());
  return new ModelBusyError({
    retryAfter: Math.min(Math.max(seconds || 1, 1), maxRetryAfter),
    cause: thrown,
  });
}

/** The milliseconds since 1970 until which a provider's 429 refuses further calls; undefined when it names no time. */
export function refusedUntil(thrown: unknown, now: number): number | undefined {
  const refused = refusalOf(thrown);
  const seconds = refused && secondsUntil(refused, now);
  return seconds === undefined || Number.isNaN(seconds) ? undefined : now + Math.max(seconds, 1) * 1000;
}

function refusalOf(thrown: unknown): APICallError | undefined {
  const refused = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
  return APICallError.isInstance(refused) && refused.statusCode === 429 ? refused : undefined;
}

/** The time of `Retry-After`; NaN without one. */
function secondsUntil({ responseHeaders }: APICallError, now: number): number {
  const after = responseHeaders?.["retry-after"] ?? "";
  return /^\d+$/.test(after) ? Number(after) : Math.ceil((Date.parse(after) - now) / 1000);
}

/** Seconds: a header does not make a client wait longer. */
const maxRetryAfter = 3600;

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && (thrown.name === "AbortError" || thrown.name === "TimeoutError");
}

/** Errors that the AI SDK finds in the messages, before any provider is called. */
function problemOfMessages(thrown: unknown): string | undefined {
  if (InvalidPromptError.isInstance(thrown))
    return "the messages are not a conversation that a model can continue";
  if (MissingToolResultsError.isInstance(thrown)) return "a tool call has no result";
  if (InvalidDataContentError.isInstance(thrown)) return "a file is not a data URL in base64";
  if (DownloadError.isInstance(thrown)) return "a file could not be downloaded from its URL";
  if (InvalidToolApprovalSignatureError.isInstance(thrown))
    return "an approval was not requested by this server";
  if (InvalidToolApprovalError.isInstance(thrown) || ToolCallNotFoundForApprovalError.isInstance(thrown)) {
    return "an approval does not belong to a tool call";
  }
  return undefined;
}

/** The words of a stream about a failed reply. Its errors are ours by now, those of tools are strings. */
export function replyErrorText(error: unknown): string {
  if (error instanceof AndanteError) return withoutSecrets(error.message);
  return typeof error === "string" ? error : "The reply failed";
}

/** The words of a stream about a failed tool: the host's own words only when it threw a `PublicError`. */
export function toolErrorText(thrown: unknown): string {
  return thrown instanceof PublicError ? withoutSecrets(thrown.message) : "The tool failed";
}
