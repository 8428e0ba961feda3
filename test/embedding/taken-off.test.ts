// Base paths that begin like routes do, and encoded ones: they are removed once, by the host or by us.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type App, createApp } from "@andante/server";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { call, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { SocketClient } from "../support/socket-client.ts";
import { storeForTest } from "../support/store-for-test.ts";
import { workflows } from "../support/workflows.ts";

type Listener = Parameters<typeof createServer>[1];

/** The ways of embedding that take the base path off, and one that does not. */
const hosts: Readonly<Record<string, (andante: App) => Listener>> = {
  "Express, use": (andante) => express().use(andante.basePath, getRequestListener(andante.fetch)),
  "Hono, mount": (andante) =>
    getRequestListener(new Hono().mount(andante.basePath, (...given) => andante.fetch(...given)).fetch),
  "Hono, route": (andante) => getRequestListener(new Hono().route(andante.basePath, andante.app).fetch),
};

async function listen(andante: App, listener: Listener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  cleanup(async () => {
    server.close();
    server.closeAllConnections();
    await andante.close({ grace: 0 });
  });
  await once(server, "listening");
  // A server that listens on a port has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const cases = Object.entries(hosts).flatMap(([name, host]) =>
  ["/api", "/workflows"].map((basePath) => [name, basePath, host] as const),
);

test.each(cases)("in %s below %s everything is found", async (_, basePath, host) => {
  const andante = createApp({
    workflows,
    store: storeForTest(),
    logger: silentLogger,
    basePath,
    configureApp: (app) => void app.get("/mine/:name", (http) => http.text(http.req.param("name"))),
  });
  const service = (await listen(andante, host(andante))) + basePath;
  const listed = payloadOf(await call(`${service}/workflows`));
  expect(listed).toEqual(expect.arrayContaining([expect.objectContaining({ id: "sum" })]));
  for (const path of ["/api/logs", "/health", "/doc", "/", "/mine/x", "/console"])
    expect(await call(service + path), path).toMatchObject({ status: 200 });
  expect((await call(`${service}/mine/a%2Fb`)).text).toBe("a/b");
  expect((await call(`${service}/logs`)).status).toBe(404);
});

test("an encoded base path is read as the plain one, by built-in routes, routes of the host's own and sockets", async () => {
  const server = await serveForTest({
    basePath: "/ai",
    configureApp: (app) => void app.get("/mine/:name", (http) => http.text(http.req.path)),
  });
  const { origin } = new URL(server.url);
  for (const base of ["/ai", "/%61i", "/a%69"]) {
    expect((await call(`${origin}${base}/health`)).status, base).toBe(200);
    expect((await call(`${origin}${base}/mine/a%2Fb`)).text, base).toBe("/mine/a%2Fb");
    const socket = await SocketClient.connect({ url: origin + base }, "/ws");
    expect(await socket.next()).toMatchObject({ type: "CONNECTION_TEST" });
    socket.socket.terminate();
  }
  expect((await call(`${origin}/%2Fai/health`)).status).toBe(404);
});
