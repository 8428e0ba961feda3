import { createLogger, memoryStore, PublicError } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { expect, test, vi } from "vitest";
import { createApp } from "../app.ts";
import {
  AuthenticationRequiredError,
  InvalidTokenError,
  TokenExpiredError,
  VerificationUnavailableError,
} from "../errors/auth-errors.ts";
import { createGate } from "./gate.ts";
import { type AuthProvider, bearerToken, userIdOf } from "./provider.ts";

const logger = createLogger({ level: "silent" });
const auth = { type: "keys", verifyToken: () => ({ id: "ada" }) };

test("the log lists the public routes at start", async () => {
  const info = vi.spyOn(logger, "info");
  const publicRoutes = ["GET /doc", "POST /workflows/:id/execute"];
  const app = createApp({
    store: memoryStore(),
    logger,
    auth: { ...auth, defaultPrivate: true, publicRoutes },
  });
  await app.close({ grace: 0 });
  const known = { provider: "keys", public: ["POST /workflows/:id/execute", "GET /doc"] };
  expect(info).toHaveBeenCalledWith(known, "authentication is on");
  info.mockRestore();
});

test("without a provider no route requires authentication", () => {
  const gate = createGate(undefined, logger);
  expect([gate.enabled, gate.requiresAuth("POST", "/workflows/a/execute", "protected")]).toEqual([
    false,
    false,
  ]);
});

test.each([
  [{}, "public", false],
  [{}, "protected", true],
  [{ defaultPrivate: true }, "public", true],
  [{ publicRoutes: ["GET /a"] }, "protected", false],
  [{ defaultPrivate: true, publicRoutes: ["GET /a"] }, "public", false],
  [{ defaultPrivate: true, publicRoutes: ["GET /b"] }, "public", true],
] as const)("with %j a token for a %s route is needed: %s", (settings, access, needed) => {
  const gate = createGate({ ...auth, ...settings }, logger);
  expect(gate.requiresAuth("GET", "/a", access)).toBe(needed);
  expect(gate.requiresAuth("HEAD", "/a", access)).toBe(needed);
});

test("a broken public route stops the start", () => {
  const store = memoryStore();
  expect(() => createApp({ store, logger, auth: { ...auth, publicRoutes: ["/health"] } })).toThrow(
    "Option publicRoutes",
  );
});

test.each(["", "sign-in", "//example.com", "/\\example.com", "javascript:alert(1)", "https://", 5])(
  "the sign-in page %j stops the start",
  (signInUrl) => {
    const given: object = { ...auth, signInUrl };
    expect(() => createApp({ store: memoryStore(), logger, auth: given as AuthProvider })).toThrow(
      `Option signInUrl: ${JSON.stringify(signInUrl)}: expected an http or https URL`,
    );
  },
);

test.each(["/", "/sign-in?theme=dark", "https://id.example.com/sign-in", "HTTP://localhost:3000"])(
  "the sign-in page may be %j",
  (signInUrl) => {
    expect(createGate({ ...auth, signInUrl }, logger).signInUrl).toBe(signInUrl);
  },
);

const nobody = { user: undefined, userId: undefined };
const ada = { user: { id: "ada" }, userId: "ada" };
const request = (authorization?: string, query = "") =>
  new Request(`http://localhost/ws${query}`, { headers: authorization ? { authorization } : {} });
const http = (raw: Request) => Object({ req: { method: "GET", path: "/a", raw } });

test("without a provider every caller is unknown, with any token", async () => {
  const gate = createGate(undefined, logger);
  const { enabled, provider, tokenIn } = gate;
  expect({ enabled, provider, tokenIn }).toEqual({ enabled: false, provider: undefined, tokenIn: "bearer" });
  const asked = request("Bearer t");
  expect(gate.admit(http(asked), "protected")).toEqual(nobody);
  expect(await gate.admitSocket(asked)).toEqual({ ...nobody, expiresAt: undefined });
  expect(await gate.expiresAt(asked, ada.user)).toBeUndefined();
});

test.each<[Partial<AuthProvider>, unknown]>([
  [{}, "bearer"],
  [{ tokenIn: { in: "query", name: "key" } }, "bearer"],
  [{ extractToken: () => "t" }, "custom"],
  [
    { extractToken: () => "t", tokenIn: { in: "query", name: "key" } },
    { in: "query", name: "key" },
  ],
])("a provider with %j has its token in %j", (settings, tokenIn) => {
  const gate = createGate({ ...auth, ...settings }, logger);
  expect([gate.enabled, gate.provider, gate.tokenIn]).toEqual([true, "keys", tokenIn]);
});

test("a caller is known by its token, in the place that the provider reads", async () => {
  const seen: unknown[] = [];
  const verifyToken = (token: string, from?: Request) => {
    seen.push([token, from]);
    return { id: token };
  };
  const gate = createGate({ ...auth, verifyToken }, logger);
  const asked = request("Bearer ada");
  expect(await gate.admit(http(asked), "protected")).toEqual(ada);
  expect(seen).toEqual([["ada", asked]]);
  const custom = createGate(
    {
      ...{ type: "keys", verifyToken, key: "x-key" },
      extractToken(from: Request) {
        return from.headers.get(this.key) ?? undefined;
      },
    } as AuthProvider & { key: string },
    logger,
  );
  const keyed = new Request("http://localhost/", { headers: { "x-key": "ada" } });
  expect(await custom.admit(http(keyed), "protected")).toEqual(ada);
});

