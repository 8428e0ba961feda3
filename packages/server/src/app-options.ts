// The options of createApp: what they mean, and which names are known.
import type { AndanteOptions } from "@andante/core";
import type { AgentRecord, KnownOptions, WorkflowRecord } from "@andante/core/internal";
import type { Hono, MiddlewareHandler } from "hono";
import type { Authorize } from "./auth/authorize.ts";
import type { AuthProvider, User } from "./auth/provider.ts";
import type { CorsOptions } from "./cors/cors.ts";

export interface AppOptions<W extends WorkflowRecord = WorkflowRecord, A extends AgentRecord = AgentRecord>
  extends AndanteOptions<W, A> {
  readonly limits?: AppLimits;
  /** Who may call: `jwtAuth({ … })` or a provider of your own. Default: none, everyone may call everything. */
  readonly auth?: AuthProvider;
  /** Decides who may do what, once `auth` has said who calls. Default: what reveals shows a caller its own. */
  readonly authorize?: Authorize;
  /** Cross-origin settings; false leaves them to `middleware`. Default: every origin (`*`). */
  readonly cors?: CorsOptions | false;
  /**
   * Host names that requests and sockets may be sent to (their `Host`), such as "api.example.com" or "localhost:3141";
   * without a port every port is meant. Others are a 403. Set it where browsers reach a server that is not public, against
   * DNS rebinding. Default: every host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Serves the console, a web application that shows all of this, under `/console`. Its files hold no data: where every
   * route needs a token, list `GET /console*` in `publicRoutes`. Default: true.
   */
  readonly console?: boolean;
  /**
   * Where the service is in the addresses of your site, such as "/ai": `Location`, `/doc`, the pages and the sockets go
   * by it, and requests are understood with it and without it. What you write in `publicRoutes` and in `configureApp`
   * comes after it. Default: the root.
   */
  readonly basePath?: string;
  /**
   * Compresses what built-in routes send from 2 KiB on, JSON, text, pages and scripts, with brotli or gzip as the client
   * accepts; never streams. Default: true.
   */
  readonly compression?: boolean;
  /**
   * How many proxies before the server add the address that they see to `X-Forwarded-For`, such as 1: callers without a
   * user share by that address (`limits.clientShare`). No client may reach the server past them, since it could write any
   * address. Default: 0, the address of the connection counts.
   */
  readonly trustProxy?: number;
  /** Runs before everything else, for built-in routes too. Default: none. */
  readonly middleware?: readonly MiddlewareHandler[];
  /**
   * Adds routes of your own, after authentication. One of the same path takes the place of a built-in route that the
   * contract does not name, such as `/health`. Default: none.
   */
  readonly configureApp?: (app: CustomApp) => void;
}

/** The Hono application as custom routes see it; `c.get("authenticatedUser")` is the caller. */
export type CustomApp = Hono<{ Variables: { authenticatedUser?: User; userId?: string } }>;

export type AppLimits = NonNullable<AndanteOptions["limits"]> & {
  /** Bytes of a request body; more is a 413. Default: 4 MiB. */
  readonly body?: number;
  /**
   * Bytes of a request body on routes of the host's own; more is a 413. A body of unknown length is read up to this
   * before the route is called, so a route that streams large bodies needs false: then it sets its own limit. Default:
   * as `body`.
   */
  readonly customBody?: number | false;
  /** WebSocket clients at once; more get a 503. 0 for none. Default: 1000. */
  readonly sockets?: number;
  /** Event streams at once, of executions and of agents; more get a 503, and nothing is started. Default: 1000. */
  readonly streams?: number;
  /** Exports of conversations at once; more get a 503. Default: 5. */
  readonly exports?: number;
  /** Lists, journals, counts, traces and logs that are read or wait to be read at once; more get a 503. Default: 1000. */
  readonly reads?: number;
  /**
   * The part of `sockets`, `streams`, `exports` and `reads` that one client keeps when all are taken: a user, or without
   * one an address (of IPv6 the first 64 bits). A client below its share then takes a place from the one that holds most
   * beyond its own. Above 0 and up to 1, which switches it off. Default: 0.1.
   */
  readonly clientShare?: number;
};

/** The names of createApp's options; `serve` adds its own. */
export const knownAppOptions: KnownOptions<AppOptions> = {
  workflows: true,
  agents: true,
  store: true,
  logger: true,
  logs: true,
  tracing: true,
  rollups: true,
  limits: true,
  retention: true,
  clock: true,
  auth: true,
  authorize: true,
  cors: true,
  allowedHosts: true,
  console: true,
  basePath: true,
  compression: true,
  trustProxy: true,
  middleware: true,
  configureApp: true,
};

/** The names of its limits. */
export const knownLimits: KnownOptions<AppLimits> = {
  body: true,
  customBody: true,
  sockets: true,
  streams: true,
  exports: true,
  reads: true,
  clientShare: true,
  running: true,
  agentReplies: true,
  userShare: true,
  input: true,
  context: true,
  resumeData: true,
  reason: true,
  output: true,
  containerOutput: true,
  state: true,
  result: true,
  journal: true,
};
