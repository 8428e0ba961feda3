// The console's files at /console: types, caching, the policy, prefixes, and who may have them.
import { createLogger } from "@andante/core";
import { expect, test, vi } from "vitest";
import { call, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const server = await serveForTest();
const script = async () => {
  const page = (await server.get("/console")).text;
  return /src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "";
};

test("the page is the same at every address, with the way back to its root", async () => {
  for (const [address, base] of [
    ["/console", "console/"],
    ["/console/", "./"],
    ["/console/executions", "./"],
    ["/console/executions/a%2Fb", "../"],
    ["/console/a/b/c?tab=run", "../../"],
  ] as const) {
    const { status, headers, text } = await server.get(address);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain(`<base href="${base}">`);
    expect(headers.get("cache-control")).toBe("no-cache");
  }
});

test("its policy lets in no script but the server's own", async () => {
  const policy = (await server.get("/console")).headers.get("content-security-policy") ?? "";
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe-eval");
});

test("it names the sign-in page of the host, and nothing of the request", async () => {
  const signInUrl = `/sign-in?from="><script>&cost=$&`;
  const { get } = await serveForTest({ auth: provider({ signInUrl }) });
  const meta = `<meta name="sign-in-url" content="/sign-in?from=&#34;&#62;&#60;script&#62;&#38;cost=$&#38;">`;
  expect((await get("/console?sign-in-url=/mine")).text).toContain(`<base href="console/">${meta}`);
  expect((await server.get("/console?sign-in-url=/mine")).text).not.toContain("sign-in-url");
});

test("assets never change, and are compressed for who takes that", async () => {
  const address = `/console/${await script()}`;
  const { headers, status } = await server.get(address, { "accept-encoding": "gzip" });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("content-encoding")).toBe("gzip");
  const plain = await server.get(address, { "accept-encoding": "identity" });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(plain.text).toBe((await server.get(address)).text);
});

test("an asset that is not there is 404, and no path leads out of the folder", async () => {
  expect(errorOf(await server.get("/console/assets/none.js"), 404)).toContain("No route");
  for (const path of ["/console/..%2fpackage.json", "/console/assets/..%2f..%2fpackage.json"])
    expect((await server.get(path)).text).not.toContain('"devDependencies"');
});

test("`console: false` leaves it out, and a host's own route keeps its place", async () => {
  const without = await serveForTest({ console: false });
  expect((await without.get("/console")).status).toBe(404);
  expect((await without.get("/")).text).not.toContain('href="console"');
  expect((await server.get("/")).text).toContain('href="console"');
  const own = await serveForTest({
    configureApp: (app) => void app.get("/console/mine", (http) => http.text("mine")),
  });
  expect((await own.get("/console/mine")).text).toBe("mine");
  expect((await own.get("/console")).status).toBe(404);
});

test("in opt-out mode it is 401 until it is listed, and the line at the start names the route to list", async () => {
  const logger = createLogger({ level: "silent" });
  const info = vi.spyOn(logger, "info");
  const lineAt = () => info.mock.calls.findLast(([, text]) => text === "Andante is listening")?.[0];
  const closed = await serveForTest({ auth: provider({ defaultPrivate: true }), logger });
  expect(errorOf(await closed.get("/console"), 401)).toBe("Authentication required");
  expect((await closed.get("/console", bearer(await tokenFor("ada")))).status).toBe(200);
  expect(lineAt()).toMatchObject({
    console: `${closed.url}/console (needs a token: list "GET /console*" in publicRoutes)`,
  });
  const publicRoutes = ["GET /console*"];
  const open = await serveForTest({ auth: provider({ defaultPrivate: true, publicRoutes }), logger });
  expect((await open.get("/console")).status).toBe(200);
  expect((await open.get(`/console/${await script()}`)).status).toBe(200);
  expect((await open.get("/api/inbox")).status).toBe(401);
  expect(lineAt()).toMatchObject({ console: `${open.url}/console` });
});

test("HEAD has the headers alone", async () => {
  const { status, text } = await call(`${server.url}/console`, { method: "HEAD" });
  expect([status, text]).toEqual([200, ""]);
});
