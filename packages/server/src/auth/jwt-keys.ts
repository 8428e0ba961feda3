// The keys that verify a token's signature: a shared secret, a public key, or the keys that an issuer publishes.
import { createPublicKey, type JsonWebKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";
import { OptionError } from "@andante/core/errors";
import type { FetchImplementation, JWTVerifyGetKey } from "jose";
import { VerificationUnavailableError } from "../errors/auth-errors.ts";
import { isObject } from "../is-object.ts";

/** Loaded on first use: a start without authentication saves 40 ms of processor time. */
export const loadJose = () => import("jose");

export interface JwtKeys {
  /** The key for a token, by the token's header. */
  readonly find: JWTVerifyGetKey;
  /** The algorithms that fit the keys. */
  readonly algorithms: readonly string[];
  /** The algorithms accepted by default. */
  readonly accepted: readonly string[];
}

// A shared secret fits only the HMAC family, a public key never does. Accepting both would allow forged tokens that
// use the text of the public key as the secret. `none` is in neither list.
const ofSecret = ["HS256", "HS384", "HS512"];
const ofRsa = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const ofEdwards = ["EdDSA", "Ed25519"];
const ofCurve: ReadonlyMap<string | undefined, string> = new Map([
  ["prime256v1", "ES256"],
  ["secp384r1", "ES384"],
  ["secp521r1", "ES512"],
]);
const ofPublicKeys = [...ofRsa, ...ofCurve.values(), ...ofEdwards];

export function secretKeys(secret: unknown): JwtKeys {
  const key = secretKey(secret);
  if (key.byteLength < 32) {
    process.emitWarning(
      "the secret of jwtAuth is shorter than 32 bytes and can be guessed",
      "AndanteWarning",
    );
  }
  return { find: () => key, algorithms: ofSecret, accepted: ["HS256"] };
}

export function secretKey(secret: unknown): Uint8Array {
  if (typeof secret !== "string" || secret.trim() === "") {
    throw new OptionError({ option: "secret", problem: "it must not be empty" });
  }
  return new TextEncoder().encode(secret);
}

/** One key from the options: PEM, or a JWK. */
export function publicKeys(given: string | JsonWebKey): JwtKeys {
  const refuse = (problem: string) => new OptionError({ option: "publicKey", problem });
  const isPrivate =
    typeof given === "string" ? given.includes("PRIVATE KEY") : isObject(given) && "d" in given;
  if (isPrivate) throw refuse("it is a private key; only the issuer needs that one");
  const key = importKey(given);
  if (key === undefined) throw refuse("expected a public key as PEM or JWK");
  const fitting = algorithmsOf(key);
  if (fitting.length === 0)
    throw refuse("expected an RSA key of 2048 bits or more, P-256, P-384, P-521 or Ed25519");
  const { alg = undefined, use = "sig" } = typeof given === "string" ? {} : given;
  if (use !== "sig") throw refuse(`it is not for signatures (use: "${use}")`);
  const algorithms = fitting.filter((algorithm) => alg === undefined || algorithm === alg);
  if (algorithms.length === 0) throw refuse(`its alg "${alg}" does not fit it`);
  return { find: () => key, algorithms, accepted: algorithms };
}

function importKey(given: string | JsonWebKey): KeyObject | undefined {
  try {
    const jwk = (key: JsonWebKey): JsonWebKeyInput => ({ key: { ...key }, format: "jwk" });
    return createPublicKey(typeof given === "string" ? given : jwk(given));
  } catch {
    return undefined;
  }
}

function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string[] {
  if (type === "rsa") return (details.modulusLength ?? 0) >= 2048 ? ofRsa : [];
  if (type === "ed25519") return ofEdwards;
  const curve = type === "ec" ? ofCurve.get(details.namedCurve) : undefined;
  return curve === undefined ? [] : [curve];
}

/** Milliseconds between a failed attempt to read the keys and the next: callers could cause one with every request. */
const pauseAfterFailure = 5000;

/**
 * The keys at an issuer's URL. jose fetches them for the first token, again after ten minutes, and when a token names
 * an unknown key, but not within 30 seconds of the last fetch. So keys can rotate, and no caller can cause a fetch per
 * request.
 */
export function issuerKeys(given: string): JwtKeys {
  const address = readAddress(given);
  const remote = loadJose().then(({ createRemoteJWKSet, customFetch }) =>
    createRemoteJWKSet(address, { [customFetch]: fetchWithPauses() }),
  );
  return {
    async find(header, token) {
      const find = await remote;
      try {
        return await find(header, token);
      } catch (cause) {
        if (await isAboutToken(cause)) throw cause;
        throw new VerificationUnavailableError({ cause });
      }
    },
    algorithms: ofPublicKeys,
    accepted: ofPublicKeys,
  };
}

/** Whether a key lookup failed because of the token; all other failures come from the issuer or the network. */
async function isAboutToken(error: unknown): Promise<boolean> {
  const { errors } = await loadJose();
  const kinds = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
  return kinds.some((kind) => error instanceof kind);
}

function fetchWithPauses(): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (address, options) => {
    if (Date.now() - failedAt < pauseAfterFailure) {
      throw new Error(`the keys could not be read less than ${pauseAfterFailure / 1000} seconds ago`);
    }
    const attempt = fetch(address, options);
    const read = await attempt.then(({ ok }) => ok).catch(() => false);
    if (!read) failedAt = Date.now();
    return attempt;
  };
}

function readAddress(given: unknown): URL {
  const refuse = (problem: string) => new OptionError({ option: "jwksUrl", problem });
  const url = typeof given === "string" ? URL.parse(given) : null;
  if (url === null)
    throw refuse("expected an address such as https://example.auth0.com/.well-known/jwks.json");
  // An attacker who can change the keys in transit can sign any token.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    throw refuse("expected https, except on the machine itself");
  }
  if (url.username !== "" || url.password !== "") throw refuse("it must not hold a user name or a password");
  return url;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}
