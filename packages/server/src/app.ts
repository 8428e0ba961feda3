// createApp: the whole service as a web-standard fetch function, for people who bring their own listener.
import { type Andante, type AndanteOptions, createAndante, type Logger } from "@andante/core";
import {
  checkKnownOptions,
  internalsOf,
  type KnownOptions,
  type WorkflowRecord,
} from "@andante/core/internal";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Authorize, decide, type Scope } from "./auth/authorize.ts";
import { type Caller, createGate, type Gate } from "./auth/gate.ts";
import { announceCaller } from "./auth/inject-user.ts";
import type { AuthProvider, User } from "./auth/provider.ts";
import { type Cors, type CorsOptions, createCors, noCors } from "./cors/cors.ts";
import { BadRequestError, RouteNotFoundError } from "./errors/request-errors.ts";
import { parse } from "./request/parse.ts";
import { readJsonBody } from "./request/request-body.ts";
import { failure, success } from "./response/envelope.ts";
import { RouteResponse } from "./response/route-response.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes/index.ts";
import { createSockets, type UpgradeHandler } from "./socket/sockets.ts";

export interface AppOptions<W extends WorkflowRecord = WorkflowRecord> extends AndanteOptions<W> {
  readonly limits?: AppLimits;
  /** Who may call: `jwtAuth({ … })` or a provider of your own. Default: none, everyone may call everything. */
  readonly auth?: AuthProvider;
  /** Decides who may do what, once `auth` has said who calls. Default: lists show a caller its own. */
  readonly authorize?: Authorize;
  /** Cross-origin settings; false leaves them to `middleware`. Default: every origin (`*`). */
  readonly cors?: CorsOptions | false;
  /** Runs before everything else, for built-in routes too. Default: none. */
  readonly middleware?: readonly MiddlewareHandler[];
  /** Adds routes of your own, after authentication; they cannot take the place of a built-in one. Default: none. */
  readonly configureApp?: (app: CustomApp) => void;
}

/** The Hono application as custom routes see it; `c.get("authenticatedUser")` is the caller. */
export type CustomApp = Hono<{ Variables: { authenticatedUser?: User; userId?: string } }>;

export type AppLimits = NonNullable<AndanteOptions["limits"]> & {
  /** Bytes of a request body; more is a 413. Default: 4 MiB. */
  readonly body?: number;
  /** WebSocket clients at once; more get a 503. Default: 1000. */
  readonly sockets?: number;
};

export interface App<W extends WorkflowRecord = WorkflowRecord> {
  /** The Hono application with everything in it. */
  readonly app: Hono;
  /** The workflows and their executions, without HTTP. */
  readonly andante: Andante<W>;
  fetch(request: Request, env?: object): Response | Promise<Response>;
  /** Handles WebSockets: pass it to your listener's event `upgrade`. */
  readonly websocket: UpgradeHandler;
  /** Stops: see `Andante.close`. */
  close(options?: { readonly grace?: number }): Promise<void>;
}

/** The names of createApp's options; `serve` adds its own. */
export const knownAppOptions: KnownOptions<AppOptions> = {
  workflows: true,
  agents: true,
  store: true,
  logger: true,
  logs: true,
  tracing: true,
  limits: true,
  retention: true,
  clock: true,
  auth: true,
  authorize: true,
  cors: true,
  middleware: true,
  configureApp: true,
};

const knownLimits: KnownOptions<AppLimits> = {
  body: true,
  sockets: true,
  running: true,
  input: true,
  resumeData: true,
  output: true,
  result: true,
  journal: true,
};

// A method is whatever the client writes; labels of metrics are a closed set.
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const defaultBodyLimit = 4 * 1024 * 1024;
const defaultSocketLimit = 1000;

/**
 * The whole service as a web-standard fetch function.
 *
 * @example
 * ```ts
 * import { createWorkflow, memoryStore } from "@andante/core";
 * import { createApp } from "@andante/server";
 * import { z } from "zod";
 *
 * const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) })
 *   .andThen({ id: "times-two", execute: ({ data }) => data.n * 2 });
 * const { fetch, close } = createApp({ workflows: { double }, store: memoryStore() });
 *
 * const response = await fetch(new Request("http://localhost/workflows"));
 * console.log(await response.json());
 * await close();
 * ```
 */
