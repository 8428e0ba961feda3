// Sockets of a host beside ours on one listener: each handles its own upgrades.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type AppOptions, createApp } from "@andante/server";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { cleanup } from "../support/cleanup.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { storeForTest } from "../support/store-for-test.ts";

async function listen(options: Partial<AppOptions> = {}): Promise<{ server: Server; url: string }> {
  const andante = createApp({ store: storeForTest(), logger: silentLogger, ...options });
  const server = createServer();
  cleanup(async () => {
    server.close();
    server.closeAllConnections();
    await andante.close({ grace: 0 });
  });
  server.on("upgrade", andante.websocket);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}` };
}

/** A socket of the host's own: sends its path and leaves everything else alone. */
function addOwnSocket(server: Server, ...paths: readonly string[]): void {
  const own = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (!paths.includes(request.url ?? "")) return;
    // Later than ours, as one that asks a database who calls.
    setImmediate(() =>
      own.handleUpgrade(request, socket, head, (client) => client.send(JSON.stringify({ own: request.url }))),
    );
  });
}

test.each([
  ["the root", undefined, "/ws", ["/live", "/ws/chat"]],
  ["a base path", "/ai", "/ai/ws", ["/live", "/ws", "/ais/ws", "/ai/live"]],
])("at %s sockets of others are left to the host", async (_, basePath, ours, theirs) => {
  const { server, url } = await listen(basePath === undefined ? {} : { basePath });
  addOwnSocket(server, ...theirs);
  for (const path of theirs) {
    const client = await SocketClient.connect({ url }, path);
    expect(await client.next()).toEqual({ own: path });
    client.socket.terminate();
  }
  const client = await SocketClient.connect({ url }, ours);
  expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
  client.socket.terminate();
});

test("without another listener, foreign upgrades are refused", async () => {
  const { url } = await listen({ basePath: "/ai" });
  for (const path of ["/live", "/ws", "/ai/ws/none"])
    expect(await refusal({ url }, path)).toMatchObject({ status: 404 });
});
