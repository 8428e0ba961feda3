// Tokens of an issuer with keys of its own: by its published keys, over real HTTP, and by one public key.
import { createHmac } from "node:crypto";
import { jwtAuth } from "@andante/server";
import { exportPKCS8, exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { afterEach, describe, expect, test, vi } from "vitest";
import { audience, Issuer, makeKey, type SigningKey } from "../support/issuer.ts";
import { dataOf, errorOf, fieldsOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer } from "../support/tokens.ts";

const rsa = await makeKey();
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

afterEach(() => vi.useRealTimers());

async function start(...keys: readonly SigningKey[]) {
  const issuer = await Issuer.start(...keys);
  const verifyOptions = { issuer: issuer.url, audience };
  const server = await serveForTest({ auth: jwtAuth({ jwksUrl: issuer.jwksUrl, verifyOptions }) });
  return { issuer, server };
}
const execute = (server: TestServer, token: string) =>
  server.post("/workflows/mirror/execute", { input: {} }, bearer(token));
const userOf = async (server: TestServer, token: string) =>
  fieldsOf(dataOf(await execute(server, token)), "result").userId;

describe("keys that an issuer publishes", () => {
  test.each(["RS256", "PS256", "ES256", "ES384", "EdDSA"])(
    "%s is accepted, and the keys are read once",
    async (algorithm) => {
      const { issuer, server } = await start(await makeKey(algorithm));
      expect(await userOf(server, await issuer.token())).toBe("ada");
      expect(await userOf(server, await issuer.token())).toBe("ada");
      expect(issuer.asked).toBe(1);
    },
  );

  test.each([
    ["another issuer", { issuer: "https://other.example/" }, /^Invalid token: .*"iss"/],
    ["another audience", { audience: "https://other.example" }, /^Invalid token: .*"aud"/],
    ["an expired one", { expiresIn: "-1s" }, "Token expired"],
    ["one of an unknown key", { kid: "unknown" }, /^Invalid token: no applicable key/],
  ])("a token is refused: %s", async (_, claims, message) => {
    const { issuer, server } = await start(rsa);
    expect(errorOf(await execute(server, await issuer.token(claims)), 401)).toMatch(message);
  });

  test("a token signed with a key that the issuer does not publish is refused, even with the id of a known key", async () => {
    const { issuer, server } = await start(rsa);
    const token = await issuer.token({ kid: rsa.jwk.kid ?? "" }, await makeKey());
    expect(errorOf(await execute(server, token), 401)).toBe("Invalid token: signature verification failed");
  });

  test("neither none nor HMAC with the text of the public key is accepted", async () => {
    const { issuer, server } = await start(rsa);
    const claims = { sub: "root", iss: issuer.url, aud: audience, exp: Date.now() };
    const unsigned = `${part({ alg: "none", kid: rsa.jwk.kid })}.${part(claims)}.`;
    expect(errorOf(await execute(server, unsigned), 401)).toMatch(/^Invalid token: ./);
    const text = `${part({ alg: "HS256", kid: rsa.jwk.kid })}.${part(claims)}`;
    for (const secret of [await pemOf(), JSON.stringify(rsa.jwk), rsa.jwk.n ?? ""]) {
      const signature = createHmac("sha256", secret).update(text).digest("base64url");
      expect(errorOf(await execute(server, `${text}.${signature}`), 401)).toMatch(/^Invalid token: "alg"/);
    }
  });

  test("they rotate: a token of a new key is accepted, and one of a key that is gone refused", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { issuer, server } = await start(rsa);
    const old = await issuer.token({ expiresIn: "1h" });
    expect(await userOf(server, old)).toBe("ada");
    issuer.keys = [rsa, await makeKey("ES256")];
    // So soon after the keys were read they are not read again: that would be for every caller to demand.
    const fresh = await issuer.token({ expiresIn: "1h" });
    expect((await execute(server, fresh)).status).toBe(401);
    expect(issuer.asked).toBe(1);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await userOf(server, fresh)).toBe("ada");
    expect(await userOf(server, old)).toBe("ada");
    issuer.keys = issuer.keys.slice(1);
    vi.setSystemTime(Date.now() + 601_000);
    expect(errorOf(await execute(server, old), 401)).toMatch(/^Invalid token: no applicable key/);
    expect(issuer.asked).toBe(3);
  });

  test.each([
    ["is down", (issuer: Issuer) => issuer.stop()],
    ["fails", (issuer: Issuer) => Object.assign(issuer, { response: { status: 500, body: "{}" } })],
    [
      "sends something else",
      (issuer: Issuer) => Object.assign(issuer, { response: { status: 200, body: "<html>" } }),
    ],
    ["has moved", (issuer: Issuer) => Object.assign(issuer, { response: { status: 302, body: "" } })],
  ])("while the issuer %s no good token is refused: 503 with Retry-After", async (_, trouble) => {
    const { issuer, server } = await start(rsa);
    const token = await issuer.token();
    await trouble(issuer);
    const refused = await execute(server, token);
    expect(errorOf(refused, 503)).toBe("The token cannot be verified right now, try again later");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await server.get("/workflows", bearer(token))).status).toBe(200);
  });

  test("an issuer in trouble is not asked with every request, and keys that are known serve on", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { issuer, server } = await start(rsa);
    issuer.response = { status: 500, body: "" };
    const token = await issuer.token();
    for (const _ of [1, 2, 3]) expect((await execute(server, token)).status).toBe(503);
    expect(issuer.asked).toBe(1);
    issuer.response = undefined;
    vi.setSystemTime(Date.now() + 5000);
    expect(await userOf(server, token)).toBe("ada");
    await issuer.stop();
    vi.setSystemTime(Date.now() + 60_000);
    expect(await userOf(server, token)).toBe("ada");
  });
});

