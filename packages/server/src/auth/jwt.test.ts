import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { afterEach, describe, expect, test, vi } from "vitest";
import { InvalidTokenError, TokenExpiredError } from "../errors/auth-errors.ts";
import { createJWT, jwtAuth } from "./jwt.ts";

const secret = "a secret of more than thirty-two bytes";
const key = new TextEncoder().encode(secret);
const now = () => Math.floor(Date.now() / 1000);
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs with the shared secret, with any header. */
function forge(header: object, payload: object, signingKey: string | Uint8Array = secret): string {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createHmac("sha256", signingKey).update(text).digest("base64url")}`;
}

const auth = jwtAuth({ secret });
const refused = (token: string, provider = auth) =>
  expect(provider.verifyToken(token)).rejects.toThrow(InvalidTokenError);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a good token", () => {
  test("gives its payload as the user when nothing maps it", async () => {
    const user = await auth.verifyToken(await createJWT({ sub: "ada", tier: "pro" }, secret));
    expect(user).toMatchObject({ sub: "ada", tier: "pro", iat: expect.any(Number), exp: expect.any(Number) });
  });

  test("gives the user that mapUser returns for its payload", async () => {
    const provider = jwtAuth({ secret, mapUser: ({ sub }) => ({ id: sub, roles: ["admin"] }) });
    const user = await provider.verifyToken(await createJWT({ sub: "ada" }, secret));
    expect(user).toEqual({ id: "ada", roles: ["admin"] });
  });

  test("may have no exp", async () => {
    const token = forge({ alg: "HS256" }, { sub: "ada" });
    await expect(auth.verifyToken(token)).resolves.toEqual({ sub: "ada" });
  });

  test("ends at its exp, in milliseconds; one without exp does not", async () => {
    const token = await createJWT({ sub: "ada" }, secret);
    const { exp, ...user } = await auth.verifyToken(token);
    expect(auth.expiresAt?.(token, user)).toBe(Number(exp) * 1000);
    expect(auth.expiresAt?.(forge({ alg: "HS256" }, { sub: "ada" }), user)).toBeUndefined();
  });

  test("of another HMAC algorithm is accepted when the host allows it", async () => {
    const token = await new SignJWT({ sub: "ada" }).setProtectedHeader({ alg: "HS512" }).sign(key);
    await refused(token);
    const provider = jwtAuth({ secret, verifyOptions: { algorithms: ["HS512"] } });
    await expect(provider.verifyToken(token)).resolves.toEqual({ sub: "ada" });
    await refused(await createJWT({ sub: "ada" }, secret), provider);
  });
});

describe("time has no tolerance", () => {
  test("a token is good until the second that exp names", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000_000_000 });
    const token = await createJWT({ sub: "ada" }, secret, { expiresIn: "10s" });
    vi.setSystemTime(1_000_000_009_000);
    await expect(auth.verifyToken(token)).resolves.toMatchObject({ sub: "ada" });
    vi.setSystemTime(1_000_000_010_000);
    await expect(auth.verifyToken(token)).rejects.toThrow(new TokenExpiredError());
  });

  test("one second before nbf it is not accepted, and that is not called expired", async () => {
    await refused(forge({ alg: "HS256" }, { nbf: now() + 60 }));
    await expect(auth.verifyToken(forge({ alg: "HS256" }, { nbf: now() }))).resolves.toBeDefined();
  });

  test.each([
    [undefined, 3600],
    ["15m", 900],
    ["2h", 7200],
    ["7 days", 604_800],
  ])("createJWT with expiresIn %s lasts %d seconds", async (expiresIn, seconds) => {
    const token = await createJWT({ exp: 1 }, secret, expiresIn === undefined ? {} : { expiresIn });
    const { iat, exp } = await auth.verifyToken(token);
    expect(Number(exp) - Number(iat)).toBe(seconds);
  });

  test.each([{ exp: "soon" }, { nbf: "soon" }])("%j is not accepted", async (payload) => {
    await refused(forge({ alg: "HS256" }, payload));
  });
});

describe("not accepted", () => {
  test.each(["none", "None", "NONE", ""])("the algorithm %j", async (alg) => {
    await refused(`${part({ alg })}.${part({ sub: "ada" })}.`);
    await refused(forge({ alg }, { sub: "ada" }));
  });

  test("a public key used as the shared secret of HS256, or the other way round", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    await refused(forge({ alg: "HS256" }, { sub: "ada" }, pem));
    await refused(await new SignJWT({ sub: "ada" }).setProtectedHeader({ alg: "RS256" }).sign(privateKey));
    await refused(forge({ alg: "RS256" }, { sub: "ada" }));
  });

  test("keys that the token brings along", async () => {
    const other = "another secret of more than thirty-two bytes";
    const jwk = { kty: "oct", k: Buffer.from(other).toString("base64url") };
    await refused(forge({ alg: "HS256", jwk, kid: "../../dev/null" }, { sub: "ada" }, other));
  });

  test("an extension that must be understood", async () => {
    await refused(forge({ alg: "HS256", crit: ["b64"], b64: false }, { sub: "ada" }));
  });

  test.each(["", "a", "a.b", "a.b.c", "..", "a.b.c.d.e", `${part({ alg: "HS256" })}..`, "\u0000", "é.é.é"])(
    "%j",
    (token) => refused(token),
  );

  test("a changed payload, and another secret", async () => {
    const token = await createJWT({ sub: "ada" }, secret);
    const [header, , signature] = token.split(".");
    await refused(`${header}.${part({ sub: "root" })}.${signature}`);
    await refused(await createJWT({ sub: "ada" }, `${secret}!`));
  });

  test.each([
    ["audience", { audience: "a" }],
    ["issuer", { issuer: "i" }],
  ])("another %s, or none", async (name, verifyOptions) => {
    const provider = jwtAuth({ secret, verifyOptions });
    await expect(provider.verifyToken(await createJWT({}, secret, verifyOptions))).resolves.toBeDefined();
    await refused(await createJWT({}, secret), provider);
    await refused(await createJWT({}, secret, { [name]: "other" }), provider);
  });

  test("a token for which mapUser throws; the gate decides which part of the error is shown", async () => {
    const closed = new Error("this account is closed");
    const provider = jwtAuth({
      secret,
      mapUser: () => {
        throw closed;
      },
    });
    await expect(provider.verifyToken(await createJWT({}, secret))).rejects.toBe(closed);
  });
});

describe("at start", () => {
  test.each(["", "   "])("the secret %j is refused", (empty) => {
    expect(() => jwtAuth({ secret: empty })).toThrow("Option secret: it must not be empty");
    expect(() => createJWT({}, empty)).toThrow("Option secret: it must not be empty");
  });

  test("a secret under 32 bytes is warned about, one of 32 is not", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    jwtAuth({ secret: "x".repeat(32) });
    expect(warn).not.toHaveBeenCalled();
    jwtAuth({ secret: "x".repeat(31) });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining("shorter than 32 bytes"),
      "AndanteWarning",
    );
  });

  test.each(["none", "RS256", "ES256", "EdDSA", "hs256"])("the algorithm %s is refused", (algorithm) => {
    expect(() => jwtAuth({ secret, verifyOptions: { algorithms: [algorithm] } })).toThrow(
      "verifyOptions.algorithms",
    );
  });

  test.each(["audience", "issuer"])("an empty %s is refused: it would mean any", (name) => {
    expect(() => jwtAuth({ secret, verifyOptions: { [name]: "" } })).toThrow(`verifyOptions.${name}`);
  });
});
