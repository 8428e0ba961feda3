// createApp: the whole service as a web-standard fetch function, for hosts with their own listener.
import { type Andante, createAndante, type Logger } from "@andante/core";
import {
  type AgentRecord,
  checkKnownOptions,
  checkOptionGroup,
  type EventRecord,
  inRequestSpan,
  type WorkflowRecord,
} from "@andante/core/internal";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { a2aRoutes } from "./a2a/a2a-routes.ts";
import { type AppOptions, type CustomApp, knownAppOptions, knownLimits } from "./app-options.ts";
import { type Authorize, checkOwner } from "./auth/authorize.ts";
import { createGate, type Gate } from "./auth/gate.ts";
import { announceCaller } from "./auth/inject-user.ts";
import { Permission } from "./auth/permission.ts";
import { viewOf } from "./auth/view.ts";
import { type Bounds, boundsOf } from "./bounds.ts";
import { consolePath, consoleRoutes } from "./console/console-routes.ts";
import { createHostCheck } from "./cors/allowed-hosts.ts";
import { type Cors, createCors, noCors } from "./cors/cors.ts";
import { BadRequestError, ClientGoneError, RouteNotFoundError } from "./errors/request-errors.ts";
import type { HandleInner, InnerRequest } from "./exposed/inner-call.ts";
import { mcpRoutes } from "./mcp/mcp-routes.ts";
import { checkReceivers, type Receivers } from "./receivers/receiver.ts";
import { basePathOf, pathReader, requestBehind } from "./request/base-path.ts";
import { originOf } from "./request/client.ts";
import { withIdempotencyKey } from "./request/idempotency-key.ts";
import { limitCustomBody } from "./request/limit-custom-body.ts";
import { headerOf, outgoingOf, unbound } from "./request/node-request.ts";
import { parse } from "./request/parse.ts";
import { type Params, paramReader } from "./request/path-params.ts";
import { report } from "./request/report.ts";
import { discardUnread, readJsonBody, readRawBody } from "./request/request-body.ts";
import { boundClients } from "./response/bound-clients.ts";
import { CachedReads } from "./response/cached-reads.ts";
import { compress, isLarge } from "./response/compress.ts";
import { executionIdHeader, failure, headerText, success } from "./response/envelope.ts";
import { RouteResponse } from "./response/route-response.ts";
import { type BuiltResponses, builtResponses } from "./response/static-response.ts";
import { costOf, namesExecution, type Route } from "./route.ts";
import { hostRoutesOf, isReplaced, winningRoutes } from "./routes/host-routes.ts";
import { routes } from "./routes/index.ts";
import { publicRows, warnAtStart } from "./routes/report-at-start.ts";
import { askAgain, namedIds } from "./routes/request-ids.ts";
import { createSockets, type UpgradeHandler } from "./socket/sockets.ts";
import { placeOf } from "./sse/open-stream.ts";

/** `protected`: every route needs a token and `publicRoutes` does not list `GET /console*`. */
export type ConsoleAccess = "open" | "protected" | "off";

export interface App<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> {
  /** The Hono application with all routes. */
  readonly app: Hono;
  /** The workflows and their executions, without HTTP. */
  readonly andante: Andante<W, A, E>;
  /** The path prefix from the option: "/ai", or "" for the root. */
  readonly basePath: string;
  fetch(request: Request, env?: object): Response | Promise<Response>;
  /** Whether the console is served, and whether its files need a token. */
  readonly console: ConsoleAccess;
  /** Handles WebSockets: pass it to your listener's event `upgrade`. */
  readonly websocket: UpgradeHandler;
  /** Stops: see `Andante.close`. */
  close(options?: { readonly grace?: number }): Promise<void>;
}

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
export function createApp<
  W extends WorkflowRecord = Record<never, never>,
  A extends AgentRecord = Record<never, never>,
  E extends EventRecord = Record<never, never>,
>(options: AppOptions<W, A, E>): App<W, A, E>;
export function createApp(options: AppOptions): App {
  const { andante, build } = beginApp(options);
  try {
    return build();
  } catch (error) {
    andante.close({ grace: 0 }).catch((err) => andante.logger.error({ err }, "closing failed"));
    throw error;
  }
}

