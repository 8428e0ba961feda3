// configureApp: any Hono route, after authentication, and never in the place of a route that the contract names.

import { RecordingLogger } from "@andante/core/test";
import type { CustomApp } from "@andante/server";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { validator } from "hono/validator";
import { describe, expect, test } from "vitest";
import { call, dataOf, errorOf, payloadOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

let server: TestServer;

async function serveWith(
  configureApp: (app: CustomApp) => void,
  options: Parameters<typeof serveForTest>[0] = {},
) {
  server = await serveForTest({ configureApp, ...options });
}

describe("any route", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("of the method %s", async (method) => {
    await serveWith((app) => app.on(method, "/mine", (c) => c.text(c.req.method)));
    expect((await call(`${server.url}/mine`, { method })).text).toBe(method);
  });

  test("static, with parameters, with wildcards; HEAD is answered by GET", async () => {
    await serveWith((app) => {
      app.get("/static", (c) => c.text("static"));
      app.get("/users/:user/posts/:post", (c) => c.json(c.req.param()));
      app.get("/files/*", (c) => c.text(c.req.path));
    });
    expect((await server.get("/static")).text).toBe("static");
    expect(JSON.parse((await server.get("/users/a%20b/posts/2")).text)).toEqual({ user: "a b", post: "2" });
    expect((await server.get("/files/a/b.txt")).text).toBe("/files/a/b.txt");
    const head = await call(`${server.url}/static`, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test("with middleware, a group and validation", async () => {
    const group = new Hono().get("/inside", (c) => c.text("inside"));
    await serveWith((app) => {
      app.use("/admin/*", async (c, next) => {
        await next();
        c.header("x-admin", "yes");
      });
      app.route("/admin", group);
      const number = validator("query", (value, c) =>
        Number(value.n) > 0
          ? { n: Number(value.n) }
          : c.json({ success: false, error: "n must be positive" }, 400),
      );
      app.get("/checked", number, (c) => c.json({ success: true, data: c.req.valid("query") }));
    });
    const inside = await server.get("/admin/inside");
    expect([inside.text, inside.headers.get("x-admin")]).toEqual(["inside", "yes"]);
    expect(payloadOf(await server.get("/checked?n=3"))).toEqual({ n: 3 });
    expect(errorOf(await server.get("/checked?n=-3"), 400)).toBe("n must be positive");
  });
});

describe("errors", () => {
  test("an error thrown by a custom route is the 500 envelope without its words", async () => {
    await serveWith((app) =>
      app.get("/broken", () => {
        throw new Error(`password hunter2 in ${import.meta.filename}`);
      }),
    );
    expect(errorOf(await server.get("/broken"), 500)).toBe("Internal server error");
  });

  test("Hono's own exceptions keep their status", async () => {
    await serveWith((app) => {
      app.get("/teapot", () => {
        throw new HTTPException(418, { message: "I am a teapot" });
      });
      app.get("/own", () => {
        throw new HTTPException(401, {
          res: new Response("mine", { status: 401, headers: { "x-own": "1" } }),
        });
      });
      app.get("/inner", () => {
        throw new HTTPException(502, { message: "10.0.0.7 is down" });
      });
    });
    expect(errorOf(await server.get("/teapot"), 418)).toBe("I am a teapot");
    const own = await server.get("/own");
    expect([own.status, own.text, own.headers.get("x-own")]).toEqual([401, "mine", "1"]);
    expect(errorOf(await server.get("/inner"), 500)).toBe("Internal server error");
  });

  test("the host's handlers cover custom routes and unknown paths", async () => {
    await serveWith((app) => {
      app.get("/broken", () => {
        throw new Error("mine");
      });
      app.onError((error, c) => c.json({ success: false, error: `caught ${error.message}` }, 502));
      app.notFound((c) => c.json({ success: false, error: "nothing here" }, 404));
    });
    expect(errorOf(await server.get("/broken"), 502)).toBe("caught mine");
    expect(errorOf(await server.get("/nowhere"), 404)).toBe("nothing here");
  });

  test("they see neither errors of built-in routes nor refusals", async () => {
    const seen: string[] = [];
    await serveWith(
      (app) => {
        app.get("/mine", (c) => c.text("mine"));
        app.onError((error, c) => {
          seen.push(error.message);
          return c.text("host", 200);
        });
        app.notFound((c) => {
          seen.push(c.req.path);
          return c.text("host", 200);
        });
      },
      { auth: provider({ defaultPrivate: true, publicRoutes: ["GET /workflows/*", "POST /workflows/*"] }) },
    );
    expect(errorOf(await server.get("/workflows/unknown"), 404)).toBe("Workflow unknown not found");
    expect(errorOf(await server.post("/workflows/sum/execute", { input: {} }), 400)).toContain(
      "Input validation",
    );
    const failed = await server.post("/workflows/failing/execute", { input: {} });
    expect(errorOf(failed, 500)).toBe("Failed to execute workflow");
    expect(errorOf(await server.get("/mine"), 401)).toBe("Authentication required");
    expect(errorOf(await server.get("/ui/unknown.js", bearer(await tokenFor("ada"))), 404)).toContain(
      "No route",
    );
    expect(seen).toEqual([]);
  });
});

describe("no way in front", () => {
  const mutiny = (app: CustomApp) => {
    app.use("*", async (c) => c.text("taken"));
    app.get("/workflows", (c) => c.text("taken"));
    app.all("*", (c) => c.text("taken"));
  };

  test("a catch-all route does not catch a built-in route, nor does a route of the contract's path", async () => {
    await serveWith(mutiny);
    expect(payloadOf(await server.get("/workflows"))).toHaveLength(12);
    expect((await server.get("/health")).text).toBe('{"success":true,"data":{"status":"ok"}}');
    expect((await server.get("/elsewhere")).text).toBe("taken");
  });

  test("nor can authentication be passed by", async () => {
    await serveWith(mutiny, { auth: provider({ defaultPrivate: true }) });
    for (const path of ["/workflows", "/elsewhere", "/"]) {
      expect(errorOf(await server.get(path), 401), path).toBe("Authentication required");
    }
    expect((await server.get("/elsewhere", bearer(await tokenFor("ada")))).text).toBe("taken");
  });
});

describe("in the place of a built-in route that the contract does not name", () => {
  const mine = (app: CustomApp) => {
    app.use("/api/traces", async (c, next) => {
      c.header("x-passed", "yes");
      await next();
    });
    app.get("/health", (c) => c.text("my health"));
    app.all("/metrics", (c) => c.text("my metrics"));
    app.route(
      "/api",
      new Hono().get("/executions", (c) => c.text("my executions")),
    );
    app.get("/workflows/sum/executions", (c) => c.text("my sums"));
    app.get("/api/conversations/:id?", (c) => c.text(`my ${c.req.param("id") ?? "conversations"}`));
    app.get("/:page", (c) => c.text("my page"));
  };

  test.each([
    ["/health", "my health"],
    ["/metrics", "my metrics"],
    ["/api/executions", "my executions"],
    ["/api/executions?status=error", "my executions"],
    ["/workflows/sum/executions", "my sums"],
    ["/api/conversations", "my conversations"],
    ["/api/conversations/one", "my one"],
    ["/about", "my page"],
  ])("%s is the host's", async (path, text) => {
    await serveWith(mine);
    expect((await server.get(path)).text).toBe(text);
    const head = await call(server.url + path, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test("others stay: another method, another id, middleware alone, a pattern that names less", async () => {
    await serveWith(mine);
    expect(errorOf(await server.send("DELETE", "/api/conversations/one"), 404)).toBe(
      "Conversation one not found",
    );
    dataOf(await server.get("/workflows/mirror/executions"));
    const traces = await server.get("/api/traces");
    expect([traces.headers.get("x-passed"), dataOf(traces).nextCursor]).toEqual([null, null]);
    await server.close();
    await serveWith((app) =>
      app.get("/:page", (c) => c.text("my page")).get("/api/:what", (c) => c.text("mine")),
    );
    expect((await server.get("/health")).text).toContain('"status":"ok"');
    expect(dataOf(await server.get("/api/executions")).nextCursor).toBeNull();
  });

  test("it follows the modes like every custom route", async () => {
    await serveWith(mine, { auth: provider() });
    expect((await server.get("/api/executions")).text).toBe("my executions");
    await server.close();
    await serveWith(mine, { auth: provider({ defaultPrivate: true, publicRoutes: ["GET /health"] }) });
    expect((await server.get("/health")).text).toBe("my health");
    expect(errorOf(await server.get("/api/executions"), 401)).toBe("Authentication required");
    const ada = bearer(await tokenFor("ada"));
    expect((await server.get("/api/executions", ada)).text).toBe("my executions");
  });
});

test("a route of the host that the contract's routes hide is named at start", async () => {
  const logger = new RecordingLogger();
  await serveWith(
    (app) => {
      app.get("/workflows", (c) => c.text("hidden"));
      app.get("/agents/best", (c) => c.text("hidden"));
      app.all("/agents/:name/text", (c) => c.text("hidden"));
      app.get("/health", (c) => c.text("not hidden"));
      app.get("/workflows/sum/hours", (c) => c.text("not hidden"));
      app.get("/workflows/", (c) => c.text("not hidden"));
      app.use("/workflows", (_, next) => next());
      app.get("*", (c) => c.text("not hidden"));
    },
    { logger },
  );
  const warnings = logger.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
  expect(warnings).toEqual([
    "configureApp has routes that are never reached, built-in ones come first: GET /workflows, GET /agents/best, POST /agents/:name/text",
  ]);
  for (const path of ["/health", "/workflows/sum/hours", "/workflows/"]) {
    expect((await server.get(path)).text, path).toBe("not hidden");
  }
});

test("custom routes follow the modes: public by default, protected in opt-out mode but for publicRoutes", async () => {
  const configure = (app: CustomApp) => {
    app.get("/mine", (c) => c.text("mine"));
    app.get("/open/:name", (c) => c.text("open"));
  };
  await serveWith(configure, { auth: provider() });
  expect((await server.get("/mine")).text).toBe("mine");
  await server.close();
  await serveWith(configure, { auth: provider({ defaultPrivate: true, publicRoutes: ["GET /open/:name"] }) });
  expect(errorOf(await server.get("/mine"), 401)).toBe("Authentication required");
  expect(errorOf(await server.get("/mine", bearer("x.y.z")), 401)).toMatch(/^Invalid token: /);
  expect((await server.get("/open/door")).text).toBe("open");
  expect((await server.get("/mine", bearer(await tokenFor("ada")))).text).toBe("mine");
});
