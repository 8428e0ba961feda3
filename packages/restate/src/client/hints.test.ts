// The bounds of a hint: executions that it names, and turns that it asks to stop.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Hint } from "../engine/hints.ts";
import { readOptions } from "../options.ts";
import { Hints, maxNamed } from "./hints.ts";
import { Ingress } from "./ingress.ts";

let server: Server | undefined;
let hints: Hints | undefined;
afterEach(async () => {
  await hints?.close();
  server?.closeAllConnections();
  server?.close();
});

/** Hints to a server that replies to the first one when `release` is called. */
async function startHints() {
  const put: Hint[] = [];
  const released = Promise.withResolvers<void>();
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (request.url?.endsWith("/put")) {
      put.push(JSON.parse(text));
      await released.promise;
      response.end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port }: AddressInfo = JSON.parse(JSON.stringify(server.address()));
  const url = `http://127.0.0.1:${port}`;
  const settings = readOptions({ ingressUrl: url, adminUrl: url, endpoint: { port, url } });
  hints = new Hints(new Ingress(settings), "n", new Set());
  return { hints, put, release: released.resolve };
}

const ids = (count: number) => Array.from({ length: count }, (_, number) => `e-${number}`);

test.each([
  ["all", maxNamed, ids(maxNamed)],
  ["none", maxNamed + 1, null],
  ["none", maxNamed * 3, null],
])("the next hint names %s of %i executions that were written to meanwhile", async (_, count, named) => {
  const { hints: sender, put, release } = await startHints();
  sender.wrote("first");
  await expect.poll(() => put.length).toBe(1);
  for (const id of ids(count)) sender.wrote(id);
  release();
  await expect.poll(() => put.length).toBe(2);
  expect(put.map(({ wrote }) => wrote)).toEqual([["first"], named]);
});

test.each([maxNamed, maxNamed + 1])("of %i turns to stop a hint names as many as it may", async (count) => {
  const { hints: sender, put, release } = await startHints();
  sender.askToStop("first");
  await expect.poll(() => put.length).toBe(1);
  for (const id of ids(count)) sender.askToStop(id);
  release();
  await expect.poll(() => put.length).toBe(2);
  expect(put.map(({ stop }) => stop)).toEqual([["first"], ids(maxNamed)]);
  // One that found no place is asked for again.
  sender.askToStop(`e-${maxNamed}`);
  await expect.poll(() => put.at(2)?.stop).toEqual([`e-${maxNamed}`]);
});
