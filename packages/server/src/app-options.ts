// The options of createApp, and the list of their names.
import type { AndanteOptions } from "@andante/core";
import {
  type AgentRecord,
  type EventRecord,
  type KnownOptions,
  knownAndanteLimits,
  knownAndanteOptions,
  type WorkflowRecord,
} from "@andante/core/internal";
import type { Hono, MiddlewareHandler } from "hono";
import type { A2aOptions } from "./a2a/a2a-options.ts";
import type { Authorize } from "./auth/authorize.ts";
import type { AuthProvider, User } from "./auth/provider.ts";
import type { CorsOptions } from "./cors/cors.ts";
import type { McpOptions } from "./mcp/mcp-options.ts";
import type { Receivers } from "./receivers/receiver.ts";

export interface AppOptions<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> extends AndanteOptions<W, A, E> {
  readonly limits?: AppLimits;
  /** Authenticates callers: `jwtAuth({ … })` or a custom provider. Default: none, every caller may call everything. */
  readonly auth?: AuthProvider;
  /** Decides which actions the caller that `auth` found may do. Default: private data is shown to its owner alone. */
  readonly authorize?: Authorize;
  /** Cross-origin settings; false leaves them to `middleware`. Default: every origin (`*`). */
  readonly cors?: CorsOptions | false;
  /**
   * Host names that requests and sockets may be sent to (their `Host`), such as "api.example.com" or "localhost:3141";
   * an entry without a port allows every port. Others get a 403. Set it where browsers reach a server that is not
   * public, against DNS rebinding. Default: every host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Serves the console, a web application for agents and executions, under `/console`. Its files contain no data: where
   * every route needs a token, list `GET /console*` in `publicRoutes`. Default: true.
   */
  readonly console?: boolean;
  /**
   * The path prefix of the service on your site, such as "/ai". `Location`, `/doc`, the pages and the sockets include
   * it; requests are accepted with and without it. Paths in `publicRoutes` and in `configureApp` do not include it.
   * Default: the root.
   */
  readonly basePath?: string;
  /**
   * Compresses JSON, text, pages and scripts of built-in routes from 2 KiB on, with brotli or gzip as the client
   * accepts; never streams. Default: true.
   */
  readonly compression?: boolean;
  /**
   * The number of proxies in front of the server that append their client's address to `X-Forwarded-For`, such as 1.
   * That address identifies callers without a user (`limits.clientShare`). No client may bypass the proxies, since it
   * could send any address. Default: 0, the address of the connection is used.
   */
  readonly trustProxy?: number;
  /**
   * Serves workflows and agents as tools of the Model Context Protocol at `POST /mcp`. Needs the package
   * `@modelcontextprotocol/server`. Default: none.
   */
  readonly mcp?: McpOptions;
  /** Serves agents and workflows to clients of the A2A protocol at `POST /a2a/:id`, with their cards. Default: none. */
  readonly a2a?: A2aOptions;
  /**
   * Webhooks of other services, by the name in their path: `POST /receive/:receiver` verifies them and sends their events.
   * Default: none.
   */
  readonly receivers?: Receivers;
  /** Runs before everything else, for built-in routes too. Default: none. */
  readonly middleware?: readonly MiddlewareHandler[];
  /**
   * Adds custom routes, which run after authentication. A custom route replaces a built-in route of the same path that
   * is not part of the contract, such as `/health`. Default: none.
   */
  readonly configureApp?: (app: CustomApp) => void;
}

/** The Hono application for custom routes; `c.get("authenticatedUser")` is the caller. */
export type CustomApp = Hono<{ Variables: { authenticatedUser?: User; userId?: string } }>;

export type AppLimits = NonNullable<AndanteOptions["limits"]> & {
  /** Maximum bytes of a request body; a larger one gets a 413. Default: 4 MiB. */
  readonly body?: number;
  /**
   * Maximum bytes of a request body on custom routes; a larger one gets a 413. A body of unknown length is read up to
   * this limit before the route is called. Set false for a route that streams large bodies and has its own limit.
   * Default: as `body`.
   */
  readonly customBody?: number | false;
  /** Maximum concurrent WebSocket clients; further ones get a 503. 0 for none. Default: 1000. */
  readonly sockets?: number;
  /** Maximum concurrent event streams; further requests get a 503 and start nothing. Default: 1000. */
  readonly streams?: number;
  /** Maximum concurrent exports of conversations; further ones get a 503. Default: 5. */
  readonly exports?: number;
  /** Maximum running and queued reads of lists, journals, counts, traces and logs; more get a 503. Default: 1000. */
  readonly reads?: number;
  /**
   * The fraction of `sockets`, `streams`, `exports` and `reads` that one client keeps when all are taken. A client is a
   * user, or without a user an address (IPv6: the first 64 bits). A client below its share then takes a place from the
   * client that exceeds its share most. It is also the fraction of the memory for request bodies. Above 0 and up to 1; 1 disables sharing. Default: 0.1.
   */
  readonly clientShare?: number;
};

/** The option names of createApp; `serve` adds more. */
export const knownAppOptions: KnownOptions<AppOptions> = {
  ...knownAndanteOptions,
  auth: true,
  authorize: true,
  cors: true,
  allowedHosts: true,
  console: true,
  basePath: true,
  compression: true,
  trustProxy: true,
  mcp: true,
  a2a: true,
  receivers: true,
  middleware: true,
  configureApp: true,
};

/** The option names of `limits`. */
export const knownLimits: KnownOptions<AppLimits> = {
  ...knownAndanteLimits,
  body: true,
  customBody: true,
  sockets: true,
  streams: true,
  exports: true,
  reads: true,
  clientShare: true,
};