/** Opens the store. `build` makes the rest; when it refuses an option, the caller closes `andante`. */
export function beginApp(options: AppOptions): { readonly andante: Andante; build(): App } {
  checkKnownOptions("createApp", options, knownAppOptions);
  checkOptionGroup("limits", options.limits, knownLimits);
  const { auth, authorize, cors, allowedHosts, middleware, configureApp, ...others } = options;
  const { console, basePath: givenPath, compression, limits = {}, trustProxy, ...further } = others;
  const { mcp, a2a, receivers, ...rest } = further;
  checkReceivers(receivers ?? {});
  const basePath = basePathOf(givenPath);
  const { bounds, ofAndante } = boundsOf(limits, trustProxy);
  const checkHost = allowedHosts === undefined ? undefined : createHostCheck(allowedHosts);
  const andante = createAndante({ ...rest, limits: ofAndante });
  return { andante, build: () => buildApp(options, { andante, basePath, bounds, checkHost }) };
}

interface Begun extends Pick<Service, "andante" | "basePath" | "bounds"> {
  readonly checkHost: ReturnType<typeof createHostCheck> | undefined;
}

function buildApp(options: AppOptions, { andante, basePath, bounds, checkHost }: Begun): App {
  const { auth, authorize, cors: corsOptions, middleware = [], configureApp } = options;
  const { console: withConsole = true, compression = true, receivers = {} } = options;
  const { logger } = andante;
  const gate = createGate(auth, logger);
  const cors = corsOptions === false ? noCors : createCors(corsOptions, logger);
  const known = { hasConsole: () => servesConsole, isReplaced: (row: Route) => isReplaced(row, host) };
  const caches = { built: builtResponses(), cachedReads: new CachedReads() };
  const service = {
    andante,
    logger,
    gate,
    cors,
    basePath,
    authorize,
    receivers,
    hasMcp: options.mcp !== undefined,
    compression,
    bounds,
    ...caches,
    ...known,
  };
  // Custom routes have a separate application behind the contract's routes: they cannot replace one, and requests to
  // built-in routes do not pass their middleware.
  if (gate.enabled)
    logger.info({ provider: gate.provider, public: publicRows(gate) }, "authentication is on");
  const { sockets: places, unfinished, clientOf } = bounds;
  const sockets = createSockets({ ...service, checkHost, places, unfinished, clientOf });
  const custom = customApp(service);
  configureApp?.(custom);
  const app = new Hono(basePath === "" ? {} : { getPath: pathReader(basePath) });
  app.onError((error) => failure(error, logger).toResponse());
  if (checkHost !== undefined)
    app.use("*", (http, next) => {
      checkHost(headerOf(http.req, "host") ?? new URL(http.req.url).host);
      return next();
    });
  for (const handler of middleware) app.use("*", handler);
  const serveRow = (row: Route) => {
    const params = paramReader(row.path);
    app.on(row.method, row.path, (http) =>
      inRequestSpan(
        () => ({ method: http.req.method, route: row.path, header: (name) => headerOf(http.req, name) }),
        () => respond(service, row, http, params(http)),
      ),
    );
  };
  const handleInner: HandleInner = (row, http, request) =>
    handleRequest(service, row, http, request.params, request);
  const inner = { ...service, handleInner };
  const protocols = [
    ...(options.mcp ? mcpRoutes(options.mcp, inner, auth?.issuer) : []),
    ...(options.a2a ? a2aRoutes(options.a2a, inner, auth?.issuer) : []),
  ];
  const serveCustom = async (http: Context) => {
    const start = performance.now();
    const request = requestBehind(basePath, unbound(http.req.raw), http.env);
    // A request that was made again has begun to receive its body.
    if (request !== http.req.raw) outgoingOf(http.env)?.once("close", () => discardUnread(request));
    const response = await custom.fetch(request, http.env);
    report(service, http.req.method, "custom", response.status, start);
    return response;
  };
  const host = hostRoutesOf(custom);
  // Of several matching routes the first one is called.
  routes.filter(({ contract }) => contract === true).forEach(serveRow);
  for (const { method, path } of winningRoutes(host, routes)) app.on(method, path, serveCustom);
  routes.filter(({ contract }) => contract !== true).forEach(serveRow);
  const servesConsole = withConsole && !host.some(({ path }) => isBelow(path, consolePath));
  if (servesConsole) consoleRoutes().forEach(serveRow);
  protocols.forEach(serveRow);
  app.notFound(serveCustom);
  warnAtStart(auth, host, logger);
  const takeTurn = boundClients(logger);
  const fetch = (request: Request, env?: unknown) => {
    const turn = takeTurn(env);
    if (turn === undefined) return app.fetch(request, env);
    const begin = (isThere: boolean) =>
      isThere ? app.fetch(request, env) : failure(new ClientGoneError(), logger).toResponse();
    return turn.then(begin);
  };
  return {
    // One route, so that `route` of the host's Hono includes every path, also those without a handler here.
    app: new Hono().all("*", (http) => fetch(http.req.raw, http.env)),
    andante,
    basePath,
    console: servesConsole ? consoleAccess(gate) : "off",
    fetch,
    websocket: sockets.upgrade,
    close: async (how) => {
      await andante.close(how);
      sockets.close();
    },
  };
}

