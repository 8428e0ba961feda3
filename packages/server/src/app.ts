// createApp: the whole service as a web-standard fetch function, for people who bring their own listener.
import { Andante, type AndanteOptions, createLogger, type Logger } from "@andante/core";
import { type Context, Hono } from "hono";
import { failure, success } from "./envelope.ts";
import { BadRequestError, RouteNotFoundError } from "./errors/request-errors.ts";
import { readJsonBody } from "./request-body.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes/index.ts";

export interface AppOptions extends AndanteOptions {
  readonly limits?: AppLimits;
}

export type AppLimits = NonNullable<AndanteOptions["limits"]> & {
  /** Bytes of a request body; more is answered 413. Default: 4 MiB. */
  readonly body?: number;
};

export interface App {
  /** The Hono application. */
  readonly app: Hono;
  readonly andante: Andante;
  fetch(request: Request): Response | Promise<Response>;
  /** Stops: see `Andante.close`. */
  close(options?: { readonly grace?: number }): Promise<void>;
}

const defaultBodyLimit = 4 * 1024 * 1024;

export function createApp(options: AppOptions): App {
  const logger = options.logger ?? createLogger();
  const andante = new Andante({ ...options, logger });
  const app = new Hono();
  const service = { andante, logger, bodyLimit: options.limits?.body ?? defaultBodyLimit };
  for (const row of routes) app.on(row.method, row.path, (http) => answer(service, row, http));
  app.notFound((http) =>
    failure(new RouteNotFoundError({ method: http.req.method, path: http.req.path }), logger),
  );
  app.onError((error) => failure(error, logger));
  return { app, andante, fetch: (request) => app.fetch(request), close: (how) => andante.close(how) };
}

interface Service {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly bodyLimit: number;
}

/** The life of a request inside a route: resource, body, query, handler, envelope. */
async function answer({ andante, logger, bodyLimit }: Service, row: Route, http: Context): Promise<Response> {
  try {
    const params = http.req.param();
    row.check?.(andante, params);
    const body = row.body === undefined ? undefined : await readBody(row, http, bodyLimit);
    const query = row.query === undefined ? undefined : parse(row.query, http.req.query(), "query");
    const data = await row.handle({ andante, logger, params, query, body, http });
    if (!(data instanceof Response)) return success(data);
    // Nobody will read the body of an answer to HEAD: a stream behind it must not stay open.
    if (http.req.method === "HEAD") await data.body?.cancel();
    return data;
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
