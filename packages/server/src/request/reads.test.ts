// Reads: a few run at once, clients take turns, and reads of disconnected clients never start.
import { expect, test } from "vitest";
import { Reads } from "./reads.ts";

/** Named reads that the test ends. */
function setUp(options: { limit?: number; share?: number; atOnce?: number } = {}) {
  const reads = new Reads({ limit: 100, share: 0.1, atOnce: 2, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (client: string, name: string, signal = new AbortController().signal) =>
    reads.run(client, signal, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { reads, begun, ask, end };
}

test("so many run at once, and clients take turns", async () => {
  const { begun, ask, end } = setUp();
  const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => ask(name.charAt(0), name));
  expect(begun).toEqual(["a1", "a2"]);
  for (const name of ["a1", "a2", "a3", "b1", "c1", "a4", "b2"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "b2"]);
  expect(await Promise.all(all)).toHaveLength(7);
});

test("a read that fails passes its turn on, with its own error", async () => {
  const { reads, begun, ask, end } = setUp({ atOnce: 1 });
  const failing = reads.run("a", new AbortController().signal, () => Promise.reject(new Error("no")));
  const next = ask("b", "b1");
  await expect(failing).rejects.toThrow("no");
  expect(begun).toEqual(["b1"]);
  await end("b1");
  await expect(next).resolves.toBe("b1");
});

test("a read whose client is gone before its turn is not begun", async () => {
  const { begun, ask, end } = setUp({ atOnce: 1 });
  const gone = new AbortController();
  const first = ask("a", "a1");
  const [second, third] = [ask("a", "a2", gone.signal), ask("a", "a3")];
  gone.abort("closed");
  await expect(second).rejects.toMatchObject({ code: "client-gone", status: 499 });
  await expect(ask("a", "a4", gone.signal)).rejects.toMatchObject({ code: "client-gone" });
  await end("a1");
  await end("a3");
  await Promise.all([first, third]);
  expect(begun).toEqual(["a1", "a3"]);
});

test("an error of a read after its client has gone is not an error of the server", async () => {
  const { reads } = setUp();
  const gone = new AbortController();
  const read = reads.run("a", gone.signal, async () => {
    gone.abort("closed");
    gone.signal.throwIfAborted();
  });
  await expect(read).rejects.toMatchObject({ code: "client-gone" });
});

test("beyond the limit a client below its share takes the place of one that waits, never of one that runs", async () => {
  const { begun, ask, end } = setUp({ limit: 4, share: 0.25 });
  const greedy = ["a1", "a2", "a3", "a4"].map((name) => ask("a", name));
  const outcomes = Promise.allSettled(greedy);
  await expect(ask("a", "a5")).rejects.toMatchObject({ code: "read-limit", status: 503, retryAfter: 1 });
  const modest = ask("b", "b1");
  for (const name of ["a1", "a2", "a3", "b1"]) await end(name);
  await expect(modest).resolves.toBe("b1");
  expect((await outcomes).map(({ status }) => status)).toEqual([...Array(3).fill("fulfilled"), "rejected"]);
  expect(begun).toEqual(["a1", "a2", "a3", "b1"]);
});

test("a client that goes just as its turn comes takes no other read with it", async () => {
  const { reads, begun, ask, end } = setUp({ atOnce: 1 });
  const gone = new AbortController();
  const others: Promise<string>[] = [];
  // It fails synchronously, so that the turn passes before anything else happens.
  const failing = reads.run("a", new AbortController().signal, () => {
    others.push(ask("a", "a2", gone.signal), ask("a", "a3"));
    throw new Error("no");
  });
  gone.abort("closed");
  await expect(failing).rejects.toThrow("no");
  await end("a2");
  await end("a3");
  expect(begun).toEqual(["a2", "a3"]);
  expect(await Promise.all(others)).toEqual(["a2", "a3"]);
});