const pemOf = async () => {
  const key = await importJWK(rsa.jwk, "RS256", { extractable: true });
  if (key instanceof Uint8Array) throw new Error("expected a public key");
  return exportSPKI(key);
};

describe("one public key", () => {
  const issuer = "https://issuer.example";
  const sign = (key = rsa, alg = key.algorithm) =>
    new SignJWT({ sub: "ada", iss: issuer, aud: audience }).setProtectedHeader({ alg }).sign(key.privateKey);
  const verifyOptions = { issuer, audience };

  test("as PEM", async () => {
    const auth = jwtAuth({ publicKey: await pemOf(), verifyOptions });
    await expect(auth.verifyToken(await sign())).resolves.toMatchObject({ sub: "ada" });
    await expect(auth.verifyToken(await sign(await makeKey()))).rejects.toThrow(
      "signature verification failed",
    );
  });

  test.each(["PS512", "ES256", "ES384", "ES512", "EdDSA"])("as JWK, for %s", async (algorithm) => {
    const key = await makeKey(algorithm);
    const auth = jwtAuth({ publicKey: key.jwk, verifyOptions });
    await expect(auth.verifyToken(await sign(key))).resolves.toMatchObject({ sub: "ada" });
  });

  test("is never the secret of an HMAC", async () => {
    const publicKey = await pemOf();
    const auth = jwtAuth({ publicKey });
    const text = `${part({ alg: "HS256" })}.${part({ sub: "root" })}`;
    const forged = `${text}.${createHmac("sha256", publicKey).update(text).digest("base64url")}`;
    await expect(auth.verifyToken(forged)).rejects.toThrow('Invalid token: "alg"');
    await expect(auth.verifyToken(`${part({ alg: "none" })}.${part({ sub: "root" })}.`)).rejects.toThrow(
      "Invalid token: ",
    );
  });

  test("that names its algorithm accepts no other", async () => {
    const auth = jwtAuth({ publicKey: { ...rsa.jwk, alg: "RS512" } });
    await expect(auth.verifyToken(await sign())).rejects.toThrow('Invalid token: "alg"');
  });
});

describe("at start", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const privatePem = await exportPKCS8(privateKey);
  const { jwk } = rsa;
  const weak = { kty: "RSA", e: "AQAB", n: Buffer.alloc(128, 0xff).toString("base64url") };
  const secret = "x".repeat(32);
  const jwksUrl = "https://issuer.example/jwks.json";

  test.each([
    ["nothing", {}, "give one of secret, publicKey and jwksUrl"],
    ["two at once", { secret, jwksUrl }, "Option secret and jwksUrl: give only one"],
    [
      "an empty secret beside a key",
      { secret: "", publicKey: jwk },
      "Option secret and publicKey: give only one",
    ],
    ["a private key as PEM", { publicKey: privatePem }, "it is a private key"],
    ["a private key as JWK", { publicKey: { ...jwk, d: "AQAB" } }, "it is a private key"],
    ["a secret as JWK", { publicKey: { kty: "oct", k: "c2VjcmV0" } }, "expected a public key as PEM or JWK"],
    ["no key at all", { publicKey: "secret" }, "expected a public key as PEM or JWK"],
    ["an RSA key of 1024 bits", { publicKey: weak }, "expected an RSA key of 2048 bits or more"],
    ["a key for encryption", { publicKey: { ...jwk, use: "enc" } }, 'it is not for signatures (use: "enc")'],
    [
      "a key with the alg of another",
      { publicKey: { ...jwk, alg: "HS256" } },
      'its alg "HS256" does not fit it',
    ],
    [
      "HMAC with a public key",
      { publicKey: jwk, verifyOptions: { algorithms: ["HS256"] } },
      '"HS256" is not one of RS256',
    ],
    [
      "ECDSA with an RSA key",
      { publicKey: jwk, verifyOptions: { algorithms: ["ES256"] } },
      '"ES256" is not one of',
    ],
    [
      "HMAC with published keys",
      { jwksUrl, verifyOptions: { algorithms: ["HS256"] } },
      '"HS256" is not one of RS256',
    ],
    [
      "none with published keys",
      { jwksUrl, verifyOptions: { algorithms: ["none"] } },
      '"none" is not one of',
    ],
    ["no address", { jwksUrl: "issuer.example" }, "Option jwksUrl: expected an address"],
    ["plain http", { jwksUrl: "http://issuer.example/jwks" }, "expected https, except on the machine itself"],
    ["plain http to a name like loopback", { jwksUrl: "http://127.0.0.1.example/jwks" }, "expected https"],
    ["another scheme", { jwksUrl: "file:///etc/passwd" }, "expected https"],
    ["an address with a password", { jwksUrl: "https://a:b@issuer.example/" }, "must not hold a user name"],
  ])("%s is refused", (_, options, problem) => {
    expect(() => jwtAuth(options)).toThrow(problem);
  });

  test.each(["http://localhost:1/", "http://127.1.2.3/", "http://[::1]:1/", jwksUrl])(
    "%s is accepted",
    (address) => {
      expect(jwtAuth({ jwksUrl: address }).type).toBe("jwt");
    },
  );
});
