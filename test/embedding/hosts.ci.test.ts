// The service below a path of a site, in every host that the documents name: addresses it gives lead back to it.
import type { AppOptions } from "@andante/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { EventReader } from "../support/event-reader.ts";
import { gates } from "../support/gates.ts";
import { call, dataOf, errorOf, postOf, type TestResponse } from "../support/responses.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { basePath, hosts } from "./hosts.ts";

const auth = provider({
  defaultPrivate: true,
  publicRoutes: ["GET /", "GET /doc", "GET /ui*", "GET /console*", "GET /mine/*", "GET /health"],
});
const configureApp: AppOptions["configureApp"] = (app) => {
  app.get("/mine/:name", (http) => http.text(`${http.req.path} of ${http.req.param("name")}`));
  app.get("/mined", (http) => http.text("for callers with a token"));
  app.mount("/mine/below", (request) => new Response(new URL(request.url).pathname));
};

/** Every address in a page, as a browser resolves it. */
function addressesIn(page: TestResponse, url: string): string[] {
  const base = /<base href="([^"]*)"/.exec(page.text)?.[1] ?? "";
  const root = new URL(base, url);
  const named = [...page.text.matchAll(/<(?:a|link|script)\b[^>]*? (?:src|href)="([^"]*)"/g)];
  return named
    .map(([, address = ""]) => new URL(address, root).href)
    .filter((each) => !each.startsWith("data:"));
}

describe.each(hosts.map((host) => [host.name, host] as const))("in %s", async (_, host) => {
  const origin = await host.start({ auth, configureApp });
  const token = bearer(await tokenFor("ada"));
  const service = `${origin}${basePath}`;
  const at = (path: string, headers: Record<string, string> = token) => call(service + path, { headers });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(service + path, postOf(body, { ...token, ...headers }));

  test("a workflow is executed, and one that fails to start is refused", async () => {
    const executed = await post("/workflows/sum/execute", { input: { a: 2, b: 3 } });
    expect(dataOf(executed)).toMatchObject({ status: "completed", result: { total: 5 } });
    expect(errorOf(await post("/workflows/sum/execute", { input: {} }), 400)).toMatch(/^Input validation/);
  });

  test("Location leads to the state", async () => {
    const door = `location in ${host.name}`;
    const started = await post("/workflows/gated/execute", { input: { door } }, { prefer: "respond-async" });
    expect(started.status).toBe(202);
    const location = started.headers.get("location") ?? "";
    expect(location).toMatch(new RegExp(`^${basePath}/workflows/gated/executions/[^/]+/state$`));
    const state = await call(new URL(location, service).href, { headers: token });
    expect(dataOf(state)).toMatchObject({ status: "running" });
    gates.open(door);
  });

  test("events are streamed", async () => {
    const request = postOf({ input: { a: 1 } }, token);
    const stream = new EventReader(await fetch(`${service}/workflows/sum/stream`, request), "plain");
    expect((await stream.rest()).at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
  });

  test("/doc names the server where the paths are", async () => {
    const document = z.looseObject({ servers: z.array(z.object({ url: z.string() })) });
    const { servers } = document.parse(JSON.parse((await at("/doc")).text));
    expect(servers).toEqual([{ url: basePath }]);
  });

  test.each(["", "/", "/ui", "/console", "/console/executions/1"])(
    "every address on the page %o is found",
    async (path) => {
      const page = await at(path, {});
      expect(page.status, page.text).toBe(200);
      const addresses = addressesIn(page, service + path);
      expect(addresses.length).toBeGreaterThan(1);
      for (const address of addresses)
        expect((await call(address, { headers: token })).status, address).toBe(200);
    },
  );

  test("the calls that are shown have the whole address", async () => {
    expect((await at("/")).text).toContain(`${service}/workflows/sum/execute`);
    const { calls } = dataOf(await at("/api/workflows/sum/example"));
    expect(calls).toEqual([expect.stringContaining(`${service}/workflows/sum/execute`)]);
  });

  test("publicRoutes are written without it", async () => {
    expect((await at("/health", {})).status).toBe(200);
    expect(errorOf(await at("/workflows", {}), 401)).toBe("Authentication required");
    expect(errorOf(await at("/mined", {}), 401)).toBe("Authentication required");
    expect(errorOf(await at(`${basePath}/workflows`, {}), 401)).toBe("Authentication required");
  });

  test("so are routes of the host's own", async () => {
    expect((await at("/mine/cat", {})).text).toBe("/mine/cat of cat");
    expect((await at("/mine/below/x", {})).text).toBe("/x");
    expect((await at("/mined")).status).toBe(200);
    expect(errorOf(await at("/nothing"), 404)).toBe(`No route for GET ${basePath}/nothing`);
  });

  test("paths outside are the site's", async () => {
    for (const path of ["/", "/workflows", `${basePath}s/health`]) {
      const { text } = await call(origin + path, { headers: token });
      expect(text, path).not.toContain('"success":true');
    }
  });
});

test.each(hosts.filter(({ sockets }) => sockets).map((host) => [host.name, host] as const))(
  "in %s sockets are below it, and nowhere else",
  async (_, host) => {
    const origin = await host.start({});
    const socket = await SocketClient.connect({ url: origin + basePath }, "/ws");
    expect(await socket.next()).toMatchObject({ type: "CONNECTION_TEST" });
    socket.socket.close();
    expect(await refusal({ url: origin }, "/ws")).toMatchObject({ status: 404 });
  },
);
