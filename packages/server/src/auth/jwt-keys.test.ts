// The keys of a token's signature: which are accepted, for which algorithms, and how often an issuer is asked.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import { VerificationUnavailableError } from "../errors/auth-errors.ts";
import { issuerKeys, publicKeys, secretKeys } from "./jwt-keys.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const edwards = generateKeyPairSync("ed25519");
const curve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).publicKey;
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const jwk = (key: KeyObject) => key.export({ format: "jwk" });

describe("a public key", () => {
  test.each<[string, KeyObject, string[]]>([
    ["RSA of 2048 bits", rsa.publicKey, rsaAlgorithms],
    ["P-256", curve("prime256v1"), ["ES256"]],
    ["P-384", curve("secp384r1"), ["ES384"]],
    ["P-521", curve("secp521r1"), ["ES512"]],
    ["Ed25519", edwards.publicKey, ["EdDSA", "Ed25519"]],
  ])("of %s fits its own algorithms", async (_, key, algorithms) => {
    for (const given of [pem(key), jwk(key), { ...jwk(key), use: "sig" }]) {
      const keys = publicKeys(given);
      expect({ ...keys, find: undefined }).toEqual({ find: undefined, algorithms, accepted: algorithms });
      expect(key.equals(Object(await keys.find({ alg: "" }, Object({}))))).toBe(true);
    }
  });

  test("that names its algorithm fits this one alone", () => {
    expect(publicKeys({ ...jwk(rsa.publicKey), alg: "PS384" }).accepted).toEqual(["PS384"]);
  });

  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const unfit = "expected an RSA key of 2048 bits or more, P-256, P-384, P-521 or Ed25519";
  const isPrivate = "it is a private key; only the issuer needs that one";
  const none = "expected a public key as PEM or JWK";
  const pkcs8 = rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  test.each<[string, unknown, string]>([
    ["RSA of 1024 bits", pem(weak), unfit],
    ["another curve", pem(curve("secp256k1")), unfit],
    ["a key for agreement", pem(generateKeyPairSync("x25519").publicKey), unfit],
    ["a private PEM", pkcs8, isPrivate],
    ["a private JWK", jwk(edwards.privateKey), isPrivate],
    ["a text", "key", none],
    ["an empty JWK", {}, none],
    ["null", null, none],
    ["a key for encryption", { ...jwk(rsa.publicKey), use: "enc" }, 'it is not for signatures (use: "enc")'],
    ["an alg of another key", { ...jwk(rsa.publicKey), alg: "ES256" }, 'its alg "ES256" does not fit it'],
  ])("is not %s", (_, given, problem) => {
    const make = () => Reflect.apply(publicKeys, undefined, [given]);
    expect(make).toThrow(`Option publicKey: ${problem}`);
  });
});

test("a secret fits the HMAC algorithms, and HS256 alone unless the host chooses; a short one is warned about", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  const keys = secretKeys("short");
  expect({ ...keys, find: await keys.find({ alg: "" }, Object({})) }).toEqual({
    find: new TextEncoder().encode("short"),
    algorithms: ["HS256", "HS384", "HS512"],
    accepted: ["HS256"],
  });
  const text = "the secret of jwtAuth is shorter than 32 bytes and can be guessed";
  expect(warn.mock.calls).toEqual([[text, "AndanteWarning"]]);
  expect(() => secretKeys(5)).toThrow("Option secret: it must not be empty");
});

describe("the keys of an issuer", () => {
  const address = "expected an address such as https://example.auth0.com/.well-known/jwks.json";
  const https = "expected https, except on the machine itself";
  const credentials = "it must not hold a user name or a password";
  test.each<[unknown, string]>([
    ["issuer", address],
    [5, address],
    ["ftp://localhost/keys", https],
    ["http://issuer.example/keys", https],
    ["http://127.example.com/keys", https],
    ["http://128.0.0.1/keys", https],
    ["https://ada@issuer.example/keys", credentials],
    ["https://:secret@issuer.example/keys", credentials],
  ])("are not read at %s", (given, problem) => {
    const make = () => Reflect.apply(issuerKeys, undefined, [given]);
    expect(make).toThrow(`Option jwksUrl: ${problem}`);
  });

  const all = [...rsaAlgorithms, "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
  test.each([
    "https://issuer.example/keys",
    "http://localhost:1/keys",
    "http://127.0.0.1:1/keys",
    "http://127.9.9.9/keys",
    "http://[::1]:1/keys",
  ])("are read at %s", (given) => {
    expect(issuerKeys(given)).toEqual({ find: expect.any(Function), algorithms: all, accepted: all });
  });

  test("are found by the token's header; a token that names none of them is at fault", async () => {
    const keys = [{ ...jwk(rsa.publicKey), kid: "one", alg: "RS256" }];
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ keys }));
    const { find } = issuerKeys("https://issuer.example/keys");
    expect(await find({ alg: "RS256", kid: "one" }, Object({}))).toMatchObject({ type: "public" });
    await expect(find({ alg: "RS256", kid: "two" }, Object({}))).rejects.toHaveProperty(
      "code",
      "ERR_JWKS_NO_MATCHING_KEY",
    );
    await expect(find({ alg: "HS256" }, Object({}))).rejects.toHaveProperty("code", "ERR_JOSE_NOT_SUPPORTED");
    expect(fetch.mock.calls.map(([url]) => String(url))).toEqual(["https://issuer.example/keys"]);
  });

  test.each([
    ["an issuer that is not there", () => Promise.reject(new TypeError("fetch failed"))],
    ["an issuer in trouble", async () => new Response("", { status: 500 })],
  ])("%s is asked again after five seconds, and not before", async (_, reply) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(reply);
    const { find } = issuerKeys("https://issuer.example/keys");
    const ask = () => Promise.resolve(find({ alg: "RS256" }, Object({}))).catch((error: unknown) => error);
    expect(await ask()).toBeInstanceOf(VerificationUnavailableError);
    vi.setSystemTime(1_004_999);
    const early = await ask();
    expect(early).toBeInstanceOf(VerificationUnavailableError);
    expect(early).toHaveProperty("cause.message", "the keys could not be read less than 5 seconds ago");
    expect(fetch).toHaveBeenCalledTimes(1);
    vi.setSystemTime(1_005_000);
    await ask();
    expect(fetch).toHaveBeenCalledTimes(2);
  });
});
