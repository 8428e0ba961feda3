// Schedules on several processes, while code changes, after kills, and in an application without any.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import { type Andante, createAndante, createWorkflow, memoryStore } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { crashingStore } from "../../src/test-kit/crashing-store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { plainStore } from "../store/plain-store.ts";
import { sharedStore } from "../support/shared-store.ts";

const start = Date.parse("2027-03-01T12:00:00Z");

const opened: Pick<Andante, "close">[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close({ grace: 0 });
});

const until = (isSo: () => Promise<boolean>) => expect.poll(isSo, { timeout: 60_000 }).toBe(true);

interface Host {
  readonly store: Store;
  readonly clock?: TestClock;
  readonly schedules?: Readonly<Record<string, { cron?: string; every?: "1s" }>>;
}

function host({ store, schedules, clock = new TestClock({ start, skipSleeps: false }) }: Host) {
  const given = Object.entries(schedules ?? {}).map(([name, options]) => [name, { ...options, input: {} }]);
  const workflow = createWorkflow({
    id: "tick",
    input: z.object({}),
    ...(schedules && { schedules: Object.fromEntries(given) }),
  }).andThen({ id: "run", execute: () => "done" });
  const andante = createAndante({ workflows: { workflow }, store, clock });
  opened.push(andante);
  return andante;
}

/** The same store without its open and close, which it has once. */
async function opening(store: Store): Promise<Store> {
  await store.open();
  opened.push({ close: () => store.close() });
  const nothing = async () => undefined;
  return { ...store, open: nothing, close: nothing };
}

describe("three nodes", () => {
  test("each nominal time of each schedule has one execution", { timeout: 120_000 }, async () => {
    const join = sharedStore(await opening(memoryStore()));
    const clock = new TestClock({ start, skipSleeps: false });
    const names = Array.from({ length: 10 }, (_, index) => `every-${index}`);
    const schedules = Object.fromEntries(names.map((name) => [name, { every: "1s" as const }]));
    const nodes = [0, 1, 2].map(() => host({ store: join(), clock, schedules }));
    for (const node of nodes) await node.ready();
    const seconds = 8;
    for (let second = 1; second <= seconds; second++) {
      clock.advance("1s");
      for (const node of nodes) await node.settled();
    }
    const [node] = nodes;
    for (const name of names) {
      const id = `tick:${name}`;
      await until(async () => (await node?.schedules.get(id))?.started === seconds);
      const occurrences = (await node?.schedules.occurrences(id)) ?? [];
      const times = occurrences
        .filter(({ outcome }) => outcome === "started")
        .map(({ at }) => Date.parse(at));
      expect(times).toEqual(Array.from({ length: seconds }, (_, index) => start + (seconds - index) * 1000));
    }
    const page = await node?.list({ workflowId: "tick", limit: 500 });
    expect(page?.executions).toHaveLength(seconds * names.length);
    expect(await node?.schedules.get("tick:every-0")).toMatchObject({ revision: 1 });
  });

  test("the code that was first started last counts, until its last process is gone", {
    timeout: 120_000,
  }, async () => {
    const join = sharedStore(await opening(memoryStore()), { lease: 3000 });
    const before = { daily: { cron: "0 2 * * *" } };
    const after = { daily: { cron: "0 3 * * *" } };
    const cronOf = async (node: Andante) => (await node.schedules.get("tick:daily")).cron;
    const clock = new TestClock({ start, skipSleeps: false });
    const old = host({ store: join(), schedules: before, clock });
    await old.ready();
    clock.advance("1m");
    const fresh = host({ store: join(), schedules: after, clock });
    await fresh.ready();
    expect(await cronOf(old)).toBe("0 3 * * *");
    await old.close({ grace: 0 });
    clock.advance("1m");
    const again = host({ store: join(), schedules: before, clock });
    await again.ready();
    expect(await cronOf(again)).toBe("0 3 * * *");
    clock.advanceTo(Date.parse("2027-03-02T02:30:00Z"));
    await again.settled();
    await fresh.settled();
    expect(await again.schedules.occurrences("tick:daily")).toEqual([]);
    clock.advanceTo(Date.parse("2027-03-02T03:00:00Z"));
    await until(async () => (await again.schedules.get("tick:daily")).started === 1);
    await fresh.close({ grace: 0 });
    await until(async () => (await cronOf(again)) === "0 2 * * *");
    clock.advanceTo(Date.parse("2027-03-03T02:00:00Z"));
    await until(async () => (await again.schedules.get("tick:daily")).started === 2);
    expect((await again.schedules.get("tick:daily")).lastAt).toBe("2027-03-03T02:00:00.000Z");
  });
});

