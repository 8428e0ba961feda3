// Requests that a client sends without waiting for responses: served one after another, in order, and not for a client
// that is gone.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, test } from "vitest";
import { boundClients } from "../../packages/server/src/response/bound-clients.ts";
import { cleanup } from "../support/cleanup.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { silentLogger } from "../support/silent-logger.ts";

async function open(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
  cleanup(async () => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
const post = (path: string, body: unknown) => {
  const text = JSON.stringify(body);
  const type = "content-type: application/json";
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

/** Reads until so many responses have come, and returns the whole. */
async function read(socket: Socket, responses: number): Promise<string> {
  let text = "";
  for await (const chunk of socket.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.split("HTTP/1.1 ").length > responses && text.endsWith("}")) return text;
  }
  return text;
}

describe("pipelined requests", async () => {
  let counted = 0;
  const server = await serveForTest({
    limits: { streams: 2 },
    configureApp: (app) => {
      app.get("/count/:n", (c) => {
        counted += 1;
        return c.json({ n: Number(c.req.param("n")) });
      });
      app.get("/closed", async (c) => {
        await gates.pass("pipelining-closed");
        return c.json({});
      });
    },
  });

  test.each([3, 100, 3000])("%d of them are answered in order", async (count) => {
    const socket = await open(server.url);
    const requests = Array.from({ length: count }, (_, n) =>
      n % 3 === 1 ? post("/workflows/sum/execute", { input: { a: n } }) : get(`/count/${n}`),
    );
    socket.write(requests.slice(0, 300).join(""));
    if (count > 300)
      socket.write(Array.from({ length: count - 300 }, (_, n) => get(`/count/${n + 300}`)).join(""));
    const text = await read(socket, count);
    const numbers = [...text.matchAll(/"n":(\d+)\}/g)].map(([, n]) => Number(n));
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(text.split("HTTP/1.1 200").length - 1).toBe(count);
    expect(numbers.at(-1)).toBe(count % 3 === 2 && count <= 300 ? count - 2 : count - 1);
    // The connection serves later requests, too.
    socket.write(get("/count/1"));
    expect(await read(socket, 1)).toContain('{"n":1}');
  });

  test("a request begins when the response before it was sent", async () => {
    const socket = await open(server.url);
    const before = counted;
    const arrived = gates.arrival("pipelining-gated");
    socket.write(post("/workflows/gated/execute", { input: { door: "pipelining-gated" } }) + get("/count/7"));
    await arrived;
    expect((await server.get("/health")).status).toBe(200);
    expect(counted).toBe(before);
    gates.open("pipelining-gated");
    expect(await read(socket, 2)).toMatch(/"status":"completed"[\s\S]*\{"n":7\}$/);
  });

  test("those of a client that is gone are not begun", async () => {
    const socket = await open(server.url);
    const before = counted;
    const arrived = gates.arrival("pipelining-closed");
    socket.write(get("/closed") + get("/count/1").repeat(2000));
    await arrived;
    socket.resetAndDestroy();
    expect((await server.get("/health")).status).toBe(200);
    gates.open("pipelining-closed");
    await expect.poll(async () => (await server.get("/health")).status).toBe(200);
    // The first response has to be written to a connection of which nothing is read before it is known to be closed.
    expect(counted - before).toBeLessThan(3);
  });

  test("streams of a client that is gone leave their places", async () => {
    const body = { input: { door: "pipelining-streams" } };
    for (let n = 0; n < 3; n++) {
      const socket = await open(server.url);
      const arrived = gates.arrival("pipelining-streams");
      socket.write(post("/workflows/gated/stream", body).repeat(4));
      await arrived;
      socket.destroy();
    }
    const status = async () => {
      const { status } = await fetch(`${server.url}/workflows/sum/stream`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ input: { a: 1 } }),
      });
      return status;
    };
    await expect.poll(status).toBe(200);
    gates.open("pipelining-streams");
  });
});

test("when too many wait on all connections, the connection that adds to them is cut", async () => {
  const takeTurn = boundClients(silentLogger, 20);
  const held: ((response: Response) => void)[] = [];
  const respond = () => new Promise<Response>((resolve) => held.push(resolve));
  const listener = getRequestListener(async (_, env) => {
    if ((await takeTurn(env)) === false) return new Response("{}", { status: 499 });
    return respond();
  });
  const server = createServer(listener).listen(0, "127.0.0.1");
  cleanup(async () => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [patient, greedy] = [await open(url), await open(url)];
  patient.write(get("/").repeat(11));
  await expect.poll(() => held.length).toBe(1);
  const cut = once(greedy.resume(), "close");
  greedy.write(get("/").repeat(12));
  await cut;
  // The wait of the second request is gone with it, and the first is served to its end.
  const all = read(patient, 11);
  const timer = setInterval(() => held.shift()?.(new Response("{}")), 1);
  expect((await all).split("HTTP/1.1 200").length - 1).toBe(11);
  clearInterval(timer);
});
