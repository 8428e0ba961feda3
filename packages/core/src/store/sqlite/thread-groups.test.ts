// Calls of a database thread without a thread: when they are sent, answered, repeated and refused.
import { expect, onTestFinished, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { ThreadClient } from "./thread-client.ts";
import { ThreadLife } from "./thread-life.ts";
import type { CallResult, ThreadStart } from "./thread-messages.ts";

interface FakeLife {
  readonly start: ThreadStart;
  /** The messages that were sent: the ids of a group of calls, or "close". */
  readonly posted: unknown[];
  readonly alive: boolean[];
  receive(groupsReceived: number, ...results: CallResult[]): void;
  end(reason: string): void;
}

/** Threads that do nothing by themselves. */
function fakeThreads() {
  const lives: FakeLife[] = [];
  let problem: string | undefined;
  const terminate = vi.fn(async () => undefined);
  const starts = vi.spyOn(ThreadLife, "start").mockImplementation(async (start, received, ended) => {
    if (problem !== undefined) throw new Error(problem);
    const posted: unknown[] = [];
    const alive: boolean[] = [];
    lives.push({
      ...{ start, posted, alive },
      receive: (groupsReceived, ...results) => received({ groupsReceived, results }),
      end: (reason) => ended(new Error(reason)),
    });
    const life: ThreadLife = Object.assign(Object.create(ThreadLife.prototype), {
      ...{ terminate, keepAlive: (isAlive: boolean) => alive.push(isAlive) },
      post: (message: string) => {
        const calls: unknown = JSON.parse(message);
        posted.push(Array.isArray(calls) ? calls.map((call) => call[0]) : calls);
      },
    });
    return life;
  });
  onTestFinished(() => starts.mockRestore());
  const lost: string[] = [];
  const options = { path: "file.db", maxBytes: null, lost: (reason: Error) => lost.push(reason.message) };
  const last = () => lives.at(-1) ?? expect.fail("no thread was started");
  return {
    ...{ lives, lost, starts, terminate, last },
    fail: (reason: string | undefined) => {
      problem = reason;
    },
    open: (role: ThreadStart["role"] = "read") => ThreadClient.open({ ...options, role }),
    onDemand: () => ThreadClient.onDemand({ ...options, role: "read" }),
  };
}

/** The calls of a number of reads, whose rejections the test may look at later. */
function read(client: ThreadClient, count: number) {
  return Array.from({ length: count }, () => {
    const call = client.call("state", "e");
    call.catch(() => undefined);
    return call;
  });
}

const range = (first: number, final: number) =>
  Array.from({ length: final - first + 1 }, (_, index) => first + index);
const turn = () => new Promise(setImmediate);
const refusal = (call: Promise<unknown> | undefined) =>
  inTime(Promise.resolve(call), "a refusal").then(
    () => "served",
    (error: Error) => [error.name, error.cause instanceof Error ? error.cause.message : undefined],
  );

test("the calls of one turn of the loop are one message; eight do not wait for its end", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  read(client, 7);
  expect(last().posted).toEqual([]);
  await turn();
  expect(last().posted).toEqual([range(1, 7)]);
  last().receive(1, ...range(1, 7));
  read(client, 8);
  expect(last().posted.slice(1)).toEqual([range(8, 15)]);
});

test("two messages are under way at most; later calls wait until one has arrived", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  read(client, 27);
  await turn();
  expect(last().posted).toEqual([range(1, 8), range(9, 16)]);
  last().receive(1, ...range(1, 8));
  await turn();
  // One is still under way: the next is sent when it has arrived, or is full.
  expect(last().posted).toHaveLength(2);
  last().receive(1);
  await turn();
  expect(last().posted.slice(2)).toEqual([range(17, 27)]);
});

test("beside a message under way the next gathers half of the calls that lately waited at once", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  read(client, 40);
  last().receive(2, ...range(1, 16));
  await turn();
  expect(last().posted.slice(2)).toEqual([range(17, 40)]);
  read(client, 19);
  await turn();
  expect(last().posted).toHaveLength(3);
  read(client, 1);
  expect(last().posted.slice(3)).toEqual([range(41, 60)]);
});

