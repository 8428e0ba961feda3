// Custom providers: where a token may be, and the response to a refused token.
import { PermanentError, PublicError } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import {
  type AuthProvider,
  InvalidTokenError,
  jwtAuth,
  TokenExpiredError,
  VerificationUnavailableError,
} from "@andante/server";
import { describe, expect, test } from "vitest";
import { dataOf, errorOf, fieldsOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, secret, tokenFor } from "../support/tokens.ts";

let server: TestServer;

async function serveWith(members: Partial<AuthProvider>): Promise<void> {
  const verifyToken = (token: string) => {
    if (token !== "good") throw new Error("unknown key");
    return { id: "ada" };
  };
  server = await serveForTest({ auth: { type: "keys", verifyToken, ...members } });
}
const execute = (headers: Record<string, string> = {}, query = "") =>
  server.post(`/workflows/mirror/execute${query}`, { input: {} }, headers);

describe("extractToken", () => {
  const cookie = (request: Request) =>
    /(?:^|; )session=([^;]*)/.exec(request.headers.get("cookie") ?? "")?.[1];

  test("may read a header of its own; Authorization then counts for nothing", async () => {
    await serveWith({ extractToken: (request) => request.headers.get("x-api-key") ?? undefined });
    expect(fieldsOf(dataOf(await execute({ "x-api-key": "good" })), "result").userId).toBe("ada");
    expect(errorOf(await execute(bearer("good")), 401)).toBe("Authentication required");
    expect(errorOf(await execute({ "x-api-key": "bad" }), 401)).toBe(
      "Invalid token: it could not be verified",
    );
  });

  test("may read a cookie", async () => {
    await serveWith({ extractToken: cookie });
    expect((await execute({ cookie: "a=b; session=good" })).status).toBe(200);
    expect(errorOf(await execute({ cookie: "session=" }), 401)).toBe("Authentication required");
    expect(errorOf(await execute({ cookie: "session=bad" }), 401)).toBe(
      "Invalid token: it could not be verified",
    );
  });

  test("may read the query", async () => {
    await serveWith({
      extractToken: (request) => new URL(request.url).searchParams.get("token") ?? undefined,
    });
    expect((await execute({}, "?token=good")).status).toBe(200);
    expect(errorOf(await execute(), 401)).toBe("Authentication required");
  });

  test("that throws is an invalid token, and on a public route no token", async () => {
    await serveWith({ extractToken: () => decodeURIComponent("%") });
    expect(errorOf(await execute(), 401)).toBe("Invalid token: it could not be verified");
    expect((await server.get("/workflows")).status).toBe(200);
  });

  test("has its provider as this", async () => {
    const own = {
      type: "own",
      header: "x-key",
      extractToken(request: Request) {
        return request.headers.get(this.header) ?? undefined;
      },
      verifyToken: () => ({ id: "ada" }),
    };
    server = await serveForTest({ auth: own });
    expect((await execute({ "x-key": "any" })).status).toBe(200);
  });
});

describe("verifyToken", () => {
  test("gets the request, too", async () => {
    await serveWith({
      verifyToken: async (token, request) => ({ id: `${token} ${request?.headers.get("x-tenant")}` }),
    });
    const answer = await execute({ ...bearer("t"), "x-tenant": "acme" });
    expect(fieldsOf(dataOf(answer), "result").userId).toBe("t acme");
  });

  const neutral = "Invalid token: it could not be verified";
  const system = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { syscall: "connect" });
  test.each([
    ["an error", new Error("select * from keys: no such key"), neutral],
    ["an error of the system", system, neutral],
    ["an error of ours that is about something else", new PermanentError("disk full"), neutral],
    ["a word", "because", neutral],
    ["nothing", undefined, neutral],
    ["our PublicError", new PublicError("this account is closed"), "Invalid token: this account is closed"],
    ["our InvalidTokenError", new InvalidTokenError({ reason: "revoked" }), "Invalid token: revoked"],
    ["our TokenExpiredError", new TokenExpiredError(), "Token expired"],
  ])("that throws %s is 401", async (_, thrown, message) => {
    await serveWith({
      verifyToken: () => {
        throw thrown;
      },
    });
    expect(errorOf(await execute(bearer("any")), 401)).toBe(message);
    expect((await server.get("/workflows", bearer("any"))).status).toBe(200);
  });

  test("that cannot decide now is 503 with Retry-After where a token is needed, and no token elsewhere", async () => {
    await serveWith({ verifyToken: () => Promise.reject(new VerificationUnavailableError()) });
    const refused = await execute(bearer("any"));
    expect(errorOf(refused, 503)).toBe("The token cannot be verified right now, try again later");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await server.get("/workflows", bearer("any"))).status).toBe(200);
  });

  test("that finds no user is 401", async () => {
    await serveWith({ verifyToken: () => JSON.parse("null") });
    expect(errorOf(await execute(bearer("any")), 401)).toBe("Invalid token: it does not belong to a user");
  });
});

describe("errors not made for callers reach the log", () => {
  const broken = () => {
    throw new Error("column secret_hash does not exist");
  };
  test.each([
    ["verifyToken", { type: "own", verifyToken: broken }],
    ["extractToken", { type: "own", verifyToken: () => ({ id: "ada" }), extractToken: broken }],
    ["mapUser", jwtAuth({ secret, mapUser: broken })],
  ])("of %s, on routes that need a token and on others", async (_, auth) => {
    const logger = new RecordingLogger();
    server = await serveForTest({ auth, logger });
    const headers = bearer(await tokenFor("ada"));
    expect(errorOf(await execute(headers), 401)).toBe("Invalid token: it could not be verified");
    expect((await server.get("/workflows", headers)).status).toBe(200);
    const line = {
      msg: "the authentication provider could not verify a token",
      err: { message: "column secret_hash does not exist" },
    };
    const warnings = logger.lines.filter(({ level, err }) => level === "warn" && err !== undefined);
    expect(warnings).toMatchObject([line, line]);
  });

  test("a token that is simply bad is not a warning", async () => {
    const logger = new RecordingLogger();
    server = await serveForTest({ auth: jwtAuth({ secret }), logger });
    expect(errorOf(await execute(bearer("x.y.z")), 401)).toMatch(/^Invalid token: ./);
    expect(logger.lines.filter(({ level, err }) => level === "warn" && err !== undefined)).toEqual([]);
  });
});

test("a provider's own modes and public routes are followed", async () => {
  await serveWith({ defaultPrivate: true, publicRoutes: ["GET /health"] });
  expect((await server.get("/health")).status).toBe(200);
  expect(errorOf(await server.get("/workflows"), 401)).toBe("Authentication required");
  expect((await server.get("/workflows", bearer("good"))).status).toBe(200);
});

test("the refusal comes before every other: unknown workflow, broken body, wrong type", async () => {
  await serveWith({});
  const answer = await server.post("/workflows/unknown/execute", "{", { "content-type": "text/plain" });
  expect(errorOf(answer, 401)).toBe("Authentication required");
});
