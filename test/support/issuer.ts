// An issuer of tokens on loopback: real keys, published where a real one publishes them.
import { once } from "node:events";
import { createServer } from "node:http";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { cleanup } from "./cleanup.ts";

export const audience = "https://api.example";

export interface SigningKey {
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function makeKey(algorithm = "RS256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { algorithm, privateKey, jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), use: "sig" } };
}

export class Issuer {
  /** The keys that it publishes now. */
  keys: readonly SigningKey[];
  /** Its response; 200 with the keys unless a test changes it. */
  response: { readonly status: number; readonly body: string } | undefined;
  /** How often its keys were asked for. */
  asked = 0;
  readonly url: string;
  /** Stops listening. */
  readonly stop: () => Promise<void>;

  private constructor(keys: readonly SigningKey[], url: string, stop: () => Promise<void>) {
    this.keys = keys;
    this.url = url;
    this.stop = stop;
  }

  static async start(...keys: readonly SigningKey[]): Promise<Issuer> {
    const server = createServer((_, response) => {
      issuer.asked++;
      const { status, body } = issuer.response ?? {
        status: 200,
        body: JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }),
      };
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const stop = async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    };
    const issuer = new Issuer(keys, `http://127.0.0.1:${port}/`, stop);
    cleanup(stop);
    return issuer;
  }

  get jwksUrl(): string {
    return `${this.url}.well-known/jwks.json`;
  }

  /** A token of this issuer, signed with its latest key unless another is given. */
  async token(claims: TokenClaims = {}, key = this.keys.at(-1)): Promise<string> {
    if (key === undefined) throw new Error("the issuer has no key");
    const { issuer = this.url, audience: intended = audience, expiresIn = "5m", kid = key.jwk.kid } = claims;
    return new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg: key.algorithm, ...(kid && { kid }) })
      .setIssuer(issuer)
      .setAudience(intended)
      .setExpirationTime(expiresIn)
      .sign(key.privateKey);
  }
}

export interface TokenClaims {
  readonly issuer?: string;
  readonly audience?: string;
  readonly expiresIn?: string;
  readonly kid?: string;
}
