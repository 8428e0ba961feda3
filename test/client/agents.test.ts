// Agents through the client: replies, conversations, and chats over networks that break.
import { createClient } from "@andante/client";
import { Agent } from "@andante/core";
import type { ServeOptions } from "@andante/server";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { agents, carefulHeld } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { CuttingProxy } from "./cutting-proxy.ts";

interface Chunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

const words = Array.from({ length: 200 }, (_, index) => `word${index} `);
/** Sends many words, and waits at a door named by its question in the middle. */
const talker = new Agent({
  id: "talker",
  model: controlledModel((call) => ({
    text: words,
    hold: (piece) => (piece === 100 ? gates.pass(lastText(call)) : undefined),
  })),
});
/** Sends them at the pace of a model. */
const pacer = new Agent({
  id: "pacer",
  model: controlledModel(() => ({ text: words, hold: () => new Promise((go) => setTimeout(go, 2)) })),
});
const all = { ...agents, talker, pacer, carefulHeld };
/** Called when a client has attached to a running reply. */
let attached: () => void = () => undefined;
const middleware: ServeOptions["middleware"] = [
  async ({ req }, next) => {
    await next();
    if (req.method === "GET" && req.path.includes("/chat/")) attached();
  },
];
const server = await serveForTest({ agents: all, middleware });
const andante = createClient({ baseUrl: server.url });
let made = 0;
let conversationId = "";
beforeEach(() => {
  conversationId = `conversation ${++made}`;
});

async function read<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all = [];
  for await (const each of stream) all.push(each);
  return all;
}

const said = (chunks: readonly { readonly type: string; readonly delta?: unknown }[]) =>
  chunks.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");

/** The types in order, a run of the same one once. */
const outline = (chunks: readonly Chunk[]) =>
  chunks.map(({ type }) => type).filter((type, index, types) => type !== types[index - 1]);

const whole = ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"];

/** A client behind a proxy that passes on so many bytes of each of the next connections. */
async function behind(...allowances: number[]) {
  const proxy = await CuttingProxy.to(server.url);
  proxy.allowance = () => allowances.shift();
  return { proxy, client: createClient({ baseUrl: proxy.url }) };
}

describe("replies", () => {
  test("text, objects by JSON Schema and by schema, details", async () => {
    const { text, usage } = await andante.agent("echo").text("hello", { temperature: 0 });
    expect([text, usage.calls]).toEqual(["You said: hello", 1]);
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    expect(await andante.agent("object").object('{"n":1}', schema)).toEqual({ n: 1 });
    const { n } = await andante.agent("object").object('{"n":2}', z.object({ n: z.number() }));
    expect(n + 1).toBe(3);
    await expect(andante.agent("object").object('"no"', schema)).rejects.toMatchObject({ status: 422 });
    expect(await andante.agent("echo").details()).toMatchObject({ id: "echo", instructions: "Repeat." });
    expect((await andante.agents()).map(({ id }) => id)).toContain("foreign");
  });

  test("streams of parts and of a growing object", async () => {
    const parts = await read(andante.agent("echo").stream("hello"));
    expect(said(parts)).toBe("You said: hello");
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
    const grown = await read(andante.agent("object").streamObject('{"n":1}', z.object({ n: z.number() })));
    expect(grown.at(-1)).toEqual({ type: "object", object: { n: 1 } });
  });

  test("a stream that is cut is not resumed, and the error gives the reason", async () => {
    for (const open of ["stream", "chat"] as const) {
      const { client, proxy } = await behind(900);
      const reading = read<unknown>(client.agent("talker")[open](`never ${open}`));
      await expect(reading).rejects.toMatchObject({
        code: "connection-lost",
        message: expect.stringContaining("cannot be resumed"),
      });
      expect(proxy.cuts).toBe(1);
      gates.open(`never ${open}`);
    }
  });
});

