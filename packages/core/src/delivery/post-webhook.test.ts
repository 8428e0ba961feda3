// Webhooks reach public addresses alone, for every spelling of an address and every answer of a name server.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, Socket } from "node:net";
import { expect, test } from "vitest";
import { type LookUp, postWebhook } from "./post-webhook.ts";
import { isPublicAddress } from "./public-address.ts";

const signal = new AbortController().signal;
const webhook = (url: string, allowPrivate = false) => ({
  url,
  headers: {},
  body: "{}",
  allowPrivate,
  signal,
});

/** Resolves every name to these addresses. */
function names(...addresses: readonly string[]): LookUp & { readonly asked: number } {
  let asked = 0;
  const lookUp = (_: string, _options: unknown, done: (error: null, found: unknown) => void) => {
    asked++;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return Object.assign(lookUp as never, {
    get asked() {
      return asked;
    },
  });
}

/** A port on this machine, and how many connections it got. */
async function listener() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { port, close, connections: () => connections };
}

test.each([
  ["a private address", "10.0.0.1"],
  ["a mapped address", "::ffff:169.254.169.254"],
  ["loopback", "127.0.0.1"],
  ["loopback of IPv6", "::1"],
  ["a local address of IPv6", "fd00::1"],
  ["NAT64", "64:ff9b::7f00:1"],
  ["6to4", "2002:7f00:1::1"],
])("a name that resolves to %s is refused before a byte is sent", async (_, address) => {
  const at = await listener();
  const response = await postWebhook(webhook(`https://hooks.example.com:${at.port}/`), names(address));
  expect(response).toEqual({ status: null, error: "the address is not public", retryAfter: undefined });
  expect(at.connections()).toBe(0);
  await at.close();
});

test("a name with a public and a local address is refused", async () => {
  const response = await postWebhook(
    webhook("https://hooks.example.com/"),
    names("93.184.216.34", "127.0.0.1"),
  );
  expect(response.error).toBe("the address is not public");
});

test("the socket connects to the address that was checked; the next attempt checks the name again", async () => {
  const at = await listener();
  const turns = [["93.184.216.34"], ["127.0.0.1"]];
  let asked = 0;
  const changing = (_: string, _options: unknown, done: (error: null, found: unknown) => void) => {
    const [address = ""] = turns[Math.min(asked++, 1)] ?? [];
    done(null, [{ address, family: 4 }]);
  };
  // Stopped as soon as it connects: no test depends on the internet.
  const stopping = new AbortController();
  const addresses: string[] = [];
  const watch = (message: unknown) => {
    if (!(message instanceof Object && "socket" in message && message.socket instanceof Socket)) return;
    message.socket.on("connectionAttempt", (address) => {
      addresses.push(address);
      setImmediate(() => stopping.abort());
    });
  };
  subscribe("net.client.socket", watch);
  const url = `https://hooks.example.com:${at.port}/`;
  const first = await postWebhook({ ...webhook(url), signal: stopping.signal }, changing as never);
  expect(first).toMatchObject({ status: null });
  expect([asked, addresses, at.connections()]).toEqual([1, ["93.184.216.34"], 0]);
  const second = await postWebhook(webhook(url), changing as never);
  unsubscribe("net.client.socket", watch);
  expect(second.error).toBe("the address is not public");
  expect([asked, addresses, at.connections()]).toEqual([2, ["93.184.216.34"], 0]);
  await at.close();
});

test("of an answer the status and Retry-After are kept, and nothing of its body and other headers", async () => {
  const server = createHttpServer((_, response) =>
    response.writeHead(500, "token-in-reason", { "retry-after": "9", "x-token": "token" }).end("token"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(await postWebhook(webhook(`http://127.0.0.1:${port}/`, true))).toEqual({
    ...{ status: 500, error: null, retryAfter: "9" },
  });
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  "https://127.0.0.1/",
  "https://0x7f000001/",
  "https://2130706433/",
  "https://0177.0.0.1/",
  "https://127.1/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "http://93.184.216.34/",
])("%s is refused", async (url) => {
  expect(await postWebhook(webhook(url), names("93.184.216.34"))).toMatchObject({
    error: "the address is not public",
  });
});

test("public addresses of both families are told from the others", () => {
  const open = ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:800::200e"];
  const closed = [
    ...[
      "0.0.0.0",
      "100.64.0.1",
      "172.31.255.255",
      "192.168.0.1",
      "198.19.0.1",
      "224.0.0.1",
      "255.255.255.255",
    ],
    ...[
      "::",
      "fe80::1",
      "fe80::1%eth0",
      "fc00::1",
      "ff02::1",
      "2001:db8::1",
      "2001::1",
      "::127.0.0.1",
      "localhost",
      "",
    ],
  ];
  expect(open.filter((address) => !isPublicAddress(address))).toEqual([]);
  expect(closed.filter(isPublicAddress)).toEqual([]);
});

test("errors are codes without addresses", async () => {
  const at = await listener();
  await at.close();
  const { error } = await postWebhook(webhook(`http://127.0.0.1:${at.port}/`, true));
  expect(error).toBe("ECONNREFUSED");
});
