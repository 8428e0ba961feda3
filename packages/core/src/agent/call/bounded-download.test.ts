// Files that are loaded by address: how much, how long, and how often. The server is real; the AI SDK's own request
// refuses its private address, so `fetch` loads here.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type ModelMessage, ToolLoopAgent, type ToolSet, tool } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { Agent } from "../agent.ts";
import { boundedDownload, downloadAll } from "./bounded-download.ts";
import type { CallableAgent } from "./callable-agent.ts";
import { FileBudget, FilePool } from "./file-budget.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation } from "./operation.ts";

const mebibyte = 1024 * 1024;

/** A server whose `/n` has n bytes and whose `/slow` never ends; `most` is how many requests were open at once. */
async function fileServer() {
  const seen = { asked: [] as string[], open: 0, most: 0 };
  const server = createServer(({ url = "/" }, response: ServerResponse) => {
    seen.asked.push(url);
    seen.most = Math.max(seen.most, ++seen.open);
    response.on("close", () => seen.open--);
    if (url === "/slow") return void response.write("x");
    if (url === "/missing") return void response.writeHead(404).write("x");
    const [, kind, size] = url.split("/");
    if (kind === "chunks") return void response.writeHead(200).end(Buffer.alloc(Number(size), 120));
    if (kind === "gzip") {
      const encoded = gzipSync(Buffer.alloc(Number(size), 120));
      response.writeHead(200, { "content-encoding": "gzip", "content-length": encoded.byteLength });
      return void response.end(encoded);
    }
    response.end("x".repeat(Number(kind)));
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

const request = (url: URL, signal: AbortSignal) => fetch(url, { signal });

test("all files together have as many bytes as the limit, and not one more", async () => {
  const { at } = await fileServer();
  const fitting = boundedDownload(new FileBudget({ bytes: 100 }), request);
  const files = await Promise.all([fitting(at("60")), fitting(at("40"))]);
  expect(files.map(({ data }) => data.byteLength)).toEqual([60, 40]);
  const download = boundedDownload(new FileBudget({ bytes: 100 }), request);
  const results = await Promise.allSettled([download(at("60")), download(at("41")), download(at("39"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("files of one budget are loaded one at a time, also by two of its callers", async () => {
  const { at, seen } = await fileServer();
  const budget = new FileBudget({ bytes: 100 });
  const [first, second] = [boundedDownload(budget, request), boundedDownload(budget, request)];
  const results = await Promise.allSettled([first(at("60")), second(at("41")), second(at("40"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seen).toMatchObject({ asked: ["/60", "/41", "/40"], most: 1 });
});

test("the time of all files together is bounded: after it nothing more is asked for", async () => {
  const { at } = await fileServer();
  const asked: string[] = [];
  const download = boundedDownload(new FileBudget({ milliseconds: 50 }), (url, signal) => {
    asked.push(url.pathname);
    return request(url, signal);
  });
  const [slow, next] = await Promise.allSettled([download(at("slow")), download(at("5"))]);
  expect([slow?.status, next?.status]).toEqual(["rejected", "rejected"]);
  expect(next).toMatchObject({
    reason: { message: expect.stringContaining("the files of this call took more than 50 ms to load") },
  });
  expect(asked).toEqual(["/slow"]);
});

test("a file that fails leaves the rest of the time, and all of its bytes, to the others", async () => {
  const { at } = await fileServer();
  const download = boundedDownload(new FileBudget({ bytes: 10 }), request);
  const results = await Promise.allSettled([download(at("11")), download(at("10"))]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a budget that is restored counts from the beginning", async () => {
  const { at, seen } = await fileServer();
  const budget = new FileBudget({ bytes: 10 });
  const download = boundedDownload(budget, request);
  await download(at("10"));
  await expect(download(at("1"))).rejects.toThrow("more than 10 bytes");
  budget.restore();
  expect((await download(at("10"))).data.byteLength).toBe(10);
  // It holds no bytes itself.
  expect(seen.asked).toEqual(["/10", "/1", "/10"]);
});

test("a file of 9 MiB is loaded beside one of 15 MiB, and a short one beside both", async () => {
  const { at } = await fileServer();
  const pool = new FilePool();
  for (const size of [15 * mebibyte, 9 * mebibyte, 10_000])
    expect((await boundedDownload(new FileBudget({ pool }), request)(at(`${size}`))).data.byteLength).toBe(
      size,
    );
});

test("a file whose length is not known grows, and one that is encoded beyond its length", async () => {
  const { at } = await fileServer();
  for (const path of ["chunks", "gzip"]) {
    const pool = new FilePool(4 * mebibyte, 0);
    const download = boundedDownload(new FileBudget({ pool }), request);
    const { data } = await download(at(`${path}/${3 * mebibyte}`));
    expect(Buffer.compare(data, Buffer.alloc(3 * mebibyte, 120))).toBe(0);
    const short = boundedDownload(new FileBudget({ bytes: 100 }), request);
    expect((await short(at(`${path}/100`))).data.byteLength).toBe(100);
    await expect(short(at(`${path}/1`))).rejects.toThrow("more than 100 bytes");
  }
});

test("a file that finds no room waits with its response, and is read when another call ends", async () => {
  const { at, seen } = await fileServer();
  const pool = new FilePool(100, 0);
  const budgets = [1, 2, 3].map(() => new FileBudget({ bytes: 50, pool }));
  const [first, second, third] = budgets.map((budget) => boundedDownload(budget, request));
  await Promise.all([first?.(at("50")), second?.(at("50"))]);
  let isLoaded = false;
  const waiting = third?.(at("7")).then((file) => {
    isLoaded = true;
    return file;
  });
  await expect.poll(() => seen.asked).toEqual(["/50", "/50", "/7"]);
  await fetch(at("0").url);
  expect(isLoaded).toBe(false);
  budgets[1]?.end();
  expect((await waiting)?.data.byteLength).toBe(7);
});

test("a call that waits for others in vain can try again, and leaves its place in the queue", async () => {
  const { at, seen } = await fileServer();
  const pool = new FilePool(10, 0);
  const holder = new FileBudget({ bytes: 10, pool });
  await boundedDownload(holder, request)(at("10"));
  // The time is for room alone: the response is there.
  const response = await fetch(at("1").url);
  const late = boundedDownload(new FileBudget({ bytes: 10, milliseconds: 20, pool }), async () => response);
  await expect(late(at("1"))).rejects.toMatchObject({ status: 503, code: "files-busy", retryAfter: 5 });
  holder.end();
  const next = boundedDownload(new FileBudget({ bytes: 10, pool }), request);
  expect((await next(at("10"))).data.byteLength).toBe(10);
  await expect.poll(() => seen.open).toBe(0);
});

test("a caller who leaves does not wait for room any more", async () => {
  const { at } = await fileServer();
  const pool = new FilePool(10, 0);
  await boundedDownload(new FileBudget({ pool }), request)(at("10"));
  const caller = new AbortController();
  const waiting = boundedDownload(
    new FileBudget({ pool }),
    request,
  )({ ...at("1"), abortSignal: caller.signal });
  caller.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});

test("a file that is still loading when its call ends leaves the pool as well", async () => {
  const { at } = await fileServer();
  const pool = new FilePool(10, 0);
  const ended = new FileBudget({ bytes: 10, pool });
  const loading = boundedDownload(ended, async (url, signal) => {
    const response = await request(url, signal);
    ended.end();
    return response;
  });
  await loading(at("10"));
  const next = boundedDownload(new FileBudget({ bytes: 10, pool }), request);
  expect((await next(at("10"))).data.byteLength).toBe(10);
});

test("a response of an error is no file, and its connection is released", async () => {
  const { at, seen } = await fileServer();
  const download = boundedDownload(new FileBudget(), request);
  await expect(download(at("missing"))).rejects.toMatchObject({ statusCode: 404 });
  await expect(download({ url: new URL("http://127.0.0.1:1/") })).rejects.toThrow("fetch failed");
  await expect.poll(() => seen.open).toBe(0);
});

test("each file of a prompt is loaded once, however often the AI SDK asks", async () => {
  const { at, seen } = await fileServer();
  const all = downloadAll(boundedDownload(new FileBudget(), request), new AbortController().signal);
  const files = ["1", "2", "1"].map((path) => ({ ...at(path), isUrlSupportedByModel: false }));
  const [first] = await all(files);
  const [again] = await all(files);
  expect(seen.asked).toEqual(["/1", "/2"]);
  expect(again?.data).toBe(first?.data);
});

test("a file that the provider loads by itself is left to it", async () => {
  const { at, seen } = await fileServer();
  const all = downloadAll(boundedDownload(new FileBudget(), request), new AbortController().signal);
  const files = [
    { ...at("1"), isUrlSupportedByModel: true },
    { ...at("2"), isUrlSupportedByModel: false },
  ];
  expect(await all(files)).toEqual([null, { data: new Uint8Array([120, 120]), mediaType: undefined }]);
  expect(seen.asked).toEqual(["/2"]);
});

test("private addresses are refused", async () => {
  const { at, seen } = await fileServer();
  await expect(boundedDownload(new FileBudget())(at("1"))).rejects.toThrow("not allowed");
  expect(seen.asked).toEqual([]);
});

/** Uses up the time of the files of an operation. */
async function spend({ files }: Operation): Promise<void> {
  const now = vi.spyOn(performance, "now");
  await files.load(async () => {
    now.mockReturnValue(Number.MAX_SAFE_INTEGER);
    return { data: new Uint8Array() };
  });
  now.mockRestore();
}

const image = new URL("http://127.0.0.1:1/plan.png");
const asking: ModelMessage[] = [
  { role: "user", content: [{ type: "file", mediaType: "image/png", data: image }] },
];
const model = () => controlledModel(() => ({ text: ["seen"] }));
const generate = (agent: CallableAgent, operation: Operation, messages = asking) =>
  Promise.resolve(agent.generate({ messages, operation, settings: {} }));

test.each<[string, () => CallableAgent]>([
  ["an agent", () => new Agent({ id: "a", model: model(), maxRetries: 0 })],
  ["an agent of the AI SDK", () => callableAgent(new ToolLoopAgent({ model: model(), maxRetries: 0 }), "a")],
])(
  "%s loads the files of a call without a conversation within the bounds of its operation",
  async (_, make) => {
    const operation = Operation.from(undefined, undefined);
    await expect(generate(make(), operation)).rejects.toThrow("not allowed");
    await spend(operation);
    await expect(generate(make(), operation)).rejects.toThrow("took more than 30000 ms");
    const inside = new Operation(operation);
    await expect(generate(make(), inside)).rejects.toThrow("took more than 30000 ms");
  },
);

test("files that tools return by address are within the same bounds", async () => {
  const look = tool({
    inputSchema: z.object({}),
    execute: () => image.href,
    toModelOutput: ({ output }) => ({
      type: "content",
      value: [{ type: "file", mediaType: "image/png", data: { type: "url", url: new URL(output) } }],
    }),
  });
  const tools: ToolSet = { look };
  const calls = [{ name: "look", input: {} }];
  const looking = () => controlledModel((_, number) => (number === 1 ? { calls } : { text: ["seen"] }));
  const prompt: ModelMessage[] = [{ role: "user", content: "look" }];
  for (const agent of [
    new Agent({ id: "a", model: looking(), tools, maxRetries: 0 }),
    callableAgent(new ToolLoopAgent({ model: looking(), tools, maxRetries: 0 }), "a"),
  ]) {
    const operation = Operation.from(undefined, undefined);
    await spend(operation);
    await expect(generate(agent, operation, prompt)).rejects.toThrow("took more than 30000 ms");
  }
});

test("an agent of the AI SDK whose host loads files in another way keeps that way", async () => {
  const data = new Uint8Array([137, 80]);
  const seen = model();
  const own = new ToolLoopAgent({
    model: seen,
    experimental_download: async (files) => files.map(() => ({ data, mediaType: "image/png" })),
  });
  const operation = Operation.from(undefined, undefined);
  await spend(operation);
  await generate(callableAgent(own, "a"), operation);
  expect(seen.asked[0]?.prompt[0]?.content).toMatchObject([{ type: "file", data: { data } }]);
});
