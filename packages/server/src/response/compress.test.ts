// Large responses are compressed as the client accepts; small ones, streams and responses to guessable requests are
// not.

import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { createWorkflow, memoryStore } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import buildConsole from "../../../../test/support/build-console.ts";
import { type App, createApp } from "../app.ts";
import { compress, compressedFrom, encodingFor } from "./compress.ts";
import { RouteResponse } from "./route-response.ts";

const text = "tempo ".repeat(2000);
const echo = createWorkflow({ id: "echo", input: z.object({ text: z.string() }) }).andThen({
  id: "back",
  execute: ({ data }) => data.text,
});
const quiet = new RecordingLogger();

const decoders = { br: promisify(brotliDecompress), gzip: promisify(gunzip) };

describe("over HTTP", () => {
  let app: App;
  let plain: App;
  beforeAll(() => {
    buildConsole();
    const common = { workflows: { echo }, logger: quiet };
    app = createApp({ ...common, store: memoryStore(), cors: { origin: "https://one.example" } });
    plain = createApp({ ...common, store: memoryStore(), compression: false });
  });
  afterAll(() => Promise.all([app.close(), plain.close()]));

  const execute = (service: App, input: string, headers: Record<string, string>, route = "execute") =>
    service.fetch(
      new Request(`http://localhost/workflows/echo/${route}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ input: { text: input } }),
      }),
    );

  test.each(["br", "gzip"] as const)("a large JSON response is sent as %s", async (encoding) => {
    const response = await execute(app, text, { "accept-encoding": encoding });
    expect(response.headers.get("content-encoding")).toBe(encoding);
    expect(response.headers.get("vary")).toBe("accept-encoding, Origin");
    const sent = Buffer.from(await response.arrayBuffer());
    expect(sent.length).toBeLessThan(text.length / 10);
    expect(JSON.parse(String(await decoders[encoding](sent))).data.result).toBe(text);
  });

  test("a page is compressed too, and keeps its other headers", async () => {
    const response = await app.fetch(
      new Request("http://localhost/", { headers: { "accept-encoding": "br" } }),
    );
    expect(response.headers.get("content-encoding")).toBe("br");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("a client that accepts no encoding gets the plain form, and Vary names the header for caches", async () => {
    const response = await execute(app, text, { "accept-encoding": "identity" });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("vary")).toBe("accept-encoding, Origin");
    expect((await response.text()).length).toBeGreaterThan(text.length);
  });

  test("a small response is sent as it is", async () => {
    const response = await execute(app, "short", { "accept-encoding": "br, gzip" });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("vary")).toBe("Origin");
  });

  test("a stream is sent as it is, however long it gets", async () => {
    const response = await execute(app, text, { "accept-encoding": "br, gzip" }, "stream");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.text()).toContain('data: {"type":"workflow-start"');
  });

  const get = (service: App, path: string, encoding: string, method = "GET") =>
    service.fetch(
      new Request(`http://localhost${path}`, { method, headers: { "accept-encoding": encoding } }),
    );
  const script = async () => {
    const page = await (await get(app, "/console", "identity")).text();
    return `/console/${/src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1]}`;
  };

  test.each(["br", "gzip", "identity"])("HEAD has the headers that GET has, for %s", async (encoding) => {
    for (const path of ["/doc", "/health", "/console", await script()]) {
      const [head, whole] = await Promise.all([get(app, path, encoding, "HEAD"), get(app, path, encoding)]);
      const headersOf = ({ headers }: Response) => Object.fromEntries(headers);
      expect([path, head.status, headersOf(head)]).toEqual([path, whole.status, headersOf(whole)]);
      expect(await head.text()).toBe("");
    }
  });

  test.each([
    ["gzip", "gzip"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["gzip;q=0", null],
    ["gzip;q=0, *", "br"],
    ["identity, gzip;q=0.5", null],
    ["br", "br"],
    ["*", "gzip"],
    ["notgzip", null],
  ])("an asset of the console for %o is sent as %s, with one Vary", async (accepted, encoding) => {
    const { headers } = await get(app, await script(), accepted);
    expect(headers.get("content-encoding")).toBe(encoding);
    expect(headers.get("vary")).toBe("accept-encoding, Origin");
  });

  test.each([
    ["cross-site", null],
    ["same-site", null],
    ["same-origin", "br"],
    ["none", "br"],
  ])("with a cookie, in a request that is %s: %s", async (site, encoding) => {
    const browser = { "accept-encoding": "br", cookie: "session=1", "sec-fetch-site": site };
    expect((await execute(app, text, browser)).headers.get("content-encoding")).toBe(encoding);
  });

  test("compression: false", async () => {
    const response = await execute(plain, text, { "accept-encoding": "br, gzip" });
    const asset = await get(plain, await script(), "br, gzip");
    for (const { headers } of [response, asset])
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([null, null]);
  });
});

describe("responses that stay as they are", () => {
  const accepts = (name: string) => (name === "accept-encoding" ? "gzip" : undefined);
  const json = { "content-type": "application/json" };
  const encodingOf = async (body: string, headers: Record<string, string>) =>
    (await compress(new RouteResponse(body, { headers }), accepts)).headers["content-encoding"];

  test("nothing, of plain JSON", async () => {
    expect(await encodingOf(text, json)).toBe("gzip");
  });

  test.each([
    ["a response with no-transform", { ...json, "cache-control": "no-store, no-transform" }],
    ["a picture", { "content-type": "image/png" }],
    ["events", { "content-type": "text/event-stream" }],
    ["a response without a type", {}],
  ])("%s", async (_, headers) => {
    expect(await encodingOf(text, headers)).toBeUndefined();
  });

  test("an encoded response", async () => {
    const response = new RouteResponse(text, { headers: { ...json, "content-encoding": "zstd" } });
    expect(await compress(response, accepts)).toBe(response);
  });

  test("the threshold is between one and four KiB", () => {
    expect(compressedFrom).toBeGreaterThanOrEqual(1024);
    expect(compressedFrom).toBeLessThanOrEqual(4096);
  });
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["GZIP", "gzip"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["gzip;q=0", undefined],
  ["*", "br"],
  ["*;q=0.5, br;q=0", "gzip"],
  ["identity, gzip;q=0.5", undefined],
  ["identity;q=0.5, gzip", "gzip"],
  ["deflate", undefined],
  ["br;q=nonsense", undefined],
])("accept-encoding %s: %s", (accepted, encoding) => {
  expect(encodingFor(accepted)).toBe(encoding);
});
