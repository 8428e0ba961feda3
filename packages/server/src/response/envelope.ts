// The envelope of every JSON response, and the one place where an error becomes a response.
import { AndanteError, type Logger } from "@andante/core";
import { StoreOpenError, StoreUnavailableError } from "@andante/core/errors";
import { isNoted, redactText } from "@andante/core/internal";
import { HTTPException } from "hono/http-exception";
import { InvalidTokenError } from "../errors/auth-errors.ts";
import { type HeaderFields, RouteResponse } from "./route-response.ts";

/** The header with the execution's id on every response about an execution. */
export const executionIdHeader = "x-execution-id";

/** The header with the code of an error, for programs; the message is for people. */
export const errorCodeHeader = "x-error-code";

/** The W3C header with the trace context. */
export const traceparentHeader = "traceparent";

/** The headers of every JSON response. */
export const jsonHeaders: HeaderFields = { "content-type": "application/json" };

/** A successful response. */
export function success(data: unknown, status = 200, headers: HeaderFields = {}): RouteResponse {
  const body = JSON.stringify({ success: true, data: data ?? null });
  return new RouteResponse(body, { status, headers: { ...jsonHeaders, ...headers } });
}

/** The response to any error. Only messages of AndanteErrors are sent; other errors get a generic message. */
export function failure(error: unknown, logger: Logger): RouteResponse {
  // Hono's own middleware and validators report a bad request with this class.
  if (error instanceof HTTPException && error.status < 500)
    return envelope(redactText(error.message), error.status, {});
  if (!(error instanceof AndanteError)) {
    if (!isNoted(error)) logger.error({ err: error }, "a request failed unexpectedly");
    return envelope("Internal server error", 500, {});
  }
  // The location of the store and the reason of the failure are only for the host.
  if (error instanceof StoreOpenError) return failure(new StoreUnavailableError({ cause: error }), logger);
  if (error.status >= 500 && !isNoted(error))
    logger.warn({ err: error, executionId: error.executionId }, "a request failed");
  const headers: Record<string, string> = { [errorCodeHeader]: error.code };
  if (error.executionId !== undefined) headers[executionIdHeader] = headerText(error.executionId);
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return envelope(messageOf(error), error.status, headers);
}

/** The message without secrets. After "token:" any quoted word looks like a secret, so only the reason is redacted. */
function messageOf(error: AndanteError): string {
  return error instanceof InvalidTokenError
    ? `Invalid token: ${redactText(error.reason)}`
    : redactText(error.message);
}

/** An id encoded for a header: ids come from callers, and headers allow no line breaks or non-ASCII letters. */
export function headerText(value: string): string {
  return isPlain.test(value) ? value : encodeURIComponent(value);
}

/** Matches texts that encodeURIComponent would not change. */
const isPlain = /^[\w.!~*'()-]*$/;

function envelope(message: string, status: number, headers: HeaderFields): RouteResponse {
  const body = JSON.stringify({ success: false, error: message });
  return new RouteResponse(body, { status, headers: { ...jsonHeaders, ...headers } });
}