describe("chats in a conversation", () => {
  test("a reply that is cut many times arrives once and whole", async () => {
    const { client, proxy } = await behind(700, 50, 900, 1200, 400, 1500, 1800, 2000, 2200, 2500);
    const chunks = await read(client.agent("pacer").chat("many cuts", { conversationId }));
    expect(proxy.cuts).toBeGreaterThan(5);
    expect(said(chunks)).toBe(words.join(""));
    expect(outline(chunks)).toEqual(whole);
  });

  test("a reply that ends while disconnected is completed from the kept message", async () => {
    const { client, proxy } = await behind();
    const chunks: Chunk[] = [];
    for await (const chunk of client.agent("talker").chat("ends alone", { conversationId })) {
      chunks.push(chunk);
      if (chunks.length !== 10) continue;
      proxy.retarget("http://127.0.0.1:9");
      proxy.cut();
      gates.open("ends alone");
      await expect.poll(() => server.andante.agents.attach("talker", conversationId)).toBeUndefined();
      proxy.retarget(server.url);
    }
    expect(said(chunks)).toBe(words.join(""));
    expect(chunks.at(-1)).toMatchObject({ type: "finish" });
  });

  test("a reply that continues after an approval, cut on the way", async () => {
    const asked = await read<Chunk>(andante.agent(carefulHeld.id).chat("delete", { conversationId }));
    const approvalId = asked.find(({ type }) => type === "tool-approval-request")?.approvalId;
    const { messages } = await andante.conversation(conversationId).messages();
    const reply = messages.at(-1);
    const parts = reply?.parts.map((part) =>
      part.toolCallId === undefined
        ? part
        : { ...part, state: "approval-responded", approval: { id: approvalId, approved: true } },
    );
    const { client, proxy } = await behind();
    const chunks: Chunk[] = [];
    for await (const chunk of client.agent(carefulHeld.id).chat([{ ...reply, parts }], { conversationId })) {
      chunks.push(chunk);
      if (chunk.type !== "text-delta" || proxy.cuts > 0) continue;
      proxy.cuts += 1;
      attached = () => gates.open("careful-held");
      proxy.cut();
    }
    expect(said(chunks)).toBe("It is done.");
    expect(chunks.filter(({ type }) => type === "tool-output-available")).toHaveLength(1);
    expect(outline(chunks)).toEqual(["start", "tool-output-available", ...whole.slice(1)]);
  });

  test("a reply of which nothing came before the connection was lost is completed, too", async () => {
    let isFirst = true;
    const client = createClient({
      baseUrl: server.url,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!isFirst) return response;
        isFirst = false;
        await response.text();
        const body = new ReadableStream({ start: (lost) => lost.error(new TypeError("network")) });
        return new Response(body, { headers: response.headers });
      },
    });
    const message = { id: "m-1", role: "user", parts: [{ type: "text", text: "all lost" }] };
    gates.open("all lost");
    const chunks = await read<Chunk>(client.agent("talker").chat([message], { conversationId }));
    expect(said(chunks)).toBe(words.join(""));
    expect(outline(chunks)).toEqual(whole);
  });

  test("a message that is continued counts as the reply only once there is more of it", async () => {
    const earlier = [
      { type: "step-start" },
      { type: "tool-remove", toolCallId: "1", state: "approval-responded" },
    ];
    const kept = { id: "m-2", role: "assistant", createdAt: "" };
    const ending = { ...earlier[1], state: "output-available", output: "gone" };
    const pages = [earlier, [earlier[0], ending, { type: "step-start" }, { type: "text", text: "Done." }]];
    const client = createClient({
      baseUrl: "http://restarting.example",
      fetch: async (input, init) => {
        const headers = { "content-type": "text/event-stream" };
        if (init?.method === "POST")
          return new Response('data: {"type":"start","messageId":"m-2"}\n\n', { headers });
        if (String(input).endsWith("/stream")) return new Response(null, { status: 204 });
        const messages = [{ ...kept, parts: pages.shift() }];
        return Response.json({ success: true, data: { messages, nextCursor: null } });
      },
    });
    const sent = { ...kept, parts: earlier };
    const chunks = await read<Chunk>(client.agent("careful").chat([sent], { conversationId }));
    expect(outline(chunks)).toEqual(["start", "tool-output-available", ...whole.slice(1)]);
    expect(said(chunks)).toBe("Done.");
  });

  test("messages that wait are listed, and taken back", async () => {
    const talker = andante.agent("talker");
    const first = read<Chunk>(talker.chat("queued", { conversationId }));
    await gates.arrival("queued");
    const waiting = { id: "waiting", role: "user", parts: [{ type: "text", text: "more" }] };
    const withdrawn = expect(read<Chunk>(talker.chat([waiting], { conversationId }))).rejects.toMatchObject({
      code: "message-withdrawn",
    });
    await expect.poll(() => talker.queue(conversationId)).toMatchObject([waiting]);
    await talker.withdraw(conversationId, "waiting");
    await withdrawn;
    expect(await talker.queue(conversationId)).toEqual([]);
    await expect(talker.withdraw(conversationId, "waiting")).rejects.toMatchObject({
      code: "queued-message-not-found",
    });
    expect(await talker.stop(conversationId)).toBe(true);
    await first;
    gates.open("queued");
  });

  test("attach reads the running reply from its beginning; stop ends it, with its text so far", async () => {
    expect(await andante.agent("talker").attach(conversationId)).toBeUndefined();
    const first = read<Chunk>(andante.agent("talker").chat("stopped", { conversationId }));
    await gates.arrival("stopped");
    const attached = await andante.agent("talker").attach(conversationId);
    const second = attached && read<Chunk>(attached);
    expect(await andante.agent("talker").stop(conversationId)).toBe(true);
    for (const chunks of [await first, (await second) ?? []]) {
      expect(said(chunks)).toBe(words.slice(0, 100).join(""));
      expect(chunks.at(-1)?.type).toBe("abort");
    }
    expect(await andante.agent("talker").stop(conversationId)).toBe(false);
    gates.open("stopped");
  });

  test("a restart of the server in the middle of a reply is not noticed", async () => {
    const file = temporaryFile();
    const before = await serveForTest({ agents: all, store: file.open() });
    const proxy = await CuttingProxy.to(before.url);
    const client = createClient({ baseUrl: proxy.url });
    const chunks: Chunk[] = [];
    let restart: Promise<void> | undefined;
    for await (const chunk of client.agent("talker").chat("restarted", { conversationId })) {
      chunks.push(chunk);
      restart ??= (async () => {
        await gates.arrival("restarted");
        await before.close();
        const { url } = await serveForTest({ agents: all, store: file.open(), middleware });
        // The reply waits at its door until the client has found it again.
        attached = () => gates.open("restarted");
        proxy.retarget(url);
      })();
    }
    await restart;
    expect(said(chunks)).toBe(words.join(""));
    expect(outline(chunks)).toEqual(whole);
  });

  test("conversations are listed, read, renamed and removed", async () => {
    await andante.agent("echo").text("first", { conversationId });
    const listed = [];
    for await (const each of andante.conversations({ agentId: "echo" })) listed.push(each.conversationId);
    expect(listed).toContain(conversationId);
    const conversation = andante.conversation(conversationId);
    expect(await conversation.rename("Words")).toMatchObject({ title: "Words" });
    expect(await conversation.details()).toMatchObject({ title: "Words", agentId: "echo" });
    expect((await read(conversation.messages({ limit: 1 }))).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
    ]);
    await conversation.remove();
    await expect(conversation.details()).rejects.toMatchObject({ code: "conversation-not-found" });
  });
});

