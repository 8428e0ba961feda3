// The default provider: JSON Web Tokens signed with a shared secret, on jose.
import { OptionError } from "@andante/core/errors";
import { checkKnownOptions, type KnownOptions } from "@andante/core/internal";
import { InvalidTokenError, TokenExpiredError } from "../errors/auth-errors.ts";
import type { AuthProvider, User } from "./provider.ts";

export interface JwtAuthOptions {
  /** The secret that tokens are signed with. Under 32 bytes Node prints a warning, an empty one is refused. */
  readonly secret: string;
  /** Makes the user of a token's payload. Default: the payload itself. */
  readonly mapUser?: (payload: User) => User;
  /** Routes that need no token. Default: none. */
  readonly publicRoutes?: readonly string[];
  /** Protect every route but `publicRoutes`. Default: false. */
  readonly defaultPrivate?: boolean;
  /** Whether sockets under /ws need a token, in the header or as `?token=`. Default: `open`, they need none. */
  readonly webSocket?: "open" | "protect";
  readonly verifyOptions?: {
    /** Signing algorithms that are accepted. Default: HS256 alone. */
    readonly algorithms?: readonly string[];
    /** The audience a token must be for. Default: any. */
    readonly audience?: string;
    /** Who must have issued a token. Default: anyone. */
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
  mapUser: true,
  publicRoutes: true,
  defaultPrivate: true,
  webSocket: true,
  verifyOptions: true,
};
const knownVerifyOptions: KnownOptions<NonNullable<JwtAuthOptions["verifyOptions"]>> = {
  algorithms: true,
  audience: true,
  issuer: true,
};
const knownTokenOptions: KnownOptions<CreateJwtOptions> = { expiresIn: true, audience: true, issuer: true };

// A secret shared by signer and verifier fits only the HMAC family. Anything else, `none` above all, is refused at start:
// accepting a public-key algorithm with a shared secret is how tokens get forged.
const sharedSecretAlgorithms = ["HS256", "HS384", "HS512"];

/**
 * Decided: a token without `exp` is accepted (createJWT always sets one), `nbf` is honoured, `iat` is not looked at, and no
 * clock skew is tolerated.
 */
export function jwtAuth(options: JwtAuthOptions): AuthProvider {
  checkKnownOptions("jwtAuth", options, knownOptions);
  checkKnownOptions("jwtAuth, verifyOptions", options.verifyOptions, knownVerifyOptions);
  const { mapUser = (payload: User) => payload, verifyOptions = {} } = options;
  const algorithms = verifyOptions.algorithms ?? ["HS256"];
  const key = secretKey(options.secret);
  if (key.byteLength < 32) {
    process.emitWarning(
      "the secret of jwtAuth is shorter than 32 bytes and can be guessed",
      "AndanteWarning",
    );
  }
  for (const algorithm of algorithms) {
    if (sharedSecretAlgorithms.includes(algorithm)) continue;
    throw new OptionError({
      option: "verifyOptions.algorithms",
      problem: `"${algorithm}" is not one of ${sharedSecretAlgorithms.join(", ")}`,
    });
  }
  const { audience, issuer } = verifyOptions;
  for (const [name, value] of Object.entries({ audience, issuer })) {
    // A setting that was meant but came out empty must not mean "any".
    if (value === "")
      throw new OptionError({ option: `verifyOptions.${name}`, problem: "it must not be empty" });
  }
  const checks = { algorithms: [...algorithms], ...(audience && { audience }), ...(issuer && { issuer }) };
  const loading = loadJose();
  return {
    type: "jwt",
    ...(options.publicRoutes && { publicRoutes: options.publicRoutes }),
    ...(options.webSocket && { webSocket: options.webSocket }),
    ...(options.defaultPrivate !== undefined && { defaultPrivate: options.defaultPrivate }),
    async verifyToken(token) {
      const { errors, jwtVerify } = await loading;
      try {
        const { payload } = await jwtVerify<Record<string, unknown>>(token, key, checks);
        return mapUser(payload);
      } catch (cause) {
        if (cause instanceof errors.JWTExpired) throw new TokenExpiredError();
        throw new InvalidTokenError({
          reason: cause instanceof Error ? cause.message : "not accepted",
          cause,
        });
      }
    },
  };
}

/** Signs a token, for tests and for hosts that log their users in themselves. */
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

/** Loaded by those who use it: a start without authentication saves some 50 ms of processor time. */
const loadJose = () => import("jose");

function secretKey(secret: unknown): Uint8Array {
  if (typeof secret !== "string" || secret.trim() === "") {
    throw new OptionError({ option: "secret", problem: "it must not be empty" });
  }
  return new TextEncoder().encode(secret);
}
