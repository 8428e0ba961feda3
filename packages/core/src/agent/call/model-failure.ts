// What went wrong with an answer, in words for the caller. The provider's own words stay behind as the cause.
import {
  DownloadError,
  InvalidPromptError,
  InvalidToolApprovalError,
  InvalidToolApprovalSignatureError,
  MissingToolResultsError,
  ToolCallNotFoundForApprovalError,
} from "ai";
import { AndanteError, InputValidationError, ModelFailedError, PublicError } from "../../errors/index.ts";

/** The error to answer with for whatever a call of an agent threw. */
export function toAgentError(thrown: unknown, signal: AbortSignal): AndanteError {
  // Whoever aborted has said why; what the call made of it does not matter.
  if (signal.aborted && signal.reason instanceof AndanteError) return signal.reason;
  if (thrown instanceof AndanteError) return thrown;
  const detail = problemOfMessages(thrown);
  return detail === undefined
    ? new ModelFailedError({ cause: thrown })
    : new InputValidationError({ detail: `input: ${detail}` });
}

/** Errors that the AI SDK finds in the messages, before any provider is asked. */
function problemOfMessages(thrown: unknown): string | undefined {
  if (InvalidPromptError.isInstance(thrown))
    return "the messages are no conversation that a model can continue";
  if (MissingToolResultsError.isInstance(thrown)) return "a tool call has no result";
  if (DownloadError.isInstance(thrown)) return "a file could not be loaded from its address";
  if (InvalidToolApprovalSignatureError.isInstance(thrown))
    return "an approval was not asked for by this server";
  if (InvalidToolApprovalError.isInstance(thrown) || ToolCallNotFoundForApprovalError.isInstance(thrown)) {
    return "an approval does not belong to a tool call";
  }
  return undefined;
}

/** What a stream says about a failed tool: the host's own words only when it threw a `PublicError`. */
export function toolErrorText(thrown: unknown): string {
  return thrown instanceof PublicError ? thrown.message : "The tool failed";
}
