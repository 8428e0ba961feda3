// The interface of an authentication provider. `jwtAuth` makes one; a host may bring its own.

/** The caller, according to the provider. Any fields are allowed; `id` becomes the userId. */
export type User = Readonly<Record<string, unknown>>;

/** A part of a request that holds the token alone. */
export interface TokenPlace {
  readonly in: "header" | "cookie" | "query";
  readonly name: string;
}

export interface AuthProvider {
  /** Names the provider in the API description and the log. */
  readonly type: string;
  /**
   * The user behind a token; throws when the token is not valid. The caller sees the reason of an `InvalidTokenError` and
   * the message of a `PublicError`; `TokenExpiredError` is for a token that was valid once, and
   * `VerificationUnavailableError` for one that cannot be judged now. Other errors go to the log alone. The
   * request is for reading: a header that is set on it has no effect.
   */
  verifyToken(token: string, request?: Request): User | Promise<User>;
  /**
   * When a token that was verified ends, in milliseconds since 1970; undefined when it does not. Its sockets, and
   * the event streams that it only follows, are closed then. Default: tokens do not end.
   */
  expiresAt?(token: string, user: User): number | undefined | Promise<number | undefined>;
  /** Where the token is. Default: the header `Authorization: Bearer …`. */
  extractToken?(request: Request): string | undefined;
  /** Where `extractToken` looks, for the API description. Default: it is described as the host's own rule. */
  readonly tokenIn?: TokenPlace;
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
