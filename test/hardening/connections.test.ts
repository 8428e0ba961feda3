// Many connections at once: those beyond the open files wait or are refused, those of a busy moment wait, the process lives.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
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
  await expect.poll(status).toBe(200);
  expect(server.ended(), server.errors()).toBeUndefined();
});

// The system has a limit of its own for connections that wait to be accepted.
const limitFile = "/proc/sys/net/core/somaxconn";
const systemLimit = existsSync(limitFile) ? Number(readFileSync(limitFile, "utf8")) : 128;
const clients = Math.min(1000, systemLimit);

test(`${clients} clients connect to a process that is busy, and each gets its response afterwards`, async () => {
  const server = await serveInProcess();
  const { port, hostname } = new URL(server.url);
  // A stopped process accepts no connection, as one whose event loop does not turn.
  server.child.kill("SIGSTOP");
  const sockets = Array.from({ length: clients }, () => connect(Number(port), hostname));
  try {
    // Those that the system drops would be tried again after a second, and never connect while the process is stopped.
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.write("GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n");
    server.child.kill("SIGCONT");
    const responses = await Promise.all(sockets.map(async (socket) => String(await once(socket, "data"))));
    expect(responses.filter((response) => !response.startsWith("HTTP/1.1 200"))).toEqual([]);
  } finally {
    server.child.kill("SIGCONT");
    for (const socket of sockets) socket.destroy();
  }
});

test("clients that connect while others send long bodies do not wait for a long body each", async () => {
  const server = await serveInProcess();
  const { port, hostname } = new URL(server.url);
  const body = `[${Array(1_900_000).fill(1)}]`;
  const stopped = new AbortController();
  let parsed = 0;
  const send = async () => {
    while (!stopped.signal.aborted) {
      const { signal } = stopped;
      const headers = { "content-type": "application/json" };
      const sent = fetch(`${server.url}/workflows/sum/execute`, { method: "POST", headers, body, signal });
      await sent.then((response) => response.text()).catch(() => undefined);
      parsed += 1;
    }
  };
  const senders = Array.from({ length: 8 }, send);
  await expect.poll(() => parsed).toBeGreaterThan(8);
  const before = parsed;
  const others = Array.from({ length: 64 }, async () => {
    const socket = connect(Number(port), hostname);
    socket.write("GET /workflows HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const [response] = await once(socket, "data");
    socket.destroy();
    return String(response).slice(0, 12);
  });
  expect(new Set(await Promise.all(others))).toEqual(new Set(["HTTP/1.1 200"]));
  const meanwhile = parsed - before;
  stopped.abort();
  await Promise.all(senders);
  expect(meanwhile).toBeLessThan(32);
});