function consoleAccess(gate: Gate): ConsoleAccess {
  const asset = `${consolePath}/assets/any.js`;
  return [consolePath, asset].some((path) => gate.requiresAuth("GET", path, "public")) ? "protected" : "open";
}

/** Whether a custom route is under the console's path: then the console is not served. */
function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** The application for custom routes, with cross-origin rules, authentication and the envelope, but no routes yet. */
function customApp({ cors, gate, logger, basePath, bounds }: Service): CustomApp {
  const { maxCustomBody, bodies } = bounds;
  const custom: CustomApp = new Hono();
  const refuse = (error: unknown) => failure(error, logger).toResponse();
  custom.onError((error) =>
    error instanceof HTTPException && error.res ? error.getResponse() : refuse(error),
  );
  custom.notFound(({ req }) =>
    refuse(new RouteNotFoundError({ method: req.method, path: basePath + req.path })),
  );
  custom.use("*", cors.middleware);
  custom.use("*", async (http, next) => {
    if (!gate.enabled) return next();
    try {
      announceCaller(http, await gate.admit(http, "public"));
    } catch (error) {
      // Returned, not thrown: the host's error handler must not change a 401.
      return refuse(error);
    }
    return next();
  });
  const clientOf = (http: Context) => bounds.clientOf(http.get("userId"), originOf(http));
  if (maxCustomBody !== undefined) custom.use("*", limitCustomBody(maxCustomBody, bodies, clientOf, refuse));
  return custom;
}

interface Service {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly cors: Cors;
  readonly basePath: string;
  readonly authorize: Authorize | undefined;
  readonly receivers: Receivers;
  readonly bounds: Bounds;
  readonly built: BuiltResponses;
  readonly cachedReads: CachedReads;
  hasConsole(): boolean;
  readonly hasMcp: boolean;
  isReplaced(row: Route): boolean;
  readonly compression: boolean;
}

/** Handles a request of one row of the route table. */
async function respond(service: Service, row: Route, http: Context, params: Params): Promise<Response> {
  const start = performance.now();
  // First, because the host's origin function may throw: then nothing is started and no place is taken.
  const cors = service.cors.headers(headerOf(http.req, "origin"));
  const response = await handleRequest(service, row, http, params).catch((error) =>
    failure(isAbort(error, http) ? new ClientGoneError() : error, service.logger),
  );
  service.bounds.parsed.end(http.req);
  report(service, http.req.method, row.path, response.status, start);
  let sent = response;
  if (service.compression && isLarge(sent)) sent = await compress(sent, (name) => headerOf(http.req, name));
  if (http.req.method === "HEAD") sent = await sent.withoutBody();
  const executionId = namesExecution(row) ? params.executionId : undefined;
  if (response.status === 401 && row.challenge !== undefined)
    return sent.toResponse({ ...cors, "www-authenticate": row.challenge(http) });
  // A replay has set the id of the new execution.
  if (executionId === undefined || executionIdHeader in sent.headers) return sent.toResponse(cors);
  return sent.toResponse({ ...cors, [executionIdHeader]: headerText(executionId) });
}