test("a socket's token may be in the query, and ends at the provider's time", async () => {
  const expiresAt = vi.fn(async () => 5000);
  const gate = createGate({ ...auth, webSocket: "protect", expiresAt }, logger);
  for (const asked of [
    request("Bearer t"),
    request(undefined, "?token=t"),
    request("Bearer t", "?token=other"),
  ])
    expect(await gate.admitSocket(asked)).toEqual({ ...ada, expiresAt: 5000 });
  expect(expiresAt.mock.calls).toEqual(Array.from({ length: 3 }, () => ["t", { id: "ada" }]));
  for (const asked of [request(), request(undefined, "?token=")])
    await expect(gate.admitSocket(asked)).rejects.toThrow(AuthenticationRequiredError);
  const open = createGate(auth, logger);
  expect(await open.admitSocket(request("Bearer t"))).toEqual({ ...ada, expiresAt: undefined });
  expect(await open.admitSocket(request())).toEqual({ ...nobody, expiresAt: undefined });
});

test("the end of a request's token is asked for where there is a user and a token", async () => {
  const lines = new RecordingLogger();
  const gate = createGate({ ...auth, expiresAt: (token) => Number(token) }, lines);
  expect(await gate.expiresAt(request("Bearer 7"), ada.user)).toBe(7);
  expect(await gate.expiresAt(request("Bearer 7"), undefined)).toBeUndefined();
  expect(await gate.expiresAt(request(), ada.user)).toBeUndefined();
  expect(lines.lines).toEqual([]);
  const never = gate.expiresAt(request("Bearer soon"), ada.user);
  await expect(never).rejects.toThrow(new InvalidTokenError({ reason: "it could not be verified" }));
  const err = new TypeError("expiresAt of the authentication provider is not a time");
  const msg = "the authentication provider could not verify a token";
  expect(lines.lines).toEqual([{ level: "warn", msg, err }]);
});

const closed = new PublicError("The account is closed");
const broken = new Error("no directory");
const notUser = "it does not belong to a user";
test.each<[string, () => unknown, Error, unknown]>([
  [
    "a public error",
    () => Promise.reject(closed),
    new InvalidTokenError({ reason: closed.message }),
    undefined,
  ],
  ["an expired token", () => Promise.reject(new TokenExpiredError()), new TokenExpiredError(), undefined],
  [
    "no verification",
    () => Promise.reject(new VerificationUnavailableError({ cause: broken })),
    new VerificationUnavailableError({ cause: broken }),
    undefined,
  ],
  [
    "another error",
    () => Promise.reject(broken),
    new InvalidTokenError({ reason: "it could not be verified" }),
    broken,
  ],
  [
    "a value that is no error",
    () => Promise.reject(5),
    new InvalidTokenError({ reason: "it could not be verified" }),
    5,
  ],
  ["no user", () => null, new InvalidTokenError({ reason: notUser }), undefined],
  ["a user that is a text", () => "ada", new InvalidTokenError({ reason: notUser }), undefined],
  [
    "an id that a database takes for another one",
    () => ({ id: "ada\ud800" }),
    new InvalidTokenError({ reason: "the id of its user is not valid: it contains half a surrogate pair" }),
    undefined,
  ],
])(
  "%s of a provider refuses a protected route, and leaves the caller of a public one unknown",
  async (_, verify, refusal, logged) => {
    const lines = new RecordingLogger();
    // As plain JavaScript does it: with any result.
    const gate = createGate({ ...auth, verifyToken: () => verify() as never }, lines);
    const warning = {
      level: "warn",
      msg: "the authentication provider could not verify a token",
      err: logged,
    };
    const warnings = logged === undefined ? [] : [warning];
    await expect(gate.admit(http(request("Bearer t")), "protected")).rejects.toThrow(refusal);
    expect(lines.lines).toEqual(warnings);
    lines.lines.length = 0;
    expect(await gate.admit(http(request("Bearer t")), "public")).toEqual(nobody);
    const msg = "a token on a public route was not accepted";
    expect(lines.lines).toEqual([...warnings, { level: "debug", msg, err: refusal }]);
  },
);

test("without a token a protected route is refused, and a public one is open", async () => {
  const gate = createGate(auth, logger);
  await expect(gate.admit(http(request()), "protected")).rejects.toThrow(new AuthenticationRequiredError());
  expect(await gate.admit(http(request()), "public")).toEqual(nobody);
});

test.each([
  ["Bearer t", "t"],
  ["bearer  t ", "t"],
  ["Bearer", undefined],
  ["Bearer a b", undefined],
  ["Basic t", undefined],
  ["x Bearer t", undefined],
  ["", undefined],
])("the token of %j is %j", (authorization, token) => {
  expect(bearerToken(request(authorization))).toBe(token);
});

test.each([
  [{ id: "ada" }, "ada"],
  [{ id: 0 }, "0"],
  [{ id: 5, sub: "ada" }, "5"],
  [{ sub: "ada" }, "ada"],
  [{ id: null, sub: "ada" }, "ada"],
  [{ id: "" }, undefined],
  [{ id: {} }, undefined],
  [{}, undefined],
])("the id of the user %j is %j", (user, userId) => {
  expect(userIdOf(user)).toBe(userId);
});
