// /ws/logs: slow clients; many clients.
import { once } from "node:events";
import { expect, test } from "vitest";
import { z } from "zod";
import { numbersTo, writeLine } from "../support/log-lines.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { SocketClient } from "../support/socket-client.ts";

let server: TestServer;

const line = (n: number, fields?: object) => writeLine(server, n, fields);

test("a client that does not read is closed with its own code; the others lose nothing", async () => {
  server = await serveForTest();
  const slow = await SocketClient.connect(server, "/ws/logs?workflowId=w");
  const quick = await SocketClient.connect(server, "/ws/logs?workflowId=w");
  await slow.next();
  await quick.next();
  const before = process.memoryUsage().rss;
  slow.socket.pause();
  const closed = once(slow.socket, "close");
  const text = "x".repeat(7_000);
  let sent = 0;
  for (let round = 0; round < 60; round++) {
    for (let each = 0; each < 50; each++) line(++sent, { text });
    await numbersTo(quick, sent);
  }
  expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(300);
  slow.socket.resume();
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1013, "Reading too slowly"]);
});

test("five hundred clients at once get every line, and their going leaves nothing behind", async () => {
  server = await serveForTest();
  const clients = await Promise.all(
    Array.from({ length: 500 }, (_, index) =>
      SocketClient.connect(
        server,
        index % 2 === 0 ? "/ws/logs?workflowId=w" : "/ws/observability?entityId=w",
      ),
    ),
  );
  expect((await server.get("/metrics")).text).toContain("andante_socket_clients 500");
  const logs = clients.filter((_, index) => index % 2 === 0);
  const spans = clients.filter((_, index) => index % 2 === 1);
  await Promise.all(logs.map((client) => client.next()));
  for (let n = 1; n <= 20; n++) line(n);
  const expected = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const client of logs) expect(await numbersTo(client, 20)).toEqual(expected);
  for (const client of spans) {
    const messages = await client.until(({ data }) => z.object({ n: z.number() }).parse(data).n === 20);
    expect(messages).toHaveLength(20);
  }
  await Promise.all(
    clients.map(async ({ socket }) => {
      socket.close();
      await once(socket, "close");
    }),
  );
  // A client learns of the end of its connection before the server.
  await expect.poll(async () => (await server.get("/metrics")).text).toContain("andante_socket_clients 0");
});
