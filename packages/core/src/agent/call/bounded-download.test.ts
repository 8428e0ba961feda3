// Files that are loaded by address: how much, how long, and how often. The server is real; the AI SDK's own function refuses
// its private address, so one like it loads here.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DownloadError, type ModelMessage, ToolLoopAgent, type ToolSet, tool } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { Agent } from "../agent.ts";
import { boundedDownload, type Download, downloadAll } from "./bounded-download.ts";
import type { CallableAgent } from "./callable-agent.ts";
import { FileBudget, FilePool } from "./file-budget.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation } from "./operation.ts";

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
  const fitting = boundedDownload(new FileBudget({ bytes: 100 }), create);
  const files = await Promise.all([fitting(at("60")), fitting(at("40"))]);
  expect(files.map(({ data }) => data.byteLength)).toEqual([60, 40]);
  const download = boundedDownload(new FileBudget({ bytes: 100 }), create);
  const results = await Promise.allSettled([download(at("60")), download(at("41")), download(at("39"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("files of one budget are loaded one at a time, also by two of its callers", async () => {
  const { at, seen } = await fileServer();
  const budget = new FileBudget({ bytes: 100 });
  const [first, second] = [boundedDownload(budget, create), boundedDownload(budget, create)];
  const results = await Promise.allSettled([first(at("60")), second(at("41")), second(at("40"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seen).toMatchObject({ asked: ["/60", "/41", "/40"], most: 1 });
});

test("the time of all files together is bounded: after it nothing more is asked for", async () => {
  const { at, seen } = await fileServer();
  const download = boundedDownload(new FileBudget({ milliseconds: 50 }), create);
  const [slow, next] = await Promise.allSettled([download(at("slow")), download(at("5"))]);
  expect([slow?.status, next?.status]).toEqual(["rejected", "rejected"]);
  expect(next).toMatchObject({ reason: new Error("the files of this call took more than 50 ms to load") });
  expect(seen.asked).toEqual(["/slow"]);
});

test("a file that fails leaves the rest of the time, and all of its bytes, to the others", async () => {
  const { at } = await fileServer();
  const download = boundedDownload(new FileBudget({ bytes: 10 }), create);
  const results = await Promise.allSettled([download(at("11")), download(at("10"))]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a budget that is restored counts from the beginning", async () => {
  const { at, seen } = await fileServer();
  const budget = new FileBudget({ bytes: 10 });
  const download = boundedDownload(budget, create);
  await download(at("10"));
  await expect(download(at("1"))).rejects.toThrow("more than 0 bytes");
  budget.restore();
  expect((await download(at("10"))).data.byteLength).toBe(10);
  // It holds no bytes itself.
  expect(seen.asked).toEqual(["/10", "/1", "/10"]);
});

/** The AI SDK's error for a file that is too long; its own function refuses the server's address. */
const createLikeSdk = ({ maxBytes }: { maxBytes: number }): Download =>
  async function load({ url, abortSignal }) {
    const response = await fetch(url, { signal: abortSignal ?? null });
    const length = Number(response.headers.get("content-length"));
    if (length <= maxBytes)
      return { data: new Uint8Array(await response.arrayBuffer()), mediaType: undefined };
    await response.body?.cancel();
    throw new DownloadError({ url: url.href, message: `exceeded maximum size of ${maxBytes} bytes` });
  };

test("the files of several calls share a pool: the last one waits until another call ends", async () => {
  const { at, seen } = await fileServer();
  const pool = new FilePool(100);
  const budgets = [1, 2, 3].map(() => new FileBudget({ bytes: 50, pool }));
  const [first, second, third] = budgets.map((budget) => boundedDownload(budget, createLikeSdk));
  await Promise.all([first?.(at("50")), second?.(at("50"))]);
  const waiting = third?.(at("7"));
  // A request that needs no place is served before.
  await fetch(at("0").url);
  expect(seen.asked).toEqual(["/50", "/50", "/0"]);
  budgets[1]?.end();
  expect((await waiting)?.data.byteLength).toBe(7);
});

test("a file reserves the bytes that it may have and keeps those that it has", async () => {
  const { at } = await fileServer();
  const pool = new FilePool(100);
  const [first, second] = [1, 2].map(() =>
    boundedDownload(new FileBudget({ bytes: 90, pool }), createLikeSdk),
  );
  // Each reserves 90 bytes while it loads; 10 + 80 are held at the end.
  const files = await Promise.all([first?.(at("10")), second?.(at("80"))]);
  expect(files.map((file) => file?.data.byteLength)).toEqual([10, 80]);
});

test("a call that waits for others in vain fails in its time, and leaves its place in the queue", async () => {
  const { at } = await fileServer();
  const pool = new FilePool(10);
  const holder = new FileBudget({ bytes: 10, pool });
  await boundedDownload(holder, createLikeSdk)(at("10"));
  const late = boundedDownload(new FileBudget({ bytes: 10, milliseconds: 20, pool }), createLikeSdk);
  await expect(late(at("1"))).rejects.toThrow("the files of other calls take all the memory");
  holder.end();
  const next = boundedDownload(new FileBudget({ bytes: 10, pool }), createLikeSdk);
  expect((await next(at("10"))).data.byteLength).toBe(10);
});

test("a file that is still loading when its call ends leaves the pool as well", async () => {
  const { at } = await fileServer();
  const pool = new FilePool(10);
  const ended = new FileBudget({ bytes: 10, pool });
  const loading = boundedDownload(ended, createLikeSdk)(at("10"));
  ended.end();
  await loading;
  const next = boundedDownload(new FileBudget({ bytes: 10, pool }), createLikeSdk);
  expect((await next(at("10"))).data.byteLength).toBe(10);
});

test("a file of more than 8 MiB is asked for again with all bytes that are left, other failures once", async () => {
  const { at, seen } = await fileServer();
  const bounds: number[] = [];
  const download = boundedDownload(new FileBudget(), ({ maxBytes }) => {
    bounds.push(maxBytes);
    return createLikeSdk({ maxBytes });
  });
  const [usual, all] = [8 * 1024 * 1024, 50 * 1024 * 1024];
  expect((await download(at(`${usual}`))).data.byteLength).toBe(usual);
  expect(bounds).toEqual([usual]);
  expect((await download(at(`${usual + 1}`))).data.byteLength).toBe(usual + 1);
  expect(bounds).toEqual([usual, usual, all - usual]);
  await expect(download({ url: new URL("http://127.0.0.1:1/") })).rejects.toThrow("fetch failed");
  expect(bounds).toHaveLength(4);
  expect(seen.asked).toHaveLength(3);
});

test("each file of a prompt is loaded once, however often the AI SDK asks", async () => {
  const { at, seen } = await fileServer();
  const all = downloadAll(boundedDownload(new FileBudget(), create), new AbortController().signal);
  const files = ["1", "2", "1"].map((path) => ({ ...at(path), isUrlSupportedByModel: false }));
  const [first] = await all(files);
  const [again] = await all(files);
  expect(seen.asked).toEqual(["/1", "/2"]);
  expect(again?.data).toBe(first?.data);
});

test("a file that the provider loads by itself is left to it", async () => {
  const { at, seen } = await fileServer();
  const all = downloadAll(boundedDownload(new FileBudget(), create), new AbortController().signal);
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