describe("a process that is killed while it fires", () => {
  test.each([
    ["before its write", false],
    ["after its write", true],
  ])("%s: the next one has one execution", async (_, isWritten) => {
    const join = sharedStore(await opening(plainStore()), { lease: 2000 });
    const store = join();
    const clock = new TestClock({ start, skipSleeps: false });
    let kills = 0;
    const dying: Store = {
      ...store,
      schedules: {
        ...store.schedules,
        change: async (change) => {
          if (change.create === undefined) return store.schedules.change(change);
          kills += 1;
          if (isWritten && kills === 1) await store.schedules.change(change);
          throw new StoreUnavailableError({ cause: new Error("killed") });
        },
      },
    };
    const schedules = { daily: { cron: "0 9 * * *" } };
    const first = host({ store: dying, schedules, clock });
    await first.ready();
    clock.advance("1d");
    await until(async () => kills > 0);
    await first.close({ grace: 0 });
    const second = host({ store: join(), schedules, clock });
    await second.ready();
    const executionId = "tick:daily@20270302T090000Z";
    await until(async () => (await second.idsOf(executionId)) !== undefined);
    await until(async () => (await second.find(executionId)).status === "completed");
    expect((await second.list({ workflowId: "tick" })).executions).toHaveLength(1);
    expect(await second.schedules.get("tick:daily")).toMatchObject({ started: 1, missed: 0, waiting: 0 });
    clock.advance("1d");
    await until(async () => (await second.schedules.get("tick:daily")).started === 2);
  });
});

describe.each([
  ["lost", "SQLite", memoryStore],
  ["unacknowledged", "SQLite", memoryStore],
  ["lost", "maps", plainStore],
  ["unacknowledged", "maps", plainStore],
] as const)("a crash at each write, which is %s, on %s", (variant, _, makeStore) => {
  test("leaves one execution for each occurrence", { timeout: 120_000 }, async () => {
    const schedules = { daily: { cron: "0 9 * * *" } };
    for (let write = 1, isOver = false; !isOver; write++) {
      const store = await opening(makeStore());
      const clock = new TestClock({ start, skipSleeps: false });
      const life = crashingStore(store, { write, variant });
      const first = host({ store: life.store, schedules, clock });
      await Promise.race([first.ready().catch(() => undefined), life.crash]);
      clock.advance("1d");
      await Promise.race([first.settled().catch(() => undefined), life.crash]);
      isOver = !life.crashed;
      await first.close({ grace: 0 });
      await life.bury();
      const second = host({ store, schedules, clock });
      await second.ready();
      const executionId = "tick:daily@20270302T090000Z";
      const ended = async () => (await second.list({ workflowId: "tick" })).executions;
      clock.advance("1h");
      await second.settled();
      const { started, missed } = await second.schedules.get("tick:daily");
      // A schedule that was not kept before the crash begins with the second process.
      const expected = started === 0 ? [] : [{ executionId, status: "completed" }];
      await expect.poll(ended, { timeout: 30_000 }).toMatchObject(expected);
      expect((await ended()).length).toBe(started);
      expect([missed, started === 1 || write <= 2], `write ${write}`).toEqual([0, true]);
      await second.close({ grace: 0 });
    }
  });
});

test("an application without schedules reads twice at its start, and then nothing of them", async () => {
  const store = await opening(plainStore());
  const calls: string[] = [];
  const counted: Store = {
    ...store,
    schedules: {
      change: (change) => {
        calls.push("change");
        return store.schedules.change(change);
      },
      read: (id) => {
        calls.push("read");
        return store.schedules.read(id);
      },
      list: (query) => {
        calls.push("list");
        return store.schedules.list(query);
      },
    },
  };
  const andante = host({ store: counted });
  await andante.ready();
  expect(await andante.execute("tick", {})).toMatchObject({ status: "completed" });
  await andante.settled();
  expect(calls).toEqual(["list", "list"]);
});