/** Whether the error is the abort reason of a disconnected client, which is not a server failure. */
function isAbort(error: unknown, { req }: Context): boolean {
  const { aborted, reason } = req.raw.signal;
  return aborted && error === reason;
}

/**
 * The phases of a request: caller, resource, permission, body, query, owner, handler, envelope. `inner` is a request that
 * another one makes for its caller: its body and query are given.
 */
async function handleRequest(
  service: Service,
  row: Route,
  http: Context,
  params: Params,
  inner?: InnerRequest,
): Promise<RouteResponse> {
  const { andante, gate, cors, authorize, bounds } = service;
  if (inner === undefined) cors.checkRequest(http);
  // A value that is no promise is not awaited: each await delays every request by a microtask.
  const admitted = inner?.caller ?? gate.admit(http, row.access);
  const caller = admitted instanceof Promise ? await admitted : admitted;
  row.check?.(andante, params);
  const asked = row.access === "signed" ? undefined : authorize;
  const permission = new Permission(asked, gate.enabled, caller, row);
  const named = permission.asks ? namedIds(row, () => inner?.query ?? http.req.query(), params) : params;
  const decided = permission.scopeOf(named);
  let scope = decided instanceof Promise ? await decided : decided;
  const hasBody = row.body !== undefined || row.raw !== undefined;
  const body = hasBody ? await bodyOf(row, http, bounds, caller.userId, inner) : undefined;
  const query =
    row.query === undefined ? undefined : parse(row.query(), inner?.query ?? http.req.query(), "query");
  if (permission.asks && row.ids !== undefined)
    scope = await askAgain(permission, row, named, { andante, params, query, body }, scope);
  if (scope === "own")
    await checkOwner({ ...caller, action: row.action, resource: params }, (id) => andante.idsOf(id));
  const view = viewOf(scope, caller, gate.enabled);
  const cost = costOf(row);
  const client = cost === undefined ? "" : bounds.clientOf(caller.userId, originOf(http));
  // Taken before anything is started: a refused stream has no effect.
  const stream =
    cost === undefined ? undefined : await placeOf(service, cost, http, { client, user: caller.user });
  let streams = false;
  try {
    const hasConsole = service.hasConsole();
    // Only one spread, and in first position: any other form takes longer than the rest of this function.
    const context = {
      ...service,
      params,
      query,
      body,
      http,
      caller,
      scope,
      permission,
      view,
      stream,
      hasConsole,
    };
    const handling =
      cost === "read"
        ? bounds.reads.run(client, http.req.raw.signal, () => row.handle(context))
        : row.handle(context);
    bounds.parsed.end(http.req);
    const data = await handling;
    const response = data instanceof RouteResponse ? data : success(data);
    streams = response.body instanceof ReadableStream;
    return response;
  } finally {
    if (!streams) stream?.end();
  }
}

function bodyOf(row: Route, http: Context, bounds: Bounds, userId?: string, inner?: InnerRequest) {
  if (inner === undefined) return readBody(row, http, bounds, userId);
  return row.body === undefined ? inner.body : parse(row.body(), inner.body ?? {}, "body");
}

async function readBody(row: Route, http: Context, bounds: Bounds, userId?: string): Promise<unknown> {
  const clientOf = () => bounds.clientOf(userId, originOf(http));
  if (row.raw !== undefined) return readRawBody(http.req, bounds, clientOf, row.raw.limit);
  const given = await readJsonBody(http.req, bounds, clientOf);
  if (given === undefined && row.bodyOptional !== true) {
    throw new BadRequestError({ problem: "The request needs a JSON body" });
  }
  const body = row.body && parse(row.body(), given === undefined ? {} : given, "body");
  return row.headers?.includes("idempotency-key") ? withIdempotencyKey(body, http.req) : body;
}
