// Forks and replays copy stored data: many at once take turns, hold up nobody else and are bounded for each user.
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const eve = bearer(await tokenFor("eve"));
const ada = bearer(await tokenFor("ada"));

/** A fork that begins when the test opens the door. */
async function serveSlowForks() {
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
  const server = await serveForTest({ store, auth: provider() });
  for (const [user, id] of [
    ["eve", "talk-of-eve"],
    ["ada", "talk-of-ada"],
  ] as const)
    await server.andante.agents.text("echo", "hello", { conversationId: id, userId: user });
  return { server, doors, counts };
}

test("forks of one user beyond the bound are 429 with retry-after; those up to it, and another user's, are made", async () => {
  const { server, doors, counts } = await serveSlowForks();
  const fork = (user: Record<string, string>, id: string) =>
    server.post(`/api/conversations/${id}/fork`, {}, user);
  const sent = Array.from({ length: 60 }, () => fork(eve, "talk-of-eve"));
  const refused: Awaited<(typeof sent)[number]>[] = [];
  const made: Awaited<(typeof sent)[number]>[] = [];
  // One is made and fifty wait: the other nine come back at once.
  await new Promise<void>((resolve) => {
    for (const each of sent)
      void each.then((answer) => {
        if (answer.status === 200) return made.push(answer);
        return refused.push(answer) === 9 ? resolve() : undefined;
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
  expect([made.length, refused.length, counts.most]).toEqual([51, 9, 1]);
});

const large = createWorkflow({ id: "large", input: z.object({}) })
  .andThen({ id: "make", execute: () => "x".repeat(1_000_000) })
  .andThen({ id: "end", execute: () => "done" });

test("replays at once read two journals at a time, and all of them are made", async () => {
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
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});
