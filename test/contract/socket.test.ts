// /ws: connection test and echo, open unless `auth.webSocket` protects it
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { bearer, provider, tokenFor, tokenKinds } from "../support/tokens.ts";

describe("/ws", () => {
  test("greets, then sends each message back: JSON parsed, other text as a string", async () => {
    const server = await serveForTest();
    const client = await SocketClient.connect(server, "/ws");
    expect(await client.next()).toEqual({
      type: "CONNECTION_TEST",
      success: true,
      data: { message: "connected" },
    });
    client.socket.send('{"a":[1]}');
    expect(await client.next()).toEqual({ type: "ECHO", success: true, data: { a: [1] } });
    client.socket.send("hello { not json");
    expect(await client.next()).toEqual({ type: "ECHO", success: true, data: "hello { not json" });
  });

  test("closes a client whose message is over a megabyte, and only that one", async () => {
    const server = await serveForTest();
    const loud = await SocketClient.connect(server, "/ws");
    const calm = await SocketClient.connect(server, "/ws");
    await calm.next();
    loud.socket.send("x".repeat(1024 * 1024 + 1));
    const [code] = await once(loud.socket, "close");
    expect(code).toBe(1009);
    calm.socket.send("1");
    expect(await calm.next()).toMatchObject({ data: 1 });
  });

  test("closes with 1001 when the server shuts down, without delaying it", async () => {
    const server = await serveForTest();
    const { socket } = await SocketClient.connect(server, "/ws");
    const closed = once(socket, "close");
    await server.close();
    expect((await closed)[0]).toBe(1001);
  });

  test("refuses more clients than the limit with 503 and Retry-After", async () => {
    const server = await serveForTest({ limits: { sockets: 1 } });
    await SocketClient.connect(server, "/ws");
    const { status, body, headers } = await refusal(server, "/ws");
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    expect(body).toEqual({ success: false, error: "Too many sockets are open (limit 1), try again later" });
  });

  test("an unknown socket path is the 404 envelope", async () => {
    const server = await serveForTest();
    const { status, body } = await refusal(server, "/ws/nothing");
    expect(status).toBe(404);
    expect(body).toEqual({ success: false, error: "No route for GET /ws/nothing" });
  });
});

describe("authentication of sockets", () => {
  test.each([false, true])("sockets are open by default (defaultPrivate %s)", async (defaultPrivate) => {
    const server = await serveForTest({ auth: provider({ defaultPrivate }) });
    const client = await SocketClient.connect(server, "/ws");
    expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
  });

  test("webSocket: protect asks for a token, with the contract's messages", async () => {
    const server = await serveForTest({ auth: provider({ webSocket: "protect" }) });
    for (const { headers, refusal: words } of await tokenKinds()) {
      if (words === undefined) continue;
      const { status, body } = await refusal(server, "/ws", headers);
      expect(status).toBe(401);
      expect(body).toEqual({ success: false, error: expect.stringMatching(words) });
    }
  });

  test("webSocket: protect takes the token from the header or from ?token=", async () => {
    const server = await serveForTest({ auth: provider({ webSocket: "protect" }) });
    const token = await tokenFor("ada");
    for (const open of [
      SocketClient.connect(server, "/ws", bearer(token)),
      SocketClient.connect(server, `/ws?token=${token}`),
    ]) {
      expect(await (await open).next()).toMatchObject({ type: "CONNECTION_TEST" });
    }
    expect((await refusal(server, "/ws?token=bad")).body.error).toMatch(/^Invalid token: ./);
  });
});
