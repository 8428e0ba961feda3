// The one shape of every JSON response, and the one place where an error becomes one.
import { AndanteError, type Logger } from "@andante/core";
import { StoreOpenError, StoreUnavailableError } from "@andante/core/errors";
import { isNoted, redactText } from "@andante/core/internal";
import { HTTPException } from "hono/http-exception";
import { InvalidTokenError } from "../errors/auth-errors.ts";
import { type HeaderFields, RouteResponse } from "./route-response.ts";

/** The header that names the execution on every response about one. */
export const executionIdHeader = "x-execution-id";

/** The header with the code of an error, for programs: its message is for people. */
export const errorCodeHeader = "x-error-code";

/** The W3C header that names a place in a trace. */
export const traceparentHeader = "traceparent";

/** Of every JSON response. */
export const jsonHeaders: HeaderFields = { "content-type": "application/json" };

/** A successful response. */
export function success(data: unknown, status = 200, headers: HeaderFields = {}): RouteResponse {
  const body = JSON.stringify({ success: true, data: data ?? null });
  return new RouteResponse(body, { status, headers: { ...jsonHeaders, ...headers } });
}

/** The response to any error. Only our own messages are shown; of other errors the caller learns only that they happened. */
export function failure(error: unknown, logger: Logger): RouteResponse {
  // Hono's own middleware and validators say in this way what is wrong with a request.
  if (error instanceof HTTPException && error.status < 500)
    return envelope(redactText(error.message), error.status, {});
  if (!(error instanceof AndanteError)) {
    if (!isNoted(error)) logger.error({ err: error }, "a request failed unexpectedly");
    return envelope("Internal server error", 500, {});
  }
  // Where the store is, and why it cannot be opened, is for the host.
  if (error instanceof StoreOpenError) return failure(new StoreUnavailableError({ cause: error }), logger);
  if (error.status >= 500 && !isNoted(error))
    logger.warn({ err: error, executionId: error.executionId }, "a request failed");
  const headers: Record<string, string> = { [errorCodeHeader]: error.code };
  if (error.executionId !== undefined) headers[executionIdHeader] = headerText(error.executionId);
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return envelope(messageOf(error), error.status, headers);
}

/** The message without secrets. After "token:" any quoted word would look like one, so that reason is redacted alone. */
function messageOf(error: AndanteError): string {
  return error instanceof InvalidTokenError
    ? `Invalid token: ${redactText(error.reason)}`
    : redactText(error.message);
}

/** An id as a header can carry it: ids come from callers, and headers hold no line breaks or foreign letters. */
export function headerText(value: string): string {
  return isPlain.test(value) ? value : encodeURIComponent(value);
}

/** What encoding would leave as it is. */
const isPlain = /^[\w.!~*'()-]*$/;

function envelope(message: string, status: number, headers: HeaderFields): RouteResponse {
  const body = JSON.stringify({ success: false, error: message });
  return new RouteResponse(body, { status, headers: { ...jsonHeaders, ...headers } });
}
