// More connections than the process may have open: those beyond it wait or are refused, and the process lives.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { call } from "../support/responses.ts";
import { serveInProcess } from "./served-process.ts";

test("connections beyond the limit of open files do not end the process", async () => {
  const server = await serveInProcess({}, 60);
  const { port, hostname } = new URL(server.url);
  const sockets: Socket[] = [];
  for (let count = 0; count < 200; count += 1) {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    await once(socket, "connect");
    sockets.push(socket);
  }
  for (const socket of sockets) socket.destroy();
  const status = async () => (await call(`${server.url}/workflows`)).status;
  await expect.poll(status, { timeout: 20_000 }).toBe(200);
  expect(server.ended(), server.errors()).toBeUndefined();
});
