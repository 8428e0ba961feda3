import { createLogger, createWorkflow, memoryStore } from "@andante/core";
import { cors as honoCors } from "hono/cors";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type App, createApp } from "../app.ts";
import type { AppOptions } from "../app-options.ts";
import { jwtAuth } from "../auth/jwt.ts";

const hello = createWorkflow({ id: "hello", input: z.object({ name: z.string() }) }).andThen({
  id: "greet",
  execute: ({ data }) => {
    if (data.name === "nobody") throw new Error("there is nobody");
    return `Hello ${data.name}`;
  },
});
const origin = "http://page.example";
const other = "http://other.example";
const logger = createLogger({ level: "silent" });

let app: App;
afterEach(() => app.close({ grace: 0 }));

function make(options: Partial<AppOptions> = {}): void {
  app = createApp({
    workflows: { hello },
    store: memoryStore(),
    logger,
    configureApp: (custom) => {
      custom.get("/custom", (c) => c.text("custom"));
      custom.get("/varied", (c) => c.text("varied", 200, { vary: "Accept" }));
      custom.get("/redirect", () => Response.redirect("http://page.example/", 302));
      custom.get("/broken", () => {
        throw new Error("broken");
      });
    },
    ...options,
  });
}

const send = async (
  method: string,
  path: string,
  headers: Record<string, string> = { origin },
  body?: object,
) =>
  app.fetch(
    new Request(`http://server.example${path}`, {
      method,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
const preflight = (path: string, from = origin, headers = "authorization,x-mine") =>
  send("OPTIONS", path, {
    origin: from,
    "access-control-request-method": "POST",
    "access-control-request-headers": headers,
  });
const allowed = (response: Response) => response.headers.get("access-control-allow-origin");

describe("omitted", () => {
  test("every origin may read every response", async () => {
    make();
    for (const path of ["/workflows", "/custom", "/", "/ui", "/doc", "/health", "/redirect"]) {
      const response = await send("GET", path);
      expect(allowed(response), path).toBe("*");
      expect(response.headers.get("access-control-expose-headers")).toBe(
        "x-execution-id, x-error-code, location, retry-after",
      );
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test.each([
    [401, "POST", "/workflows/hello/execute", undefined],
    [404, "GET", "/workflows/unknown", undefined],
    [404, "GET", "/nowhere", undefined],
    [400, "POST", "/workflows/hello/execute", { input: {} }],
    [500, "POST", "/workflows/hello/execute", { input: { name: "nobody" } }],
    [500, "GET", "/broken", undefined],
  ])("also an error: %d of %s %s", async (status, method, path, body) => {
    make(status === 401 ? { auth: jwtAuth({ secret: "x".repeat(32) }) } : {});
    const response = await send(method, path, { origin }, body);
    expect(response.status).toBe(status);
    expect(allowed(response)).toBe("*");
  });

  test("and a 401 of a custom route", async () => {
    make({ auth: jwtAuth({ secret: "x".repeat(32), defaultPrivate: true }) });
    const response = await send("GET", "/custom");
    expect([response.status, allowed(response)]).toEqual([401, "*"]);
  });

  test("and a 503", async () => {
    make();
    await app.close({ grace: 0 });
    const response = await send("POST", "/workflows/hello/execute", { origin }, { input: { name: "Ada" } });
    expect([response.status, allowed(response)]).toEqual([503, "*"]);
  });

  test("and a stream of events", async () => {
    make();
    const response = await send("POST", "/workflows/hello/stream", { origin }, { input: { name: "Ada" } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(allowed(response)).toBe("*");
    await response.text();
  });

  test.each(["/workflows/hello/execute", "/custom", "/nowhere"])(
    "a preflight of %s is handled before authentication",
    async (path) => {
      make({ auth: jwtAuth({ secret: "x".repeat(32), defaultPrivate: true }) });
      const response = await preflight(path);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
      expect(allowed(response)).toBe("*");
      expect(response.headers.get("access-control-allow-methods")).toBe(
        "GET, HEAD, PUT, POST, DELETE, PATCH",
      );
      expect(response.headers.get("access-control-allow-headers")).toBe("authorization,x-mine");
    },
  );
});

describe("an object", () => {
  test.each([
    ["a string", origin],
    ["an array", [origin, "http://third.example"]],
    ["a function", (asked: string) => (asked === origin ? asked : undefined)],
  ])("origin as %s lets that one in and no other", async (_, rule) => {
    make({ cors: { origin: rule } });
    for (const path of ["/workflows", "/custom", "/nowhere"]) {
      const yes = await send("GET", path);
      expect([allowed(yes), yes.headers.get("vary")]).toEqual([origin, "Origin"]);
      const no = await send("GET", path, { origin: other });
      expect([allowed(no), no.headers.get("vary")]).toEqual([null, "Origin"]);
      expect(allowed(await send("GET", path, {}))).toBeNull();
    }
    expect(allowed(await preflight("/workflows"))).toBe(origin);
    expect(allowed(await preflight("/workflows", other))).toBeNull();
  });

  test("the rest of it is followed", async () => {
    make({
      cors: {
        origin,
        allowHeaders: ["authorization"],
        allowMethods: ["GET", "POST"],
        exposeHeaders: ["x-mine"],
        maxAge: 600,
        credentials: true,
      },
    });
    const { headers } = await preflight("/workflows/hello/execute");
    expect(headers.get("access-control-allow-headers")).toBe("authorization");
    expect(headers.get("access-control-allow-methods")).toBe("GET, POST");
    expect(headers.get("access-control-max-age")).toBe("600");
    expect(headers.get("access-control-allow-credentials")).toBe("true");
    const response = await send("GET", "/workflows");
    expect(response.headers.get("access-control-expose-headers")).toBe("x-mine");
    expect(response.headers.get("access-control-allow-credentials")).toBe("true");
    const stranger = await send("GET", "/workflows", { origin: other });
    expect(stranger.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test.each([[undefined], ["*"], [["*"]], [() => "*"]])(
    "credentials do not go with the origin %s",
    async (rule) => {
      const warn = vi.spyOn(logger, "warn");
      make({ cors: { credentials: true, ...(rule && { origin: rule }) } });
      if (typeof rule !== "function") expect(warn).toHaveBeenCalledOnce();
      for (const response of [await send("GET", "/workflows"), await preflight("/custom")]) {
        expect(allowed(response)).toBe("*");
        expect(response.headers.get("access-control-allow-credentials")).toBeNull();
      }
      warn.mockRestore();
    },
  );

  test("the Vary header of a custom route stays", async () => {
    make({ cors: { origin } });
    expect((await send("GET", "/varied")).headers.get("vary")).toBe("Accept, Origin");
  });

  test("a function that throws is 500 in the envelope", async () => {
    make({
      cors: {
        origin: () => {
          throw new Error("secret words");
        },
      },
    });
    for (const path of ["/workflows", "/custom"]) {
      const response = await send("GET", path);
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual({ success: false, error: "Internal server error" });
    }
  });
});

describe("false", () => {
  test("no response has a header of ours, and no preflight is handled", async () => {
    make({ cors: false });
    for (const path of ["/workflows", "/custom", "/nowhere"]) {
      const response = await send("GET", path);
      expect([...response.headers.keys()].filter((name) => /^access|^vary/.test(name))).toEqual([]);
    }
    expect((await preflight("/workflows")).status).toBe(404);
  });

  test("serve's middleware takes its place, for built-in and custom routes and before authentication", async () => {
    const auth = jwtAuth({ secret: "x".repeat(32), defaultPrivate: true });
    make({ cors: false, auth, middleware: [honoCors({ origin, credentials: true })] });
    for (const path of ["/workflows", "/custom", "/nowhere"]) {
      const response = await send("GET", path);
      expect([response.status, allowed(response)]).toEqual([401, origin]);
      expect((await preflight(path)).status).toBe(204);
    }
  });
});

test("an error in the host's middleware is 500 in the envelope", async () => {
  make({
    middleware: [
      () => {
        throw new Error("secret words");
      },
    ],
  });
  const response = await send("GET", "/workflows");
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ success: false, error: "Internal server error" });
});
