// The gate: who is calling, and may they come in.
import type { Logger } from "@andante/core";
import type { Context } from "hono";
import { AuthenticationRequiredError, InvalidTokenError, TokenExpiredError } from "../errors/auth-errors.ts";
import type { Access } from "../route.ts";
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
  readonly guards: boolean;
  /** Lets a caller in or throws the contract's 401. */
  admit(http: Context, access: Access): Promise<Caller>;
}

export function createGate(provider: AuthProvider | undefined, logger: Logger): Gate {
  if (provider === undefined) return { guards: false, admit: async () => nobody };
  const isPublic = publicRoutesTest(provider.publicRoutes ?? []);
  return {
    guards: true,
    async admit(http, access) {
      const wanted =
        (provider.defaultPrivate === true || access === "protected") &&
        !isPublic(http.req.method, http.req.path);
      const { raw } = http.req;
      const token = provider.extractToken === undefined ? bearerToken(raw) : provider.extractToken(raw);
      if (!token && wanted) throw new AuthenticationRequiredError();
      if (!token) return nobody;
      try {
        return callerOf(await provider.verifyToken(token, raw));
      } catch (error) {
        if (wanted) throw refusal(error);
        // On a public route a good token is honoured and a bad one ignored.
        logger.debug({ err: error }, "a token on a public route was not accepted");
        return nobody;
      }
    },
  };
}

function callerOf(user: User): Caller {
  if (typeof user !== "object" || user === null)
    throw new InvalidTokenError({ reason: "it belongs to no user" });
  return { user, userId: userIdOf(user) };
}

function refusal(error: unknown): Error {
  if (error instanceof TokenExpiredError || error instanceof InvalidTokenError) return error;
  return new InvalidTokenError({
    reason: error instanceof Error ? error.message : String(error),
    cause: error,
  });
}
