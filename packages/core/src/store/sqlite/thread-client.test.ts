// A database thread that is being closed or that dies: later calls are served or refused with the reason.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { execution } from "../../store-cases/store-cases.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { ThreadClient } from "./thread-client.ts";
import { ThreadLife } from "./thread-life.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

const lost = (reason: Error): void => {
  throw reason;
};
const closed = { code: "store-unavailable", cause: { message: "the store is closed" } };

test("a call that comes while it closes is refused; those before it are served", async () => {
  const client = await ThreadClient.open({ path: ":memory:", maxBytes: null, role: "both", lost });
  const before = client.call("outline", "d");
  const closing = client.close();
  await expect(inTime(client.call("outline", "d"), "a refusal")).rejects.toMatchObject(closed);
  expect(await inTime(before, "a reply")).toBeUndefined();
  await inTime(closing, "the end");
});

const missing = () =>
  ThreadClient.onDemand({ path: path.join(folder, "missing.db"), maxBytes: null, role: "read", lost });

test("one that was never called is closed at once, and refuses later calls", async () => {
  const client = missing();
  await inTime(client.close(), "the end");
  await expect(inTime(client.call("state", "e"), "a refusal")).rejects.toMatchObject(closed);
});

test("one that cannot be started refuses the call, and does not keep its end waiting", async () => {
  const client = missing();
  const refused = expect(inTime(client.call("state", "e"), "a refusal")).rejects.toMatchObject({
    code: "store-unavailable",
  });
  // Far less than a thread has that does not hear that it is to close.
  const { timedOut } = await withTimeout(client.close(), 3000);
  expect(timedOut).toBe(false);
  await refused;
});

/** Threads that are started from now on and do not receive messages, until the test lets them. */
function deafThreads() {
  const start = ThreadLife.start;
  const threads = {
    deaf: true,
    /** Resolves with the thread that is sent something next. */
    sent: Promise.withResolvers<ThreadLife>(),
  };
  const starts = vi.spyOn(ThreadLife, "start").mockImplementation(async (...given) => {
    const life = await start(...given);
    const post = life.post.bind(life);
    life.post = (message) => {
      if (!threads.deaf) return post(message);
      threads.sent.resolve(life);
      threads.sent = Promise.withResolvers();
    };
    return life;
  });
  onTestFinished(() => starts.mockRestore());
  return threads;
}

const file = { path: path.join(folder, "deaf.db"), maxBytes: null };
// A reader needs an existing file, and can be started again while the one before it still has it open.
beforeAll(async () => (await ThreadClient.open({ ...file, role: "write", lost })).close());
const reader = (whenLost = lost) => ThreadClient.open({ ...file, role: "read", lost: whenLost });

test("a read that was there twice when the thread died is refused; the next one is served", async () => {
  const threads = deafThreads();
  const client = await reader();
  onTestFinished(() => client.close());
  const first = threads.sent.promise;
  const read = inTime(client.call("state", "e"), "a reply");
  const refused = expect(read).rejects.toMatchObject({ code: "store-unavailable" });
  const life = await inTime(first, "the call");
  const second = threads.sent.promise;
  await life.terminate();
  const again = await inTime(second, "the call, once more");
  threads.deaf = false;
  await again.terminate();
  await refused;
  expect(await inTime(client.call("state", "e"), "a reply")).toBeUndefined();
  expect(client.restarts.count).toBe(2);
});

test("one that cannot be started again is given up, and waiting calls get the reason", async () => {
  const threads = deafThreads();
  const gone = Promise.withResolvers<Error>();
  const client = await reader(gone.resolve);
  const sent = threads.sent.promise;
  const read = client.call("state", "e");
  const refused = expect(inTime(read, "a refusal")).rejects.toMatchObject({
    cause: { message: "it is taken" },
  });
  const life = await inTime(sent, "the call");
  const starts = vi.mocked(ThreadLife.start).mockRejectedValue(new Error("it is taken"));
  starts.mockClear();
  // Between two tries there is more and more time.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await life.terminate();
  await life.ended;
  await vi.advanceTimersByTimeAsync(5000);
  await refused;
  expect((await inTime(gone.promise, "the end")).message).toBe("it is taken");
  expect(starts).toHaveBeenCalledTimes(4);
});

test("after the writer was started again, the executions of its process are not abandoned", async () => {
  const threads = deafThreads();
  threads.deaf = false;
  const client = await ThreadClient.open({ ...file, role: "write", lost });
  onTestFinished(() => client.close());
  await client.call("heartbeat", { owner: "here", lease: 60_000 });
  await client.call("create", execution());
  const query = { owner: "here", key: "key", workflowIds: ["publish"], limit: 1 };
  const claim = { ...query, suspects: false, suspectAfter: 2 };
  threads.deaf = true;
  const sent = threads.sent.promise;
  const claimed = inTime(client.call("claimAbandoned", claim), "a reply");
  const life = await inTime(sent, "the call");
  threads.deaf = false;
  await life.terminate();
  expect(await claimed).toEqual([]);
  expect(client.restarts.count).toBe(1);
});
