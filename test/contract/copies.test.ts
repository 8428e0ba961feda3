// Forks and replays copy stored data: many at once take turns, do not delay other users and are bounded for each user.
import { randomUUID } from "node:crypto";
import { createWorkflow } from "@andante/core";
import type { ServeOptions } from "@andante/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const eve = bearer(await tokenFor("eve"));
const ada = bearer(await tokenFor("ada"));

/** A fork that begins when the test opens the door. */
async function serveSlowForks(options: Partial<ServeOptions> = {}) {
  const store = temporaryFile().open();
  const doors: (() => void)[] = [];
  const counts = { running: 0, most: 0 };
  const { conversations } = store;
  const fork = conversations.fork.bind(conversations);
  conversations.fork = async (given) => {
    counts.running += 1;
    counts.most = Math.max(counts.most, counts.running);
    await new Promise<void>((resolve) => doors.push(resolve));
    counts.running -= 1;
    return fork(given);
  };
  const server = await serveForTest({ store, auth: provider(), ...options });
  for (const [user, id] of [
    ["eve", "talk-of-eve"],
    ["ada", "talk-of-ada"],
  ] as const)
    await server.andante.agents.text("echo", "hello", { conversationId: id, userId: user });
  return { server, doors, counts };
}

test.each<[string, Partial<ServeOptions>]>([
  ["by default", {}],
  ["where callers see the conversations of all", { authorize: () => true }],
])(
  "%s forks of one user beyond the bound are 429 with retry-after; those up to it, and another user's, are made",
  async (_, options) => {
    const { server, doors, counts } = await serveSlowForks(options);
    const fork = (user: Record<string, string>, id: string) =>
      server.post(`/api/conversations/${id}/fork`, {}, user);
    const sent = Array.from({ length: 60 }, () => fork(eve, "talk-of-eve"));
    const refused: Awaited<(typeof sent)[number]>[] = [];
    const made: Awaited<(typeof sent)[number]>[] = [];
    // One is made and nine wait: the others come back at once.
    await new Promise<void>((resolve) => {
      for (const each of sent)
        void each.then((answer) => {
          if (answer.status === 200) return made.push(answer);
          return refused.push(answer) === 50 ? resolve() : undefined;
        });
    });
    for (const answer of refused) {
      errorOf(answer, 429);
      expect(answer.headers.get("retry-after")).toBe("2");
      expect(answer.headers.get("x-error-code")).toBe("too-many-copies");
    }
    const other = fork(ada, "talk-of-ada");
    let finished = false;
    const all = Promise.all([...sent, other]).finally(() => (finished = true));
    while (!finished) {
      doors.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
    dataOf(await other);
    expect([made.length, refused.length, counts.most]).toEqual([10, 50, 1]);
  },
);

/** A conversation of five messages, each longer than a page: five pages. */
async function serveLongTalks() {
  const store = temporaryFile().open();
  const pages: string[] = [];
  const { conversations } = store;
  const fork = conversations.fork.bind(conversations);
  let afterPage: (page: number) => Promise<unknown> = async () => undefined;
  conversations.fork = async (given) => {
    const result = await fork(given);
    pages.push(given.forkId);
    await afterPage(pages.length);
    return result;
  };
  const server = await serveForTest({ store, auth: provider() });
  const body = JSON.stringify({ role: "user", parts: [{ type: "text", text: "x".repeat(1_100_000) }] });
  const post = (conversationId: string, userId: string, n: number, text = body) =>
    conversations.post({
      key: randomUUID(),
      conversationId,
      agentId: "echo",
      userId,
      title: null,
      messageId: `m${n}`,
      body: text,
      again: false,
      at: Date.now(),
    });
  for (let n = 1; n <= 5; n++) await post("long-talk", "eve", n);
  await post("short-talk", "ada", 1);
  return { server, pages, post, afterPages: (then: typeof afterPage) => (afterPage = then) };
}

test("between two pages of a fork another user's fork and message have their turn", async () => {
  const { server, pages, post, afterPages } = await serveLongTalks();
  let other: Promise<unknown> | undefined;
  afterPages(async (page) => {
    if (page !== 1) return;
    other = server.andante.conversations.fork("short-talk", { userId: "ada", forkId: "short-fork" });
    await post("another-talk", "ada", 1);
  });
  dataOf(await server.post("/api/conversations/long-talk/fork", { conversationId: "long-fork" }, eve));
  await expect(other).resolves.toMatchObject({ conversationId: "short-fork" });
  expect(pages).toEqual(["long-fork", "short-fork", ...Array(4).fill("long-fork")]);
});

test("a conversation that is edited during each of its copies is 409, and nothing is left of the fork", async () => {
  const { server, post, afterPages } = await serveLongTalks();
  afterPages((page) => post("long-talk", "eve", 5, JSON.stringify({ role: "user", parts: [], n: page })));
  const path = "/api/conversations/long-talk/fork";
  errorOf(await server.post(path, { conversationId: "long-fork" }, eve), 409);
  errorOf(await server.get("/api/conversations/long-fork", eve), 404);
  afterPages(async () => undefined);
  dataOf(await server.post(path, { conversationId: "long-fork" }, eve));
});

test("a conversation that is edited five times during its copy is forked as it is then", async () => {
  const { server, post, afterPages } = await serveLongTalks();
  const edited = JSON.stringify({ role: "user", parts: [{ type: "text", text: "edited" }] });
  afterPages(async (page) => page <= 5 && post("long-talk", "eve", 5, edited));
  const path = "/api/conversations/long-talk/fork";
  dataOf(await server.post(path, { conversationId: "long-fork" }, eve));
  const newest = { conversationId: "long-fork", userId: "eve", after: 0, before: 100, limit: 1 };
  expect(await server.andante.store.conversations.messages(newest)).toMatchObject([{ body: edited }]);
});

test("a conversation of more than 64 MiB is 413, and one as long as the limit is forked", async () => {
  const store = temporaryFile().open();
  const { conversations } = store;
  const fork = conversations.fork.bind(conversations);
  const limits: number[] = [];
  let difference = 0;
  conversations.fork = (given) => {
    limits.push(given.maxBytes);
    return fork({ ...given, maxBytes: bytes - difference });
  };
  const server = await serveForTest({ store, auth: provider() });
  await server.andante.agents.text("echo", "hello", { conversationId: "talk", userId: "eve" });
  const whole = { conversationId: "talk", userId: "eve", after: 0, limit: 10 };
  const messages = (await conversations.messages(whole)) ?? [];
  const bytes = messages.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  dataOf(await server.post("/api/conversations/talk/fork", { conversationId: "whole" }, eve));
  difference = 1;
  const refused = await server.post("/api/conversations/talk/fork", {}, eve);
  errorOf(refused, 413);
  expect(refused.headers.get("x-error-code")).toBe("conversation-too-long");
  expect(limits).toEqual([64 * 1024 * 1024, 64 * 1024 * 1024]);
});

test("two equal forks at once continue one copy: one of them makes it, the other finds it", async () => {
  const { server } = await serveLongTalks();
  const fork = () => server.post("/api/conversations/long-talk/fork", { conversationId: "long-fork" }, eve);
  const statuses = (await Promise.all([fork(), fork()])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 409]);
  const whole = { conversationId: "long-fork", userId: "eve", after: 0, limit: 10 };
  expect(await server.andante.store.conversations.messages(whole)).toHaveLength(5);
});

