// Addresses that do not respond, the health of both interfaces, and servers that cannot be used.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { restateStore } from "../index.ts";
import { readOptions } from "../options.ts";
import { Ingress } from "./ingress.ts";
import { register } from "./register.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const nowhere = "http://127.0.0.1:9";

/** A server with the response to each path; others are not found. The first requests, `failures` of them, get 500. */
async function serve(
  responses: Readonly<Record<string, unknown>>,
  failures = 0,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  let left = failures;
  return serveWith((request, response) => {
    if (left-- > 0) return void response.writeHead(500).end("not leader");
    const found = responses[request.url ?? ""];
    response.writeHead(found === undefined ? 404 : 200, headers).end(JSON.stringify(found));
  });
}

async function serveWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port }: AddressInfo = JSON.parse(JSON.stringify(server.address()));
  return `http://127.0.0.1:${port}`;
}

const optionsOf = (ingressUrl: string | readonly string[], adminUrl: string) => ({
  ingressUrl,
  adminUrl,
  endpoint: { port: 0, url: nowhere },
});
const settingsOf = (ingressUrl: string | readonly string[], adminUrl: string) =>
  readOptions(optionsOf(ingressUrl, adminUrl));

test("the first address is dead: the second one is called", async () => {
  const url = await serve({ "/object": "reply" });
  const ingress = new Ingress(settingsOf([nowhere, url], url));
  expect(await ingress.call("/object", "{}")).toBe("reply");
});

test("health names the interface that does not respond", async () => {
  const url = await serve({ "/restate/health": "ok", "/health": "ok" });
  const problem = (ingressUrl: string, adminUrl: string) =>
    new Ingress(settingsOf(ingressUrl, adminUrl)).problem();
  expect(await problem(url, url)).toBe(null);
  expect(await problem(nowhere, url)).toBe("the ingress of Restate does not respond");
  expect(await problem(url, nowhere)).toBe("the administration of Restate does not respond");
});

test("the administration is called again while the servers elect a leader; its last response is the reason", async () => {
  const url = await serve({ "/query": { rows: [{ n: 1 }] } }, 3);
  expect(await new Ingress(settingsOf(url, url)).query("select 1")).toEqual([{ n: 1 }]);
  const leaderless = await serve({}, 1e9);
  const cause = new Error("adminUrl responded with 500: not leader");
  await expect(new Ingress(settingsOf(url, leaderless)).query("select 1")).rejects.toMatchObject({ cause });
});

test.each([-3_600_000, 0, 3_600_000])("a clock %i ms from that of the server is corrected", async (ahead) => {
  const date = new Date(Date.now() + ahead).toUTCString();
  const url = await serve({ "/object": "reply" }, 0, { date });
  const ingress = new Ingress(settingsOf(url, url));
  await ingress.call("/object", "{}");
  expect(Math.abs(ingress.clockOffset - ahead)).toBeLessThan(ahead === 0 ? 1 : 10_000);
});

test.each(["1.5.9", "0.9.2"])("a server of version %s is too old", async (version) => {
  const url = await serve({ "/version": { version } });
  const settings = settingsOf(url, url);
  const problem = `the Restate server is ${version}, at least 1.6 is needed`;
  await expect(register(new Ingress(settings), settings)).rejects.toThrow(problem);
});

/** The administration of a server that has registered nothing. */
const administration = {
  "/version": { version: "1.7.3" },
  "/deployments": { deployments: [] },
  "/services": { services: [] },
};

test("an ingress that does not respond keeps a store from opening, though the administration does", async () => {
  const admin = await serve(administration);
  const settings = settingsOf(nowhere, admin);
  const opened = register(new Ingress(settings), settings);
  await expect(opened).rejects.toMatchObject({
    cause: { message: expect.stringContaining("ingressUrl does not respond") },
  });
});

test.each([401, 403])(
  "an administration that refuses with %i is named, and not asked again",
  async (status) => {
    let asked = 0;
    const admin = await serveWith((_, response) => {
      asked += 1;
      response.writeHead(status).end("no permission");
    });
    const store = restateStore({ ingressUrl: nowhere, adminUrl: admin, endpoint: { port: 0, url: nowhere } });
    await expect(store.open()).rejects.toThrow(`adminUrl responded with ${status}: no permission`);
    expect(asked).toBe(1);
    await store.close();
  },
);

test("the token is sent to both interfaces, and no header without one", async () => {
  const sent: (string | undefined)[] = [];
  const url = await serveWith((request, response) => {
    sent.push(request.headers.authorization);
    response.end(request.url === "/query" ? '{ "rows": [] }' : '"reply"');
  });
  for (const token of [{ token: "secret" }, {}]) {
    const ingress = new Ingress(readOptions({ ...optionsOf(url, url), ...token }));
    await ingress.call("/object", "{}");
    await ingress.query("select 1");
  }
  expect(sent).toEqual(["Bearer secret", "Bearer secret", undefined, undefined]);
});

test("without a server a store does not open, throws why, and can be closed", async () => {
  const endpoint = { port: 0, url: nowhere };
  const store = restateStore({ ingressUrl: nowhere, adminUrl: nowhere, endpoint });
  await expect(store.open()).rejects.toThrow("adminUrl does not respond");
  expect(await store.health()).toMatchObject({ problem: "the store is not open" });
  await store.close();
});
