// Cross-origin settings in the contract's shape, on Hono's middleware.
import type { Logger } from "@andante/core";
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

export interface CorsOptions {
  /** Allowed origins: one, a list, or a function that returns the allowed origin or undefined. Default: `*`. */
  readonly origin?: string | readonly string[] | ((origin: string) => string | undefined);
  /** Default: whatever the preflight asks for. */
  readonly allowHeaders?: readonly string[];
  /** Default: GET, HEAD, PUT, POST, DELETE, PATCH. */
  readonly allowMethods?: readonly string[];
  /** Default: x-execution-id, location, retry-after. */
  readonly exposeHeaders?: readonly string[];
  /** Seconds that a browser may keep a preflight's answer. Default: not said. */
  readonly maxAge?: number;
  /** Allow cookies and other credentials; needs an origin other than `*`. Default: false. */
  readonly credentials?: boolean;
}

const exposed = ["x-execution-id", "location", "retry-after"];
const methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"];

export function corsMiddleware(options: CorsOptions, logger: Logger): MiddlewareHandler {
  const { origin = "*", credentials = false, maxAge } = options;
  const anyOrigin = origin === "*" || (Array.isArray(origin) && origin.includes("*"));
  if (credentials && anyOrigin) {
    logger.warn({}, "cors: credentials cannot go with the origin *; the credentials header is left out");
  }
  return cors({
    origin: typeof origin === "function" ? (asked) => origin(asked) ?? null : toList(origin),
    allowMethods: [...(options.allowMethods ?? methods)],
    ...(options.allowHeaders && { allowHeaders: [...options.allowHeaders] }),
    exposeHeaders: [...(options.exposeHeaders ?? exposed)],
    ...(maxAge !== undefined && { maxAge }),
    credentials: credentials && !anyOrigin,
  });
}

function toList(origin: string | readonly string[]): string | string[] {
  if (typeof origin === "string") return origin;
  return origin.includes("*") ? "*" : [...origin];
}
