// Files that are loaded by address: how much, how long, and how often. The server is real; the AI SDK's own function refuses
// its private address, so one like it loads here.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { boundedDownload, type Download, downloadAll } from "./bounded-download.ts";

/** A server whose `/n` has n bytes and whose `/slow` never ends; `most` is how many requests were open at once. */
async function fileServer() {
  const seen = { asked: [] as string[], open: 0, most: 0 };
  const server = createServer(({ url = "/" }, response: ServerResponse) => {
    seen.asked.push(url);
    seen.most = Math.max(seen.most, ++seen.open);
    response.on("close", () => seen.open--);
    if (url === "/slow") return void response.write("x");
    response.end("x".repeat(Number(url.slice(1))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    at: (path: string) => ({ url: new URL(`http://127.0.0.1:${port}/${path}`) }),
  };
}

const create = ({ maxBytes }: { maxBytes: number }): Download =>
  async function load({ url, abortSignal }) {
    const response = await fetch(url, { signal: abortSignal ?? null });
    const data = new Uint8Array(await response.arrayBuffer());
    if (data.byteLength > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    return { data, mediaType: undefined };
  };

test("all files together have as many bytes as the limit, and not one more", async () => {
  const { at } = await fileServer();
  const fitting = boundedDownload({ bytes: 100 }, create);
  const files = await Promise.all([fitting(at("60")), fitting(at("40"))]);
  expect(files.map(({ data }) => data.byteLength)).toEqual([60, 40]);
  const download = boundedDownload({ bytes: 100 }, create);
  const results = await Promise.allSettled([download(at("60")), download(at("41")), download(at("39"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("one file is loaded at a time, and each address once", async () => {
  const { at, seen } = await fileServer();
  const download = boundedDownload({ bytes: 100 }, create);
  await Promise.all([download(at("1")), download(at("2")), download(at("1"))]);
  expect(seen).toMatchObject({ asked: ["/1", "/2"], most: 1 });
});

test("a file that takes too long is given up, and the next one is loaded", async () => {
  const { at } = await fileServer();
  const download = boundedDownload({ milliseconds: 50 }, create);
  const [slow, next] = await Promise.allSettled([download(at("slow")), download(at("5"))]);
  expect([slow?.status, next?.status]).toEqual(["rejected", "fulfilled"]);
});

test("what the provider loads by itself is left to it", async () => {
  const { at, seen } = await fileServer();
  const all = downloadAll(boundedDownload({}, create), new AbortController().signal);
  const files = [
    { ...at("1"), isUrlSupportedByModel: true },
    { ...at("2"), isUrlSupportedByModel: false },
  ];
  expect(await all(files)).toEqual([null, { data: new Uint8Array([120, 120]), mediaType: undefined }]);
  expect(seen.asked).toEqual(["/2"]);
});

test("private addresses are refused", async () => {
  const { at, seen } = await fileServer();
  await expect(boundedDownload()(at("1"))).rejects.toThrow("not allowed");
  expect(seen.asked).toEqual([]);
});
