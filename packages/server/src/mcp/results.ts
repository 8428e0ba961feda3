// Results of tools in the protocol's words: the result of an execution, and errors that a model or a person can read.
import { AndanteError, type ExecutionState, type Logger } from "@andante/core";
import { isNoted, redactText } from "@andante/core/internal";
import { isObject } from "../is-object.ts";
import type { Sdk } from "./sdk.ts";

/** A result as the SDK sends it. */
export type Result = Record<string, unknown>;

export type ExecutionOutcome = Pick<
  ExecutionState,
  "executionId" | "status" | "result" | "error" | "suspension"
>;

/** A text for the model. */
export function textResult(text: string, isError = false): Result {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}

/** A value, for the model as JSON and for programs as an object. */
export function valueResult(value: unknown): Result {
  const structured = isObject(value) ? value : { result: value ?? null };
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return { content: [{ type: "text", text }], structuredContent: structured };
}

/** The result of an execution that has ended. */
export function endResult({ executionId, status, result, error }: ExecutionOutcome): Result {
  if (status === "completed") return valueResult(result);
  if (status === "cancelled") return textResult(`Execution ${executionId} was cancelled`, true);
  return textResult(`${error ?? "Failed to execute workflow"} (execution ${executionId})`, true);
}

/** For clients that cannot be asked: the place where a person decides. */
export function waitingResult(outcome: ExecutionOutcome, ways: string): Result {
  const { executionId, suspension } = outcome;
  const { reason = "", suspensionId, data, resumeSchema } = suspension ?? {};
  const structuredContent = {
    executionId,
    status: "suspended",
    suspension: { suspensionId, reason, data, resumeSchema },
    decide: ways,
  };
  const because = reason === "" ? "" : `: ${reason}`;
  const text = `Execution ${executionId} waits for a decision${because}. Do not call the tool again. ${ways}`;
  return { content: [{ type: "text", text }], structuredContent: definedOf(structuredContent) };
}

/** Without fields that are undefined, which a schema does not allow. */
function definedOf(value: unknown): Result {
  return JSON.parse(JSON.stringify(value));
}

/** The error of a call as a result that the model reads; others are errors of the protocol. */
export function toolFailure(error: unknown, sdk: Sdk, logger: Logger): Result {
  if (error instanceof AndanteError && error.status < 500) return textResult(redactText(error.message), true);
  throw protocolError(error, sdk, logger);
}

/** The protocol's error. Only messages of AndanteErrors are sent. */
export function protocolError(error: unknown, { ProtocolError, ProtocolErrorCode }: Sdk, logger: Logger) {
  if (error instanceof ProtocolError) return error;
  if (error instanceof AndanteError && error.code !== "store-open") {
    if (error.status >= 500 && !isNoted(error)) logger.warn({ err: error }, "a request of MCP failed");
    const { code, status, retryAfter } = error;
    const kind = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    return new ProtocolError(kind, redactText(error.message), { code, retryAfter });
  }
  if (!isNoted(error)) logger.error({ err: error }, "a request of MCP failed unexpectedly");
  return new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
}