export function createApp<W extends WorkflowRecord = Record<never, never>>(options: AppOptions<W>): App<W>;
export function createApp(options: AppOptions): App {
  checkKnownOptions("createApp", options, knownAppOptions);
  checkKnownOptions("limits", options.limits, knownLimits);
  const { auth, authorize, cors: corsOptions, middleware = [], configureApp, limits = {}, ...rest } = options;
  const {
    body: bodyLimit = defaultBodyLimit,
    sockets: socketLimit = defaultSocketLimit,
    ...ofAndante
  } = limits;
  const andante = createAndante({ ...rest, limits: ofAndante });
  const { logger } = andante;
  const gate = createGate(auth, logger);
  const cors = corsOptions === false ? noCors : createCors(corsOptions ?? {}, logger);
  const service = { andante, logger, gate, cors, bodyLimit, authorize };
  // Custom routes live in an application of their own behind the built-in ones: they cannot take the place of one, and
  // a built-in route is found without passing any middleware of theirs.
  if (gate.enabled)
    logger.info({ provider: gate.provider, public: publicRows(gate) }, "authentication is on");
  const anonymous = auth !== undefined && auth.webSocket !== "protect";
  const sockets = createSockets({ gate, logger, andante, anonymous, limit: socketLimit });
  const custom = customApp(service);
  configureApp?.(custom);
  const app = new Hono();
  app.onError((error) => failure(error, logger).toResponse());
  for (const handler of middleware) app.use("*", handler);
  for (const row of routes) app.on(row.method, row.path, (http) => respond(service, row, http));
  app.notFound(async (http) => {
    const start = performance.now();
    const response = await custom.fetch(http.req.raw, http.env);
    report(service, http.req.method, "custom", response.status, start);
    return response;
  });
  return {
    app,
    andante,
    fetch: (request, env) => app.fetch(request, env),
    websocket: sockets.upgrade,
    close: async (how) => {
      await andante.close(how);
      sockets.close();
    },
  };
}

/** The built-in routes that need no token, for the log. */
function publicRows(gate: Gate): string[] {
  return routes
    .filter((row) => !gate.requiresAuth(row.method, row.path, row.access))
    .map((row) => `${row.method} ${row.path}`);
}

/** The application of custom routes before the host adds any: cross-origin rules, authentication, the envelope. */
function customApp({ cors, gate, logger }: Service): CustomApp {
  const custom: CustomApp = new Hono();
  const refuse = (error: unknown) => failure(error, logger).toResponse();
  custom.onError((error) =>
    error instanceof HTTPException && error.res ? error.getResponse() : refuse(error),
  );
  custom.notFound(({ req }) => refuse(new RouteNotFoundError({ method: req.method, path: req.path })));
  custom.use("*", cors.middleware);
  custom.use("*", async (http, next) => {
    if (!gate.enabled) return next();
    try {
      announceCaller(http, await gate.admit(http, "public"));
    } catch (error) {
      // Returned here and not thrown: a 401 is not for the host's error handler to change.
      return refuse(error);
    }
    return next();
  });
  return custom;
}

interface Service {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly cors: Cors;
  readonly authorize: Authorize | undefined;
  readonly bodyLimit: number;
}

/** A request inside a route, from its row to its response. */
async function respond(service: Service, row: Route, http: Context): Promise<Response> {
  const start = performance.now();
  const response = await handleRequest(service, row, http).catch((error) => failure(error, service.logger));
  report(service, http.req.method, row.path, response.status, start);
  const sent = http.req.method === "HEAD" ? await response.withoutBody() : response;
  return sent.toResponse(service.cors.headers(http.req.header("origin")));
}

/** Counts a request and writes its line. The route's pattern stands for the URL, which may hold a token. */
function report(service: Service, method: string, route: string, status: number, start: number): void {
  const { andante, logger } = service;
  const milliseconds = performance.now() - start;
  internalsOf(andante).metrics.request(
    knownMethods.has(method) ? method : "other",
    route,
    status,
    milliseconds / 1000,
  );
  if (logger.isLevelEnabled?.("debug") === false) return;
  logger.debug({ method, route, status, milliseconds: Math.round(milliseconds * 10) / 10 }, "request");
}

/** The life of a request: caller, resource, permission, body, query, handler, envelope. */
async function handleRequest(service: Service, row: Route, http: Context): Promise<RouteResponse> {
  const { andante, logger, gate, bodyLimit } = service;
  const caller = await gate.admit(http, row.access);
  const params = http.req.param();
  row.check?.(andante, params);
  const scope = await scopeOf(service, row, caller, params);
  const body = row.body === undefined ? undefined : await readBody(row, http, bodyLimit);
  const query = row.query === undefined ? undefined : parse(row.query, http.req.query(), "query");
  const data = await row.handle({ andante, logger, params, query, body, http, caller, gate, scope });
  return data instanceof RouteResponse ? data : success(data);
}

/** Without an `authorize` everything is allowed that authentication let in, and lists show a caller its own. */
function scopeOf(
  { authorize, andante, gate }: Service,
  { action }: Route,
  caller: Caller,
  resource: Readonly<Record<string, string>>,
): Scope | Promise<Scope> {
  if (authorize === undefined) return gate.enabled ? "own" : "all";
  const ownerOf = async (...ids: [string, string]) => (await andante.state(...ids)).context.userId;
  return decide(authorize, { ...caller, action, resource }, ownerOf);
}

async function readBody(row: Route, http: Context, limit: number): Promise<unknown> {
  const given = await readJsonBody(http.req, limit);
  if (given === undefined && row.bodyOptional !== true) {
    throw new BadRequestError({ problem: "The request needs a JSON body" });
  }
  return row.body === undefined ? given : parse(row.body, given === undefined ? {} : given, "body");
}