test("each call gets its own result or failure", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  const [nothing, value, refused, unavailable, damaged] = read(client, 5);
  await turn();
  last().receive(
    1,
    ...[99, 1, { id: 2, value: { rows: 1 } }, { id: 98, value: 1 }],
    { id: 3, failure: { kind: "refused", message: "too long" } },
    { id: 4, failure: { kind: "unavailable", message: "disk full" } },
    { id: 5, failure: { kind: "damaged", sequence: 7, problem: "it is missing" } },
  );
  expect([await nothing, await value]).toEqual([undefined, { rows: 1 }]);
  expect(await Promise.all([refused, unavailable, damaged].map(refusal))).toEqual([
    ["StoreRefusedError", "too long"],
    ["StoreUnavailableError", "disk full"],
    ["JournalDamagedError", undefined],
  ]);
});

test("a call that cannot be sent is refused alone, and is not waited for", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  const bad = refusal(client.call("state", Object({ big: 1n })));
  await turn();
  expect(await bad).toEqual(["StoreRefusedError", expect.stringContaining("BigInt")]);
  expect(last().posted).toEqual([]);
  const [good] = read(client, 1);
  await turn();
  expect(last().posted).toEqual([[2]]);
  last().receive(1, 2);
  expect(await good).toBeUndefined();
});

test("the thread keeps the process alive while a call waits", async () => {
  const { open, last } = fakeThreads();
  const client = await open();
  expect(last().alive).toEqual([false]);
  read(client, 2);
  expect(last().alive).toEqual([false, true]);
  await turn();
  last().receive(1, 1);
  expect(last().alive).toEqual([false, true]);
  last().receive(0, 2);
  expect(last().alive).toEqual([false, true, false]);
});

test("with five thousand calls waiting, reads for callers are refused, those of the engine are not", async () => {
  const { open } = fakeThreads();
  const client = await open();
  const accepted = read(client, 5000);
  expect(await refusal(client.call("state", "e"))).toEqual(["StoreBusyError", undefined]);
  const engine = client.call("heads", []);
  engine.catch(() => undefined);
  const isPending = await Promise.race([engine, accepted[4999], turn().then(() => "pending")]);
  expect(isPending).toBe("pending");
});

test("it closes after the last call was sent, and refuses later ones", async () => {
  const { open, last, terminate } = fakeThreads();
  const client = await open();
  read(client, 20);
  const closing = client.close();
  expect(last().posted).toEqual([range(1, 8), range(9, 16)]);
  expect(await refusal(client.call("state", "e"))).toEqual(["StoreUnavailableError", "the store is closed"]);
  last().receive(2, ...range(1, 16));
  expect(last().posted.slice(2)).toEqual([range(17, 20), "close"]);
  last().receive(1, ...range(17, 20));
  // It waits for the thread itself.
  expect(last().alive.at(-1)).toBe(true);
  last().end("exit");
  await inTime(closing, "the end");
  await inTime(client.close(), "the same end");
  expect(last().posted).toHaveLength(4);
  expect(terminate).not.toHaveBeenCalled();
});

test("a thread that does not close within five seconds is terminated", async () => {
  const { open, terminate, lost } = fakeThreads();
  const client = await open();
  const [waiting] = read(client, 1);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closing = client.close();
  await vi.advanceTimersByTimeAsync(4999);
  expect(terminate).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  await inTime(closing, "the end");
  expect(terminate).toHaveBeenCalledTimes(1);
  expect(await refusal(waiting)).toEqual([
    ...["StoreUnavailableError", "the database thread did not close in time"],
  ]);
  expect(lost).toEqual([]);
});

test("the calls of a thread that died are sent again first, after a restart", async () => {
  const { open, lives, last, lost } = fakeThreads();
  const client = await open();
  read(client, 17);
  await turn();
  expect(client.restarts).toEqual({ count: 0, reason: "" });
  const [first] = lives;
  first?.end("killed");
  await expect.poll(() => lives).toHaveLength(2);
  await expect.poll(() => last().posted).toEqual([range(1, 17)]);
  expect(last().alive).toEqual([true]);
  expect(client.restarts).toEqual({ count: 1, reason: "killed" });
  last().receive(1, ...range(1, 17));
  read(client, 1);
  await turn();
  expect([last().posted[1], lost]).toEqual([[18], []]);
});

