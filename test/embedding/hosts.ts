// The service inside a site that is there already: one function for each way of embedding that the documents show.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type App, type AppOptions, createApp } from "@andante/server";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { agents } from "../support/agents.ts";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { storeForTest } from "../support/store-for-test.ts";
import { workflows } from "../support/workflows.ts";

export const basePath = "/site/ai";

export interface Host {
  readonly name: string;
  /** Route handlers of a framework never see a request to upgrade. */
  readonly sockets: boolean;
  /** Starts the site with the service in it; returns its origin. */
  start(options: Partial<AppOptions>): Promise<string>;
}

const ownPage = "A page of the site";

export const hosts: readonly Host[] = [
  {
    name: "serve",
    sockets: true,
    start: async (options) => new URL((await serveForTest({ basePath, ...options })).url).origin,
  },
  {
    name: "Hono, route",
    sockets: true,
    start: (options) => {
      const andante = appFor(options);
      const site = new Hono().get("/", (http) => http.text(ownPage)).route(basePath, andante.app);
      return listen(createServer(getRequestListener(site.fetch)), andante);
    },
  },
  {
    name: "Hono, mount",
    sockets: true,
    start: (options) => {
      const andante = appFor(options);
      const site = new Hono().get("/", (http) => http.text(ownPage)).mount(basePath, andante.fetch);
      return listen(createServer(getRequestListener(site.fetch)), andante);
    },
  },
  {
    name: "Express",
    sockets: true,
    start: (options) => {
      const andante = appFor(options);
      const site = express();
      site.use(basePath, getRequestListener(andante.fetch));
      site.use(express.json());
      site.get("/", (_, response) => void response.send(ownPage));
      return listen(createServer(site), andante);
    },
  },
  {
    name: "Fastify",
    sockets: true,
    start: async (options) => {
      const andante = appFor(options);
      const site = fastify();
      const handle = getRequestListener(andante.fetch);
      await site.register(async (scope) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser("*", (_request, _body, done) => done(null));
        for (const url of [basePath, `${basePath}/*`]) {
          scope.all(url, (request, reply) => {
            reply.hijack();
            return handle(request.raw, reply.raw);
          });
        }
      });
      site.get("/", async () => ownPage);
      await site.ready();
      cleanup(() => site.close());
      site.server.on("upgrade", andante.websocket);
      await site.listen({ port: 0, host: "127.0.0.1" });
      return originOf(site.server);
    },
  },
  {
    name: "a catch-all of route handlers",
    sockets: false,
    start: (options) => {
      const andante = appFor(options);
      // The exports of a framework's page, and how the framework calls them.
      const handle = (request: Request) => andante.fetch(request);
      const exported: Record<string, typeof handle> = { GET: handle, POST: handle, DELETE: handle };
      const framework = (request: Request) => {
        const inFolder = new URL(request.url).pathname.startsWith(basePath);
        return (inFolder && exported[request.method]?.(request)) || new Response(ownPage);
      };
      return listen(createServer(getRequestListener(framework)), andante);
    },
  },
];

function appFor(options: Partial<AppOptions>): App {
  const service = { workflows, agents, store: storeForTest(), logger: silentLogger };
  const andante = createApp({ ...service, basePath, ...options });
  cleanup(() => andante.close({ grace: 100 }));
  return andante;
}

async function listen(server: Server, andante: App): Promise<string> {
  cleanup(async () => {
    server.close();
    server.closeAllConnections();
  });
  server.on("upgrade", andante.websocket);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return originOf(server);
}

function originOf(server: Server): string {
  // A server that listens on a port has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