test("the overview: inbox, activity, changes, the server, logs, traces, metrics", async () => {
  const leave = new AbortController();
  const changed: string[] = [];
  const opened = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const event of andante.changes({ signal: leave.signal })) {
      if (event.type === "open") opened.resolve();
      else changed.push(...event.executions.map(({ executionId }) => executionId));
    }
  })();
  await opened.promise;
  const { executionId } = await andante.workflow("approval").start({ topic: "rivers" });
  await expect.poll(() => changed).toContain(executionId);
  leave.abort();
  await expect(following).rejects.toThrow();
  const { items } = await andante.inbox({ workflowId: "approval" });
  expect(items).toMatchObject([{ executionId, suspension: { stepId: "approve" } }]);
  expect(await andante.activity({ points: 2 })).toMatchObject({ complete: true });
  expect(await andante.server()).toMatchObject({ suspended: 1, authentication: false, user: null });
  expect(Array.isArray(await andante.logs({ executionId, level: "info" }))).toBe(true);
  const [trace] = await read(andante.traces({ executionId }));
  expect(await andante.trace(trace?.traceId ?? "")).toMatchObject({ roots: [{ executionId }] });
  expect(await andante.metrics()).toContain("andante_");
  expect(await andante.description()).toMatchObject({ openapi: "3.1.0" });
  expect([await andante.health(), await andante.ready()]).toEqual([{ status: "ok" }, { status: "ready" }]);
});