test("a fork whose client has gone ends between two pages, and can be made again", async () => {
  const { server, pages, afterPages } = await serveLongTalks();
  const { conversations } = server.andante;
  const gone = new AbortController();
  afterPages(async () => gone.abort(new Error("gone")));
  const fork = { userId: "eve", forkId: "long-fork" };
  await expect(conversations.fork("long-talk", { ...fork, signal: gone.signal })).rejects.toThrow("gone");
  expect(pages).toHaveLength(1);
  afterPages(async () => undefined);
  await expect(conversations.fork("long-talk", fork)).resolves.toMatchObject({ conversationId: "long-fork" });
  expect(pages).toHaveLength(5);
});

const large = createWorkflow({ id: "large", input: z.object({}) })
  .andThen({ id: "make", execute: () => "x".repeat(1_000_000) })
  .andThen({ id: "end", execute: () => "done" });

test("replays at once read one journal at a time, and all of them are made", async () => {
  const store = temporaryFile().open();
  let [reading, most] = [0, 0];
  const events = store.events.bind(store);
  store.events = async (...given) => {
    reading += 1;
    most = Math.max(most, reading);
    // The reads of replays that are not held back overlap here.
    await new Promise((resolve) => setImmediate(resolve));
    const read = await events(...given);
    reading -= 1;
    return read;
  };
  const server = await serveForTest({ workflows: { large }, store, auth: provider() });
  const started = await server.post("/workflows/large/execute", { input: {} }, eve);
  const source = textOf(dataOf(started), "executionId");
  most = 0;
  const replays = await Promise.all(
    Array.from({ length: 40 }, () =>
      server.post(`/workflows/large/executions/${source}/replay`, { stepId: "end" }, eve),
    ),
  );
  expect(new Set(replays.map(({ status }) => status))).toEqual(new Set([200]));
  expect(most).toBe(1);
});
