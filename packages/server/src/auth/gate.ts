// The gate: who is calling, and may they come in.
import type { Logger } from "@andante/core";
import type { Context } from "hono";
import { AuthenticationRequiredError, InvalidTokenError, TokenExpiredError } from "../errors/auth-errors.ts";
import type { Access } from "./access.ts";
import { type AuthProvider, bearerToken, type User, userIdOf } from "./provider.ts";
import { publicRoutesTest } from "./public-routes.ts";

/** Who calls. Both are undefined for a caller that is not authenticated. */
export interface Caller {
  readonly user: User | undefined;
  readonly userId: string | undefined;
}

const nobody: Caller = { user: undefined, userId: undefined };

export interface Gate {
  /** True when authentication is configured. */
  readonly enabled: boolean;
  /** The kind of provider; undefined when there is none. */
  readonly provider: string | undefined;
  /** Whether a request needs a token. */
  requiresAuth(method: string, path: string, access: Access): boolean;
  /** Lets a caller in or throws the contract's 401. */
  admit(http: Context, access: Access): Promise<Caller>;
  /** The same for a socket, whose token may be in the query: browsers cannot set headers on it. */
  admitSocket(request: Request): Promise<Caller>;
}

export function createGate(provider: AuthProvider | undefined, logger: Logger): Gate {
  if (provider === undefined) {
    const open = async () => nobody;
    return {
      enabled: false,
      provider: undefined,
      requiresAuth: () => false,
      admit: open,
      admitSocket: open,
    };
  }
  const isPublic = publicRoutesTest(provider.publicRoutes ?? []);
  const requiresAuth: Gate["requiresAuth"] = (method, path, access) =>
    (provider.defaultPrivate === true || access === "protected") && !isPublic(method, path);
  const letIn = async (required: boolean, request: Request, otherwise?: string): Promise<Caller> => {
    try {
      const caller = await identify(provider, request, otherwise);
      if (caller === undefined && required) throw new AuthenticationRequiredError();
      return caller ?? nobody;
    } catch (error) {
      if (required) throw refusal(error);
      // On a public route a good token is honoured and a bad one ignored.
      logger.debug({ err: error }, "a token on a public route was not accepted");
      return nobody;
    }
  };
  return {
    enabled: true,
    provider: provider.type,
    requiresAuth,
    admit: (http, access) => letIn(requiresAuth(http.req.method, http.req.path, access), http.req.raw),
    async admitSocket(request) {
      const inQuery = new URL(request.url).searchParams.get("token") ?? undefined;
      return letIn(provider.webSocket === "protect", request, inQuery);
    },
  };
}

/** The caller behind a request's token; undefined when it has none. */
async function identify(
  provider: AuthProvider,
  request: Request,
  otherwise?: string,
): Promise<Caller | undefined> {
  const { extractToken = bearerToken } = provider;
  const token = extractToken.call(provider, request) ?? otherwise;
  return token ? callerOf(await provider.verifyToken(token, request)) : undefined;
}

function callerOf(user: User): Caller {
  if (typeof user !== "object" || user === null)
    throw new InvalidTokenError({ reason: "it does not belong to a user" });
  return { user, userId: userIdOf(user) };
}

function refusal(error: unknown): Error {
  const ours = [AuthenticationRequiredError, TokenExpiredError, InvalidTokenError];
  if (error instanceof Error && ours.some((kind) => error instanceof kind)) return error;
  return new InvalidTokenError({ reason: reasonOf(error), cause: error });
}

/** What a provider says about a token. What a system call reports is about our machines, not about the token. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error) || "syscall" in error) return "it could not be verified";
  return error.message.split("\n", 1)[0] || "it was not accepted";
}
