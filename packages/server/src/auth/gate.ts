// The gate: identifies the caller and admits or refuses it.
import { type Logger, PublicError } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { problemOfId } from "@andante/core/internal";
import type { Context } from "hono";
import {
  AuthenticationRequiredError,
  InvalidTokenError,
  TokenExpiredError,
  VerificationUnavailableError,
} from "../errors/auth-errors.ts";
import { type AuthProvider, bearerToken, type TokenPlace, type User, userIdOf } from "./provider.ts";
import { publicRoutesTest } from "./public-routes.ts";

/**
 * The callers that an endpoint admits with authentication, in opt-in mode: `public` all callers, `protected` only
 * authenticated callers. In opt-out mode every endpoint is protected, except those that are `signed`: a signature in the
 * request is the permission, so that neither a token nor `authorize` counts.
 */
export type Access = "public" | "protected" | "signed";

/** The caller. Both fields are undefined when it is not authenticated. */
export interface Caller {
  readonly user: User | undefined;
  readonly userId: string | undefined;
}

/** The caller of a socket. */
export interface SocketCaller extends Caller {
  /** Expiry of its token, in milliseconds since 1970; undefined when it does not expire. */
  readonly expiresAt: number | undefined;
}

const nobody: Caller = { user: undefined, userId: undefined };
const nobodyAtSocket: SocketCaller = { ...nobody, expiresAt: undefined };

export interface Gate {
  /** True when authentication is configured. */
  readonly enabled: boolean;
  /** The type of the provider; undefined without one. */
  readonly provider: string | undefined;
  /** Where callers send their token: `bearer` is the Authorization header, `custom` a place chosen by the host. */
  readonly tokenIn: "bearer" | "custom" | TokenPlace;
  /** The URL of the page where people sign in to the console; undefined without one. */
  readonly signInUrl: string | undefined;
  /** Whether a request needs a token. */
  requiresAuth(method: string, path: string, access: Access): boolean;
  /** Admits a caller or throws the contract's 401. */
  admit(http: Context, access: Access): Caller | Promise<Caller>;
  /** The same for a socket, whose token may be in the query: browsers cannot set headers on it. */
  admitSocket(request: Request): Promise<SocketCaller>;
  /** Expiry of the token of a request admitted for this user; undefined when it does not expire. */
  expiresAt(request: Request, user: User | undefined): Promise<number | undefined>;
}

export function createGate(provider: AuthProvider | undefined, logger: Logger): Gate {
  if (provider === undefined) {
    return {
      enabled: false,
      provider: undefined,
      tokenIn: "bearer",
      signInUrl: undefined,
      requiresAuth: () => false,
      admit: () => nobody,
      admitSocket: async () => nobodyAtSocket,
      expiresAt: async () => undefined,
    };
  }
  const isPublic = publicRoutesTest(provider.publicRoutes ?? []);
  checkSignInUrl(provider.signInUrl);
  const requiresAuth: Gate["requiresAuth"] = (method, path, access) =>
    access !== "signed" &&
    (provider.defaultPrivate === true || access === "protected") &&
    !isPublic(method, path);
  /** Admits callers with a valid token; others only where none is required. */
  const enter = async <C extends Caller>(required: boolean, identified: Promise<C | undefined>, none: C) => {
    try {
      const caller = await identified;
      if (caller === undefined && required) throw new AuthenticationRequiredError();
      return caller ?? none;
    } catch (error) {
      const refusal = refusalOf(error, logger);
      if (required) throw refusal;
      // Where no token is required, a valid token is honoured and an invalid one ignored.
      logger.debug({ err: refusal }, "a token on a public route was not accepted");
      return none;
    }
  };
  return {
    enabled: true,
    provider: provider.type,
    tokenIn: provider.extractToken === undefined ? "bearer" : (provider.tokenIn ?? "custom"),
    signInUrl: provider.signInUrl,
    requiresAuth,
    admit: (http, access) => {
      const required = requiresAuth(http.req.method, http.req.path, access);
      return enter(required, identify(provider, http.req.raw), nobody);
    },
    admitSocket: (request) =>
      enter(provider.webSocket === "protect", identifySocket(provider, request), nobodyAtSocket),
    expiresAt: async (request, user) => {
      const token = user && tokenOf(provider, request);
      if (!token) return undefined;
      return endOf(provider, token, user).catch((error: unknown) => {
        throw refusalOf(error, logger);
      });
    },
  };
}

/** Refuses everything but the URL of a web page and an absolute path: browsers read `//` as the address of a host. */
function checkSignInUrl(url: string | undefined): void {
  if (url === undefined) return;
  const isPage = typeof url === "string" && /^(\/(?![/\\])|https?:\/\/)/i.test(url);
  if (isPage && URL.canParse(url, "http://host")) return;
  const problem = `${JSON.stringify(url)}: expected an http or https URL, or a path that begins with one "/"`;
  throw new OptionError({ option: "signInUrl", problem });
}

/** The caller behind a request's token; undefined when it has none. */
async function identify(provider: AuthProvider, request: Request): Promise<Caller | undefined> {
  const token = tokenOf(provider, request);
  return token ? callerOf(await provider.verifyToken(token, request)) : undefined;
}

async function identifySocket(provider: AuthProvider, request: Request): Promise<SocketCaller | undefined> {
  const token = tokenOf(provider, request) ?? new URL(request.url).searchParams.get("token");
  if (!token) return undefined;
  const user = await provider.verifyToken(token, request);
  const caller = callerOf(user);
  return { ...caller, expiresAt: await endOf(provider, token, user) };
}

async function endOf(provider: AuthProvider, token: string, user: User): Promise<number | undefined> {
  const expiresAt = await provider.expiresAt?.(token, user);
  // A comparison with NaN is never true: the socket would never be closed.
  if (Number.isNaN(expiresAt)) throw new TypeError("expiresAt of the authentication provider is not a time");
  return expiresAt;
}

function tokenOf(provider: AuthProvider, request: Request): string | undefined {
  const { extractToken = bearerToken } = provider;
  return extractToken.call(provider, request);
}

function callerOf(user: User): Caller {
  if (typeof user !== "object" || user === null)
    throw new InvalidTokenError({ reason: "it does not belong to a user" });
  const userId = userIdOf(user);
  // A database would take such an id for another one: the caller would see that user's data.
  const problem = userId === undefined ? undefined : problemOfId(userId);
  if (problem !== undefined)
    throw new InvalidTokenError({ reason: `the id of its user is not valid: ${problem}` });
  return { user, userId };
}

const forCallers = [
  AuthenticationRequiredError,
  TokenExpiredError,
  InvalidTokenError,
  VerificationUnavailableError,
];

/** The error that a caller receives for its token. Errors that are not public are only logged. */
function refusalOf(error: unknown, logger: Logger): Error {
  if (error instanceof PublicError) return new InvalidTokenError({ reason: error.message, cause: error });
  if (error instanceof Error && forCallers.some((kind) => error instanceof kind)) return error;
  logger.warn({ err: error }, "the authentication provider could not verify a token");
  return new InvalidTokenError({ reason: "it could not be verified", cause: error });
}