test("a write that may not be repeated ends a client whose thread died, unless it was not sent yet", async () => {
  const { open, lives, last, lost } = fakeThreads();
  const unsent = await open("write");
  unsent.call("approvalSecret", "s").catch(() => undefined);
  last().end("killed");
  await expect.poll(() => lives[1]?.posted).toEqual([[1]]);
  expect(lost).toEqual([]);
  const sent = await open("write");
  const call = refusal(sent.call("approvalSecret", "s"));
  const [beside] = read(sent, 1);
  await turn();
  last().end("killed");
  expect(await call).toEqual(["StoreUnavailableError", "killed"]);
  expect(await refusal(beside)).toEqual(["StoreUnavailableError", "killed"]);
  expect(lost).toEqual(["killed"]);
  expect(await refusal(sent.call("state", "e"))).toEqual(["StoreUnavailableError", "killed"]);
  await inTime(sent.close(), "the end");
});

test("a database in memory is lost with its thread", async () => {
  const { open, last, lost, starts } = fakeThreads();
  await open("both");
  last().end("killed");
  expect([lost, starts.mock.calls.length]).toEqual([["killed"], 1]);
});

test("a read that was sent to two threads that died is refused", async () => {
  const { open, lives, last } = fakeThreads();
  const client = await open();
  const [call] = read(client, 1);
  await turn();
  last().end("killed");
  await expect.poll(() => lives[1]?.posted).toEqual([[1]]);
  last().end("killed again");
  expect(await refusal(call)).toEqual(["StoreUnavailableError", "killed again"]);
  await expect.poll(() => lives).toHaveLength(3);
  read(client, 1);
  await expect.poll(() => last().posted).toEqual([[2]]);
});

test("a restart is tried four times, with longer and longer pauses", async () => {
  const { open, last, lost, starts, fail } = fakeThreads();
  const client = await open();
  const [call] = read(client, 1);
  fail("it is taken");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  last().end("killed");
  const tries = async (milliseconds: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds);
    return starts.mock.calls.length - 1;
  };
  expect([await tries(0), await tries(99), await tries(1)]).toEqual([1, 1, 2]);
  expect([await tries(499), await tries(1)]).toEqual([2, 3]);
  expect([await tries(1999), lost.length, await tries(1), lost.length]).toEqual([3, 0, 4, 1]);
  vi.useRealTimers();
  expect(await refusal(call)).toEqual(["StoreUnavailableError", "it is taken"]);
  expect([lost, client.restarts]).toEqual([["it is taken"], { count: 0, reason: "killed" }]);
});

test("a client that closes before the restart is not started again", async () => {
  const { open, last, starts, lost } = fakeThreads();
  const client = await open();
  const [call] = read(client, 1);
  last().end("killed");
  const closing = client.close();
  expect(await refusal(call)).toEqual(["StoreUnavailableError", "killed"]);
  await inTime(closing, "the end");
  expect([starts.mock.calls.length, lost]).toEqual([1, []]);
});

test("a thread on demand is started by its first call; while it cannot be, each call tries again", async () => {
  const { onDemand, last, lives, fail, starts, lost } = fakeThreads();
  const client = onDemand();
  expect([client.isStarted, starts.mock.calls.length]).toEqual([false, 0]);
  fail("no such file");
  const [first, second] = read(client, 2);
  expect(client.isStarted).toBe(true);
  expect(await refusal(first)).toEqual(["StoreUnavailableError", "no such file"]);
  expect(await refusal(second)).toEqual(["StoreUnavailableError", "no such file"]);
  expect([client.isStarted, starts.mock.calls.length]).toEqual([false, 1]);
  fail(undefined);
  const [third] = read(client, 1);
  await expect.poll(() => lives[0]?.posted).toEqual([[3]]);
  expect(last().start).toEqual({ path: "file.db", maxBytes: null, role: "read" });
  last().receive(1, { id: 3, value: 5 });
  expect([await third, lost]).toEqual([5, []]);
});

test("a thread on demand that was never called closes at once", async () => {
  const { onDemand, starts } = fakeThreads();
  const client = onDemand();
  await inTime(client.close(), "the end");
  expect(await refusal(client.call("state", "e"))).toEqual(["StoreUnavailableError", "the store is closed"]);
  expect(starts).not.toHaveBeenCalled();
});

test("a thread that ends while it is opened does not open", async () => {
  const { open, starts } = fakeThreads();
  const fake = starts.getMockImplementation();
  starts.mockImplementation(async (start, received, ended) => {
    const life = await fake?.(start, received, ended);
    ended(new Error("killed"));
    return life ?? expect.fail("a life");
  });
  await expect(open()).rejects.toThrow("killed");
});
