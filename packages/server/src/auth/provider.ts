// The interface of an authentication provider. `jwtAuth` creates one; a host may implement another.

/** The caller, according to the provider. Any fields are allowed; `id` becomes the userId. */
export type User = Readonly<Record<string, unknown>>;

/** A header, cookie or query parameter whose value is the token. */
export interface TokenPlace {
  readonly in: "header" | "cookie" | "query";
  readonly name: string;
}

export interface AuthProvider {
  /** Names the provider in the API description and the log. */
  readonly type: string;
  /**
   * The user behind a token; throws when the token is not valid. The caller sees the reason of an `InvalidTokenError`
   * and the message of a `PublicError`; throw `TokenExpiredError` for an expired token and
   * `VerificationUnavailableError` when the token cannot be verified now. Other errors are only logged. The request is
   * read-only: setting a header on it has no effect.
   */
  verifyToken(token: string, request?: Request): User | Promise<User>;
  /**
   * Expiry of a verified token, in milliseconds since 1970; undefined when it does not expire. At expiry its sockets,
   * and event streams that only follow an execution, are closed. Default: tokens do not expire.
   */
  expiresAt?(token: string, user: User): number | undefined | Promise<number | undefined>;
  /** Reads the token from a request. Default: from the header `Authorization: Bearer …`. */
  extractToken?(request: Request): string | undefined;
  /** Where `extractToken` finds the token, for the API description. Default: described as a custom rule. */
  readonly tokenIn?: TokenPlace;
  /** The URL of the server that gives tokens, for clients of MCP that look for it. Default: none. */
  readonly issuer?: string;
  /**
   * The URL of a page of the host where people sign in to the console; a path is one of the console's origin. Default:
   * none, the console asks for a token.
   */
  readonly signInUrl?: string;
  /** Protect every route but `publicRoutes`. Default: false, only the execution endpoints are protected. */
  readonly defaultPrivate?: boolean;
  /** Routes that need no token, such as `GET /health` or `POST /webhooks/*`. Default: none. */
  readonly publicRoutes?: readonly string[];
  /**
   * Whether sockets under /ws need a token, in the header or as `?token=`. Default: `open`, they need none.
   */
  readonly webSocket?: "open" | "protect";
}

/** The token of `Authorization: Bearer <token>`; another scheme is not a token. */
export function bearerToken(request: Request): string | undefined {
  const match = /^Bearer +([^\s]+) *$/i.exec(request.headers.get("authorization") ?? "");
  return match?.[1];
}

/** The userId of a user: its `id`, else the `sub` of a token's payload. */
export function userIdOf(user: User): string | undefined {
  const id = user.id ?? user.sub;
  return (typeof id === "string" && id !== "") || typeof id === "number" ? String(id) : undefined;
}
