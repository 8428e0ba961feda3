// The span of the host that is active where Andante is called: the http instrumentation's, or one of a caller in code.
import type { Context } from "@opentelemetry/api";
import { isRegistered, otelApi, spanKind, statusCode } from "./otel-api.ts";
import { formatTraceparent } from "./trace-ids.ts";

/** The W3C header of the active span; undefined where there is none, or no context manager is registered. */
export function activeTraceparent(): string | undefined {
  if (!isRegistered("context")) return undefined;
  const { context, isSpanContextValid, trace } = otelApi();
  const active = trace.getSpanContext(context.active());
  if (active === undefined || !isSpanContextValid(active)) return undefined;
  const { traceId, spanId, traceFlags } = active;
  return formatTraceparent({ traceId, spanId, sampled: (traceFlags & 1) === 1 });
}

/** A request, as far as its span shows it. */
export interface TracedRequest {
  readonly method: string;
  /** The pattern of the route: an address may contain a secret. */
  readonly route: string;
  header(name: string): string | undefined;
}

/**
 * Handles a request inside a span of the registered provider, up to the head of its response. A plain call where no provider
 * is registered, and where an instrumentation has made a span of the request already.
 */
export function inRequestSpan<Answer extends { readonly status: number }>(
  request: () => TracedRequest,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  if (!isRegistered("trace") || activeTraceparent() !== undefined) return handle();
  return inNewSpan(request(), handle);
}

async function inNewSpan<Answer extends { readonly status: number }>(
  { method, route, header }: TracedRequest,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  const { context, propagation, ROOT_CONTEXT, trace } = otelApi();
  const caller: Context = propagation.extract(ROOT_CONTEXT, undefined, {
    get: (_, name) => header(name),
    keys: () => [],
  });
  const attributes = { "http.request.method": method, "http.route": route };
  const tracer = trace.getTracer("@andante/server");
  const span = tracer.startSpan(`${method} ${route}`, { kind: spanKind.server, attributes }, caller);
  try {
    const answer = await context.with(trace.setSpan(caller, span), handle);
    span.setAttribute("http.response.status_code", answer.status);
    if (answer.status >= 500) span.setStatus({ code: statusCode.error });
    return answer;
  } finally {
    span.end();
  }
}
