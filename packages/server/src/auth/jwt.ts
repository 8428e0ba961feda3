// The default provider: JSON Web Tokens, signed with a shared secret or with an issuer's keys, verified by jose.
import type { JsonWebKey } from "node:crypto";
import { OptionError } from "@andante/core/errors";
import { checkKnownOptions, type KnownOptions } from "@andante/core/internal";
import { InvalidTokenError, TokenExpiredError } from "../errors/auth-errors.ts";
import { issuerKeys, type JwtKeys, loadJose, publicKeys, secretKey, secretKeys } from "./jwt-keys.ts";
import type { AuthProvider, User } from "./provider.ts";

/** The options of `jwtAuth`: exactly one of `secret`, `publicKey` and `jwksUrl` gives the signing key. */
export interface JwtAuthOptions {
  /** The shared secret that signs tokens. Under 32 bytes Node prints a warning; an empty secret is refused. */
  readonly secret?: string;
  /** The public key of the issuer: PEM, or a JWK. RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519. */
  readonly publicKey?: string | JsonWebKey;
  /** The URL of the issuer's keys (JWKS), such as `https://example.auth0.com/.well-known/jwks.json`. */
  readonly jwksUrl?: string;
  /** Maps a token's payload to the user. Default: the payload itself. */
  readonly mapUser?: (payload: User) => User;
  /** Routes that need no token. Default: none. */
  readonly publicRoutes?: readonly string[];
  /** Protect every route but `publicRoutes`. Default: false. */
  readonly defaultPrivate?: boolean;
  /** Whether sockets under /ws need a token, in the header or as `?token=`. Default: `open`, they need none. */
  readonly webSocket?: "open" | "protect";
  /**
   * The URL of a page of the host where people sign in to the console; a path is one of the console's origin. Default:
   * none, the console asks for a token.
   */
  readonly signInUrl?: string;
  readonly verifyOptions?: {
    /** Accepted signing algorithms. Default: HS256 alone with a secret, else those that fit the keys. */
    readonly algorithms?: readonly string[];
    /** The required audience of a token. Default: any. */
    readonly audience?: string;
    /** The required issuer of a token. Default: any. */
    readonly issuer?: string;
  };
}

export interface CreateJwtOptions {
  /** Such as `15m`, `2h` or `7 days`. Default: 1h. */
  readonly expiresIn?: string;
  readonly audience?: string;
  readonly issuer?: string;
}

const knownOptions: KnownOptions<JwtAuthOptions> = {
  secret: true,
  publicKey: true,
  jwksUrl: true,
  mapUser: true,
  publicRoutes: true,
  defaultPrivate: true,
  webSocket: true,
  signInUrl: true,
  verifyOptions: true,
};
const knownVerifyOptions: KnownOptions<NonNullable<JwtAuthOptions["verifyOptions"]>> = {
  algorithms: true,
  audience: true,
  issuer: true,
};
const knownTokenOptions: KnownOptions<CreateJwtOptions> = { expiresIn: true, audience: true, issuer: true };

/**
 * A provider for JSON Web Tokens. A token without `exp` is accepted (createJWT always sets one), `nbf` is honoured,
 * `iat` is ignored, and no clock skew is tolerated.
 */
export function jwtAuth(options: JwtAuthOptions): AuthProvider {
  checkKnownOptions("jwtAuth", options, knownOptions);
  checkKnownOptions("jwtAuth, verifyOptions", options.verifyOptions, knownVerifyOptions);
  const { mapUser = (payload: User) => payload, verifyOptions = {} } = options;
  const keys = keysOf(options);
  const algorithms = verifyOptions.algorithms ?? keys.accepted;
  for (const algorithm of algorithms) {
    if (keys.algorithms.includes(algorithm)) continue;
    throw new OptionError({
      option: "verifyOptions.algorithms",
      problem: `"${algorithm}" is not one of ${keys.algorithms.join(", ")}`,
    });
  }
  const { audience, issuer } = verifyOptions;
  for (const [name, value] of Object.entries({ audience, issuer })) {
    // An empty setting, such as an unset environment variable, must not mean "any".
    if (value === "")
      throw new OptionError({ option: `verifyOptions.${name}`, problem: "it must not be empty" });
  }
  const checks = { algorithms: [...algorithms], ...(audience && { audience }), ...(issuer && { issuer }) };
  const loading = loadJose();
  return {
    type: "jwt",
    ...(options.publicRoutes && { publicRoutes: options.publicRoutes }),
    ...(options.webSocket && { webSocket: options.webSocket }),
    ...(options.signInUrl !== undefined && { signInUrl: options.signInUrl }),
    ...(options.defaultPrivate !== undefined && { defaultPrivate: options.defaultPrivate }),
    ...(issuer !== undefined && URL.canParse(issuer) && { issuer }),
    // The gate decides how much of an error of the host's mapUser a caller sees.
    verifyToken: async (token) => mapUser(await verify(token)),
    // Called only after the signature was verified.
    expiresAt: (token) => {
      const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      return typeof exp === "number" ? exp * 1000 : undefined;
    },
  };

  async function verify(token: string): Promise<User> {
    const { errors, jwtVerify } = await loading;
    try {
      const { payload } = await jwtVerify<Record<string, unknown>>(token, keys.find, checks);
      return payload;
    } catch (cause) {
      if (cause instanceof errors.JWTExpired) throw new TokenExpiredError();
      if (cause instanceof errors.JOSEError) throw new InvalidTokenError({ reason: cause.message, cause });
      throw cause;
    }
  }
}

function keysOf({ secret, publicKey, jwksUrl }: JwtAuthOptions): JwtKeys {
  const given = Object.entries({ secret, publicKey, jwksUrl }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(" and ");
    throw new OptionError({ option: names, problem: "give only one of secret, publicKey and jwksUrl" });
  }
  if (publicKey !== undefined) return publicKeys(publicKey);
  if (jwksUrl !== undefined) return issuerKeys(jwksUrl);
  if (secret !== undefined) return secretKeys(secret);
  throw new OptionError({ option: "secret", problem: "give one of secret, publicKey and jwksUrl" });
}

/** Signs a token, for tests and for hosts with their own login. */
export function createJWT(payload: User, secret: string, options: CreateJwtOptions = {}): Promise<string> {
  checkKnownOptions("createJWT", options, knownTokenOptions);
  return sign(payload, secretKey(secret), options);
}

async function sign(payload: User, key: Uint8Array, options: CreateJwtOptions): Promise<string> {
  const { SignJWT } = await loadJose();
  const token = new SignJWT({ ...payload }).setProtectedHeader({ alg: "HS256" }).setIssuedAt();
  token.setExpirationTime(options.expiresIn ?? "1h");
  if (options.audience !== undefined) token.setAudience(options.audience);
  if (options.issuer !== undefined) token.setIssuer(options.issuer);
  return token.sign(key);
}
