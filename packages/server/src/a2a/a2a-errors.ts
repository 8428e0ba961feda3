// The errors of the protocol, and those of the server in its words.
import { AndanteError, type Logger } from "@andante/core";
import { isNoted, redactText } from "@andante/core/internal";

const codes = {
  INVALID_REQUEST: -32_600,
  METHOD_NOT_FOUND: -32_601,
  INVALID_PARAMS: -32_602,
  INTERNAL: -32_603,
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

/** A refusal by a policy or a limit: the protocol leaves its code to the server. */
const refused = -32_000;

export class A2aError extends Error {
  readonly reason: keyof typeof codes;

  constructor(reason: keyof typeof codes, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function taskNotFound(taskId: string): A2aError {
  return new A2aError("TASK_NOT_FOUND", `Task ${taskId.slice(0, 200)} not found`);
}

/** An error of JSON-RPC. Only messages of AndanteErrors are sent. */
export function errorOf(error: unknown, logger: Logger): object {
  if (error instanceof A2aError)
    return { code: codes[error.reason], message: error.message, data: [info(error.reason)] };
  if (error instanceof AndanteError && error.code !== "store-open") {
    const { status, code, message, retryAfter } = error;
    if (status >= 500 && !isNoted(error)) logger.warn({ err: error }, "a request of A2A failed");
    const isRefusal = [403, 429, 503].includes(status);
    const kind = isRefusal ? refused : status < 500 ? codes.INVALID_PARAMS : codes.INTERNAL;
    const reason = code.replaceAll("-", "_").toUpperCase();
    const metadata = retryAfter === undefined ? {} : { retryAfter: String(retryAfter) };
    return { code: kind, message: redactText(message), data: [info(reason, "andante", metadata)] };
  }
  if (!isNoted(error)) logger.error({ err: error }, "a request of A2A failed unexpectedly");
  return { code: codes.INTERNAL, message: "Internal error", data: [info("INTERNAL")] };
}

function info(reason: string, domain = "a2a-protocol.org", metadata: Readonly<Record<string, string>> = {}) {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain, metadata };
}
