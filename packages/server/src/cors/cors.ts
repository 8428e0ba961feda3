// Cross-origin rules in the contract's shape: the headers of a response, and responses to preflights.
import type { Logger } from "@andante/core";
import { checkOptionGroup, type KnownOptions } from "@andante/core/internal";
import type { Context, MiddlewareHandler } from "hono";
import { ForeignOriginError } from "../errors/request-errors.ts";
import { headerOf } from "../request/node-request.ts";
import { failure } from "../response/envelope.ts";
import type { HeaderFields } from "../response/route-response.ts";
import { isPlainCommand, isSameOrigin } from "./foreign-requests.ts";

export interface CorsOptions {
  /** Allowed origins: one, an array, or a function that returns the allowed origin or undefined. Default: `*`. */
  readonly origin?: string | readonly string[] | ((origin: string) => string | undefined);
  /** Headers that a request may have. Default: those that the preflight requests. */
  readonly allowHeaders?: readonly string[];
  /** Default: GET, HEAD, PUT, POST, DELETE, PATCH. */
  readonly allowMethods?: readonly string[];
  /** Headers that a script may read. Default: x-execution-id, x-error-code, location, retry-after. */
  readonly exposeHeaders?: readonly string[];
  /** Seconds that a browser may cache the response to a preflight. Default: the browser's default. */
  readonly maxAge?: number;
  /** Allow cookies and other credentials; needs an origin other than `*`. Default: false. */
  readonly credentials?: boolean;
}

const knownOptions: KnownOptions<CorsOptions> = {
  origin: true,
  allowHeaders: true,
  allowMethods: true,
  exposeHeaders: true,
  maxAge: true,
  credentials: true,
};

export interface Cors {
  /** Whether pages of some origins are refused. */
  readonly restricts: boolean;
  /** The headers of a response to a request from this origin. */
  headers(origin: string | undefined): HeaderFields;
  /** Both throw for a page of another site: when it connects, or sends a command without a preflight. */
  checkSocket(headers: Headers): void;
  checkRequest(http: Context): void;
  /** Responds to preflights and adds the headers to everything else. */
  readonly middleware: MiddlewareHandler;
}

const exposed = ["x-execution-id", "x-error-code", "location", "retry-after"];
const methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"];

/** No rules: the host sets them. */
export const noCors: Cors = {
  restricts: false,
  headers: () => ({}),
  checkSocket: () => undefined,
  checkRequest: () => undefined,
  middleware: (_, next) => next(),
};

export function createCors(options: CorsOptions = {}, logger: Logger): Cors {
  checkOptionGroup("cors", options, knownOptions, "an object, or false to leave it to the host");
  const { origin = "*", credentials = false } = options;
  const anyOrigin = origin === "*" || (Array.isArray(origin) && origin.includes("*"));
  if (credentials && anyOrigin) {
    logger.warn({}, "cors: credentials cannot be combined with origin *; the credentials header is left out");
  }
  const common: HeaderFields = {
    "access-control-expose-headers": (options.exposeHeaders ?? exposed).join(", "),
  };
  const forAnyone: HeaderFields = { ...common, "access-control-allow-origin": "*" };
  const withCredentials: HeaderFields = credentials ? { "access-control-allow-credentials": "true" } : {};
  const headers = (asked: string | undefined): HeaderFields => {
    if (anyOrigin) return forAnyone;
    const allowed = asked === undefined ? undefined : allowedOrigin(origin, asked);
    // The response depends on the origin, so a cache must store it by origin, also when the origin is refused.
    const vary = "Origin";
    if (!allowed) return { vary };
    if (allowed === "*") return { ...forAnyone, vary };
    return { ...common, ...withCredentials, "access-control-allow-origin": allowed, vary };
  };
  /** Throws when the browser reports a page of another site that the rule does not allow. */
  const refuseForeign = (given: Headers): void => {
    const asked = given.get("origin");
    if (anyOrigin || !comesFromPage(asked, given.get("sec-fetch-site"))) return;
    if (asked !== null && isSameOrigin(asked, given.get("host"))) return;
    const allowed = asked === null ? undefined : allowedOrigin(origin, asked);
    if (allowed !== "*" && (allowed === undefined || allowed !== asked))
      throw new ForeignOriginError({ origin: asked });
  };
  const checkRequest = ({ req }: Context): void => {
    if (!anyOrigin && isPlainCommand(req.method, headerOf(req, "content-type")))
      refuseForeign(req.raw.headers);
  };
  return {
    restricts: !anyOrigin,
    headers,
    checkSocket: refuseForeign,
    checkRequest,
    async middleware(http, next) {
      const known = headers(http.req.header("origin"));
      try {
        checkRequest(http);
      } catch (error) {
        // Returned, not thrown: the host's error handler must not change it.
        return failure(error, logger).toResponse(known);
      }
      const wanted = http.req.header("access-control-request-method");
      if (http.req.method === "OPTIONS" && wanted !== undefined) {
        const asked = http.req.header("access-control-request-headers");
        return new Response(null, { status: 204, headers: { ...known, ...preflight(options, asked) } });
      }
      await next();
      // Not on `http.res.headers`: the headers of a redirect or of a fetched response are immutable.
      for (const [name, value] of Object.entries(known))
        http.header(name, value, { append: name === "vary" });
      return undefined;
    },
  };
}

/** Whether a browser sent the request for a page of another site. Other programs send neither header. */
function comesFromPage(origin: string | null, fetchSite: string | null): boolean {
  return origin !== null || fetchSite === "cross-site" || fetchSite === "same-site";
}

function allowedOrigin(rule: NonNullable<CorsOptions["origin"]>, asked: string): string | undefined {
  if (typeof rule === "function") return rule(asked);
  const allowed = typeof rule === "string" ? [rule] : rule;
  return allowed.includes(asked) ? asked : undefined;
}

function preflight(options: CorsOptions, asked: string | undefined): HeaderFields {
  const allowHeaders = options.allowHeaders?.join(", ") ?? asked;
  return {
    "access-control-allow-methods": (options.allowMethods ?? methods).join(", "),
    ...(allowHeaders && { "access-control-allow-headers": allowHeaders }),
    ...(options.maxAge !== undefined && { "access-control-max-age": String(options.maxAge) }),
  };
}
