// createApp: the whole service as a web-standard fetch function, for people who bring their own listener.
import { Andante, type AndanteOptions, createLogger, type Logger } from "@andante/core";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { type Authorize, decide, type Scope } from "./auth/authorize.ts";
import { createGate, type Gate } from "./auth/gate.ts";
import { announceCaller } from "./auth/inject-user.ts";
import type { AuthProvider, User } from "./auth/provider.ts";
import { type CorsOptions, corsMiddleware } from "./cors/cors.ts";
import { failure, success } from "./envelope.ts";
import { BadRequestError, RouteNotFoundError } from "./errors/request-errors.ts";
import { readJsonBody } from "./request-body.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes/index.ts";

export interface AppOptions extends AndanteOptions {
  readonly limits?: AppLimits;
  /** Who may call: `jwtAuth({ … })` or a provider of your own. Default: none, everyone may call everything. */
  readonly auth?: AuthProvider;
  /** The host's word on who may do what, once `auth` has said who calls. Default: lists show a caller its own. */
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
  /** Bytes of a request body; more is answered 413. Default: 4 MiB. */
  readonly body?: number;
};

export interface App {
  /** The Hono application. */
  readonly app: CustomApp;
  readonly andante: Andante;
  fetch(request: Request): Response | Promise<Response>;
  /** Stops: see `Andante.close`. */
  close(options?: { readonly grace?: number }): Promise<void>;
}

const defaultBodyLimit = 4 * 1024 * 1024;

export function createApp(options: AppOptions): App {
  const logger = options.logger ?? createLogger();
  const andante = new Andante({ ...options, logger });
  const gate = createGate(options.auth, logger);
  const bodyLimit = options.limits?.body ?? defaultBodyLimit;
  const service = { andante, logger, gate, bodyLimit, authorize: options.authorize };
  const app: CustomApp = new Hono();
  app.onError((error) => failure(error, logger));
  app.notFound(({ req }) => failure(new RouteNotFoundError({ method: req.method, path: req.path }), logger));
  if (options.cors !== false) app.use("*", corsMiddleware(options.cors ?? {}, logger));
  for (const middleware of options.middleware ?? []) app.use("*", middleware);
  for (const row of routes) app.on(row.method, row.path, (http) => answer(service, row, http));
  // Whatever is no built-in route comes by here: custom routes, and paths that do not exist.
  app.use("*", async (http, next) => {
    announceCaller(http, await gate.admit(http, "public"));
    await next();
  });
  options.configureApp?.(app);
  return { app, andante, fetch: (request) => app.fetch(request), close: (how) => andante.close(how) };
}

interface Service {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly authorize: Authorize | undefined;
  readonly bodyLimit: number;
}

/** The life of a request inside a route: caller, resource, body, query, handler, envelope. */
async function answer(service: Service, row: Route, http: Context): Promise<Response> {
  const { andante, logger, gate, bodyLimit } = service;
  try {
    const caller = await gate.admit(http, row.access);
    const params = http.req.param();
    row.check?.(andante, params);
    const scope: Scope = await decide(service.authorize, gate.guards, {
      ...caller,
      action: row.action,
      resource: params,
    });
    const body = row.body === undefined ? undefined : await readBody(row, http, bodyLimit);
    const query = row.query === undefined ? undefined : parse(row.query, http.req.query(), "query");
    const { guards } = gate;
    const data = await row.handle({ andante, logger, params, query, body, http, caller, guards, scope });
    if (!(data instanceof Response)) return success(data);
    if (http.req.method !== "HEAD") return data;
    // Nobody will read the body of an answer to HEAD: a stream behind it must not stay open.
    await data.body?.cancel();
    return new Response(null, { status: data.status, headers: data.headers });
  } catch (error) {
    return failure(error, logger);
  }
}

async function readBody(row: Route, http: Context, limit: number): Promise<unknown> {
  const given = await readJsonBody(http.req, limit);
  if (given === undefined && row.bodyOptional !== true) {
    throw new BadRequestError({ problem: "The request needs a JSON body" });
  }
  return row.body === undefined ? given : parse(row.body, given === undefined ? {} : given, "body");
}

function parse(schema: NonNullable<Route["body"]>, value: unknown, what: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${[what, ...issue.path].join(".")}: ${issue.message}`);
  throw new BadRequestError({ problem: `Invalid request: ${issues.join("; ")}` });
}
