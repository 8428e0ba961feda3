// Waiting requests of all connections: beyond the bound the connection with most of them is cut.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { RecordingLogger } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { boundClients } from "./bound-clients.ts";

const logger = new RecordingLogger();

/** A server that holds every first request of a connection until `release` is called. */
async function serve(maxWaiting: number) {
  const takeTurn = boundClients(logger, maxWaiting);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let received = 0;
  const server = createServer(async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const turn = takeTurn({ incoming, outgoing });
    received += 1;
    if ((await turn) === false) return;
    await released;
    outgoing.end("served");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("the server does not listen on a port");
  const pipeline = async (count: number): Promise<Socket> => {
    const socket = connect(address.port, "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    const before = received;
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count));
    await expect.poll(() => received).toBe(before + count);
    return socket;
  };
  return { pipeline, release };
}

async function responsesOf(socket: Socket, count: number): Promise<void> {
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.split("served").length > count) return;
  }
  throw new Error("the connection was cut");
}

test("the connection on which most wait is cut, and the newcomer is served", async () => {
  const { pipeline, release } = await serve(5);
  const greedy = await pipeline(5);
  const closed = once(greedy, "close");
  const newcomer = await pipeline(3);
  await closed;
  release();
  await responsesOf(newcomer, 3);
});

test("up to the bound none is cut", async () => {
  const { pipeline, release } = await serve(5);
  // One request waits on each of the first two connections, three on the last.
  const modest = [await pipeline(2), await pipeline(2)];
  const larger = await pipeline(4);
  release();
  for (const socket of modest) await responsesOf(socket, 2);
  await responsesOf(larger, 4);
});

test("a newcomer on which most wait is cut itself, and the others are served", async () => {
  const { pipeline, release } = await serve(5);
  const modest = [await pipeline(2), await pipeline(2)];
  const greedy = await pipeline(5);
  await expect.poll(() => greedy.destroyed).toBe(true);
  release();
  for (const socket of modest) await responsesOf(socket, 2);
});
