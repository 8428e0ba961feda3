// Promises of the Restate store beyond the cases of every store: leases, repeats, failures of the server, opening.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Commit, NewExecution, NewStoredEvent, Store } from "@andante/core/store";
import { type RestateStoreOptions, restateStore } from "@andante/restate";
import { afterAll, afterEach, expect, onTestFinished, test, vi } from "vitest";
import { freePorts } from "../../../examples/cluster/src/free-ports.ts";
import { startProxy } from "./endpoint-proxy.ts";
import { isLong, startRestate } from "./restate-server.ts";

const server = await startRestate();
afterAll(() => server.remove());

const open: Store[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

function optionsOf(fields: Partial<RestateStoreOptions> = {}): RestateStoreOptions {
  // Restate calls the first store that is open.
  const port = open.length > 0 ? 0 : server.endpointPort;
  return { ...server.options(randomUUID(), port), shards: 2, ...fields };
}

function firstEndpoint() {
  return { port: server.endpointPort, url: `http://127.0.0.1:${server.endpointPort}` };
}

async function opened(fields: Partial<RestateStoreOptions> = {}): Promise<Store> {
  const store = restateStore(optionsOf(fields));
  await store.open();
  open.push(store);
  return store;
}

function event(type: string, fields: Partial<NewStoredEvent> = {}): NewStoredEvent {
  const none = { path: null, stepIndex: null, stepType: null, value: null, detail: null };
  return { ...none, timestamp: 1_000, type, ...fields };
}

function execution(fields: Partial<NewExecution> = {}): NewExecution {
  return {
    executionId: randomUUID(),
    workflowId: "publish",
    input: "1",
    context: "{}",
    userId: null,
    conversationId: null,
    startAt: 1_000,
    timeoutAt: null,
    claim: { owner: "here", token: "token" },
    events: [event("workflow-start")],
    ...fields,
  };
}

function commitOf(executionId: string, number: number, fields: Partial<Commit> = {}): Commit {
  const nothing = { open: [], following: [], closeBelow: [], timers: [], clear: [], end: null, idle: null };
  const rest = { usage: null, stepIndex: 0, progress: false, events: [event("step-complete")] };
  return { executionId, token: "token", number, ...nothing, ...rest, ...fields };
}

const search = (owner: string) => ({
  owner,
  key: randomUUID(),
  workflowIds: ["publish"],
  suspects: false,
  suspectAfter: 9,
  limit: 10,
});

test("three nodes that open at once register one deployment", async () => {
  const namespace = randomUUID();
  const stores = [firstEndpoint(), { ...firstEndpoint(), port: 0 }, { ...firstEndpoint(), port: 0 }].map(
    (endpoint) => restateStore(optionsOf({ namespace, endpoint })),
  );
  open.push(...stores);
  await Promise.all(stores.map((store) => store.open()));
  const response = await fetch(`${server.adminUrl}/deployments`, { headers: { accept: "application/json" } });
  const { deployments }: { deployments: unknown[] } = JSON.parse(await response.text());
  expect(deployments).toHaveLength(1);
});

test("a store opens and writes where the first of its addresses is dead", async () => {
  const [dead] = await freePorts(1);
  const store = await opened({ ingressUrl: [`http://127.0.0.1:${dead}`, server.ingressUrl] });
  const made = execution();
  expect(await store.create(made)).toMatchObject({ created: true });
  expect((await store.state(made.executionId))?.execution).toMatchObject({ workflowId: "publish" });
});

test("a lease ends by Restate's clock, and the others are asked to look for work", async () => {
  const store = await opened();
  let offers = 0;
  store.clusterChannel?.listen({
    wrote: () => undefined,
    offered: () => {
      offers += 1;
    },
    stop: () => undefined,
  });
  // Long enough for the two calls while it lasts.
  await store.heartbeat({ owner: "here", lease: 3_000 });
  const made = execution();
  await store.create(made);
  expect(await store.claimAbandoned(search("there"))).toEqual([]);
  await expect.poll(() => offers).toBeGreaterThan(0);
  const [claimed] = await store.claimAbandoned(search("there"));
  expect(claimed?.row).toMatchObject({ executionId: made.executionId, recoveries: 1 });
  expect(await store.commit(commitOf(made.executionId, 1))).toMatchObject({ kind: "fenced" });
});

test("a heartbeat that comes again after its time does not begin the lease again", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace });
  const calls = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => calls.mockRestore());
  await store.heartbeat({ owner: "here", lease: 300 });
  const [url = "", request] = calls.mock.calls.find(([path]) => String(path).endsWith("/beat")) ?? [];
  const made = execution();
  await store.create(made);
  const claim = async () => (await store.claimAbandoned(search("there"))).map(({ row }) => row.executionId);
  const isOver = async () => {
    const [lease] = await server.rowsOf(`select value_utf8 from state
      where service_name = 'AndanteNode1' and service_key = '${namespace}.here'`);
    return JSON.parse(String(lease?.value_utf8));
  };
  await expect.poll(isOver).toMatchObject({ count: 2 });
  // Restate keeps no results, so it performs a call again whose response was lost.
  expect((await fetch(url, request)).ok).toBe(true);
  expect(await claim()).toEqual([made.executionId]);
});

test("while there is no news, looks for work and repeated heartbeats are no calls", async () => {
  const store = await opened({ shards: 1 });
  const calls = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => calls.mockRestore());
  const count = (end: string) => calls.mock.calls.filter(([path]) => String(path).endsWith(end)).length;
  for (let beat = 0; beat < 3; beat++) await store.heartbeat({ owner: "here", lease: 60_000 });
  expect(count("/beat")).toBeLessThan(3);
  for (const suspects of [false, true, false])
    expect(await store.claimAbandoned({ ...search("here"), suspects })).toEqual([]);
  expect(count("/read")).toBeLessThan(3);
  await store.create(execution({ claim: { owner: "gone", token: "token" } }));
  expect(await store.claimAbandoned(search("here"))).toHaveLength(1);
});

test("a lease that ends while every node is down has ended when one is back, however long that takes", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace });
  await store.heartbeat({ owner: "here", lease: 2_000 });
  const made = execution();
  await store.create(made);
  await store.close();
  const attempts = async () => {
    const [call] = await server.rowsOf(`select retry_count from sys_invocation
      where target_service_name = 'AndanteNode1' and target_service_key = '${namespace}.here'`);
    return Number(call?.retry_count ?? 0);
  };
  // A call of a shard is given up after 20.
  await expect.poll(attempts, { timeout: 100_000, interval: 500 }).toBeGreaterThan(22);
  const later = await opened({ namespace, endpoint: firstEndpoint() });
  const claim = async () => (await later.claimAbandoned(search("there"))).map(({ row }) => row.executionId);
  await expect.poll(claim).toEqual([made.executionId]);
});

test("a later heartbeat keeps a lease beyond the end of the first", async () => {
  const store = await opened();
  await store.heartbeat({ owner: "here", lease: 2_000 });
  await store.heartbeat({ owner: "here", lease: 60_000 });
  await store.heartbeat({ owner: "other", lease: 2_000 });
  await store.create(execution({ claim: { owner: "here", token: "a" } }));
  const { executionId } = execution();
  await store.create(execution({ executionId, claim: { owner: "other", token: "b" } }));
  // The lease of the other one ends after the first one of `here` would have.
  const found = async () => (await store.claimAbandoned(search("there"))).map(({ row }) => row.executionId);
  await expect.poll(found).toEqual([executionId]);
});

test("of a hundred resumes at once from three nodes one succeeds", async () => {
  const namespace = randomUUID();
  const nodes = [await opened({ namespace }), await opened({ namespace }), await opened({ namespace })];
  const [first] = nodes;
  const made = execution();
  await first?.create(made);
  const suspension = {
    suspensionId: randomUUID(),
    path: "gate",
    stepIndex: 0,
    reason: "",
    data: null,
    suspendedAt: 1,
    deadline: null,
    onDeadline: null,
  };
  await first?.commit(
    commitOf(made.executionId, 1, { open: [suspension], idle: { resumes: 0, event: null } }),
  );
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      nodes[index % 3]?.resume({
        executionId: made.executionId,
        suspensionIds: [suspension.suspensionId],
        rewind: null,
        events: [event("workflow-resumed")],
        claim: { owner: "here", token: randomUUID() },
        byDeadline: false,
      }),
    ),
  );
  const kinds = results.map((result) => result?.kind);
  expect(kinds.filter((kind) => kind === "claimed")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "refused")).toHaveLength(99);
});

test("a write that is impossible fails alone", async () => {
  const store = await opened({ shards: 1 });
  const wrong = execution({ events: [{ ...event("workflow-start"), value: { sameAs: 7 } }] });
  const others = Array.from({ length: 5 }, () => execution());
  const results = await Promise.allSettled([wrong, ...others].map((made) => store.create(made)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", ...others.map(() => "fulfilled")]);
  await expect(store.create(wrong)).rejects.toMatchObject({ code: "store-refused" });
  expect(await store.state(wrong.executionId)).toBeUndefined();
  expect(await store.list({ limit: 10 })).toHaveLength(5);
});

test("two namespaces on one server do not see each other", async () => {
  const [one, other] = [await opened(), await opened()];
  const made = execution();
  await one.create(made);
  expect(await other.state(made.executionId)).toBeUndefined();
  expect(await other.list({ limit: 10 })).toEqual([]);
  expect(await other.create(made)).toEqual({ created: true });
});

test("ids with every kind of character are kept apart and found", async () => {
  const store = await opened();
  const ids = ["a/b", "a%2Fb", "a b", "ü😀", "'; --", "x".repeat(200), "r/1", "a\u001fb"];
  for (const executionId of ids) await store.create(execution({ executionId }));
  for (const executionId of ids) expect((await store.state(executionId))?.execution.sequence).toBe(1);
  const listed = await store.list({ limit: 20 });
  expect(listed.map(({ executionId }) => executionId).sort()).toEqual([...ids].sort());
});

test("an execution is one value of its shard, which lists search too", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace, shards: 1 });
  const made = execution({ tags: ["a"] });
  const { executionId } = made;
  await store.create(made);
  for (const number of [1, 2]) await store.commit(commitOf(executionId, number));
  const end = { status: "completed", result: "3", error: null } as const;
  await store.commit(commitOf(executionId, 3, { end }));
  const sql = `select key from state where service_key = '${namespace}.0'`;
  const kept = (await server.rowsOf(sql)).map(({ key }) => key);
  expect(kept.filter((key) => String(key).includes(executionId))).toEqual([`r/${executionId}`]);
  expect(await store.state(executionId)).toMatchObject({
    execution: { input: "1", context: "{}", result: "3" },
  });
  const listed = await store.list({ tag: "a", status: "completed", limit: 10 });
  expect(listed.map((each) => each.executionId)).toEqual([executionId]);
});

test("a long journal is read whole, also its long values, and deleted without a trace", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace });
  const long = JSON.stringify("x".repeat(5_000));
  const made = execution({ input: long });
  const { executionId } = made;
  await store.create(made);
  for (let number = 1; number <= 40; number++)
    await store.commit(
      commitOf(executionId, number, {
        events: [event("step-complete", { value: number % 7 === 0 ? long : String(number) })],
        following: [{ ...event("step-start"), value: { sameAs: -1 } }],
      }),
    );
  const events = await store.events({ executionId, after: 0, limit: 1_000 });
  expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 81 }, (_, n) => n + 1));
  expect(events[14]?.value).toBe(long);
  expect(events[13]?.value).toBe(long);
  const end = { status: "completed", result: { sameAs: -1 }, error: null } as const;
  const following = [event("workflow-complete", { value: long })];
  await store.commit(commitOf(executionId, 41, { following, end }));
  expect((await store.state(executionId))?.execution).toMatchObject({ input: long, result: long });
  const upTo = { endAt: 9_999, executionId: "~" };
  while ((await store.deleteFinished({ upTo, limit: 10, events: 25 })).more);
  const sql = `select key from state where service_key like '${namespace}.%' and value_utf8 <> '{}'`;
  expect(await server.rowsOf(sql)).toEqual([]);
});

test("turns that do not begin, and those that go with their conversation, leave nothing behind", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace });
  const begin = (conversationId: string) =>
    store.beginTurn({
      message: { kind: "post", messageId: randomUUID(), body: "{}", title: null, again: false, at: 1_000 },
      turn: { ...execution({ input: "{}" }), input: "{}", agentId: "clerk", conversationId },
    });
  const conversations = Array.from({ length: 8 }, () => randomUUID());
  for (const conversationId of conversations) {
    expect(await begin(conversationId)).toMatchObject({ kind: "begun" });
    for (let again = 0; again < 3; again++)
      expect(await begin(conversationId)).toMatchObject({ kind: "busy" });
    await store.conversations.remove({ key: randomUUID(), conversationId });
  }
  const sql = `select key from state where service_key like '${namespace}.%'`;
  const left = (await server.rowsOf(sql)).filter(({ key }) => !/^(w\d+|leases)$/.test(String(key)));
  expect(left).toEqual([]);
});

test("an account whose next window begins on another node while it is removed as old is kept", async () => {
  const namespace = randomUUID();
  const [store, other] = [await opened({ namespace }), await opened({ namespace })];
  const hold = (from: Store, startsAt: number) => {
    const window = { startsAt, endsAt: startsAt + 10 };
    const share = { budget: "b", subject: "s", limit: 9, amount: 1, unbounded: false, ...window };
    const [id, at] = [randomUUID(), startsAt];
    return from.budgets.hold({ hold: id, attempt: id, at, expiresAt: at + 10, shares: [share] });
  };
  await hold(store, 0);
  const { fetch: original } = globalThis;
  onTestFinished(() => {
    globalThis.fetch = original;
  });
  let isHeld = false;
  globalThis.fetch = async (url, request) => {
    const isRemoval = String(request?.body).includes('"name":"dropBudgets"');
    if (isRemoval && !isHeld) {
      isHeld = true;
      await hold(other, 100);
    }
    return await original(url, request);
  };
  expect(await store.budgets.trim({ before: 50, limit: 10 })).toBe(0);
  expect(isHeld).toBe(true);
  const accounts = await store.budgets.accounts({ budget: "b", subject: "s", at: 100, limit: 10 });
  expect(accounts).toMatchObject([{ startsAt: 100, held: 1 }]);
  expect(await store.budgets.trim({ before: 200, limit: 10 })).toBe(1);
});

test("each node shows the descriptions of all that are alive", async () => {
  const namespace = randomUUID();
  const [store, other] = [await opened({ namespace }), await opened({ namespace })];
  await store.heartbeat({ owner: "here", lease: 60_000, about: '{"pid":1}' });
  await other.heartbeat({ owner: "there", lease: 60_000, about: '{"pid":2}' });
  const described = async () => (await store.nodes()).nodes.map(({ owner, about }) => [owner, about]);
  expect(await described()).toEqual([
    ["here", '{"pid":1}'],
    ["there", '{"pid":2}'],
  ]);
  await other.heartbeat({ owner: "there", lease: 0 });
  expect(await described()).toEqual([["here", '{"pid":1}']]);
});

test("a server that is killed and started again has lost nothing, and each commit is there once", async () => {
  const store = await opened();
  await store.heartbeat({ owner: "here", lease: 60_000 });
  const made = Array.from({ length: 20 }, () => execution());
  await Promise.all(made.map((each) => store.create(each)));
  const count = 15;
  const work = made.map(async ({ executionId }) => {
    for (let number = 1; number <= count; number++) {
      const commit = commitOf(executionId, number);
      // The engine repeats a write while the store is not available.
      for (;;) {
        const result = await store.commit(commit).catch((error: { code?: string }) => {
          if (error.code !== "store-unavailable") throw error;
        });
        if (result === undefined) continue;
        expect(result.kind).toBe("ok");
        break;
      }
    }
  });
  await expect
    .poll(async () => (await store.heads([made[0]?.executionId ?? ""]))[0]?.sequence)
    .toBeGreaterThan(3);
  await server.kill();
  await server.start();
  await Promise.all(work);
  for (const { executionId } of made) {
    const events = await store.events({ executionId, after: 0, limit: 100 });
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: count + 1 }, (_, n) => n + 1),
    );
  }
});

// Restate keeps no result of a call, so it does not matter how long ago the call was: the row knows its last writes.
test("a commit that is sent again when Restate has forgotten the call, and after a restart, is there once", async () => {
  const namespace = randomUUID();
  const store = await opened({ namespace });
  await store.heartbeat({ owner: "here", lease: 60_000 });
  const made = execution();
  await store.create(made);
  const commit = commitOf(made.executionId, 1);
  const first = await store.commit(commit);
  const calls = async () =>
    (
      await server.rowsOf(`select id from sys_invocation where target_service_name = 'AndanteShard1'
      and target_service_key like '${namespace}.%'`)
    ).length;
  await expect.poll(calls).toBe(0);
  expect(await store.commit(commit)).toEqual(first);
  await server.kill();
  await server.start();
  expect(await store.commit(commit)).toEqual(first);
  expect(await store.create(made)).toEqual({ created: true });
  expect(await store.events({ executionId: made.executionId, after: 0, limit: 10 })).toHaveLength(2);
});

test("a write of 9 MB and 50 small ones beside it are all kept", async () => {
  const store = await opened({ shards: 1 });
  await store.heartbeat({ owner: "here", lease: 60_000 });
  const large = execution();
  const made = Array.from({ length: 50 }, () => execution());
  await Promise.all([large, ...made].map((each) => store.create(each)));
  const value = JSON.stringify("x".repeat(9_000_000));
  const write = store.commit(commitOf(large.executionId, 1, { events: [event("step-complete", { value })] }));
  const commits = made.map(({ executionId }) => store.commit(commitOf(executionId, 1)));
  for (const { kind } of await Promise.all(commits)) expect(kind).toBe("ok");
  expect(await write).toMatchObject({ kind: "ok" });
  const [, kept] = await store.events({ executionId: large.executionId, after: 0, limit: 10 });
  expect(kept?.value).toBe(value);
});

test.for(["performed again", "killed"])(
  "a call that dies between two of its writes and is %s leaves each item whole or absent, and then once",
  async (how) => {
    const [, port] = server.ports;
    const proxy = await startProxy(server.endpointPort, port);
    onTestFinished(() => proxy.close());
    const namespace = randomUUID();
    const store = await opened({ namespace, shards: 1, endpoint: { ...firstEndpoint(), port } });
    await store.heartbeat({ owner: "here", lease: 60_000 });
    const made = [execution(), execution()];
    for (const each of made) await store.create(each);
    const values = ["a", "b"].map((letter) => JSON.stringify(letter.repeat(1_000_000)));
    const events = values.map((value) => event("step-complete", { value }));
    const commits = made.map(({ executionId }) => commitOf(executionId, 1, { events }));
    const stateOf = (prefix: string) =>
      server.rowsOf(`select key, value_utf8 as value from state where service_key = '${namespace}.0'
            and starts_with(key, '${prefix}')`);
    const rows = await stateOf("r/");

    // The values of a megabyte are written first, so it dies between the first and the last of them.
    const cut = proxy.cutAfter(1_500_000);
    const results = Promise.all(commits.map((commit) => store.commit(commit)));
    await cut;
    await expect.poll(async () => (await stateOf("v")).length).toBeGreaterThan(0);
    expect((await stateOf("v")).length).toBeLessThan(4);
    expect(await stateOf("r/")).toEqual(rows);
    if (how === "killed") {
      const [call] =
        await server.rowsOf(`select id from sys_invocation where target_service_key = '${namespace}.0'
                                 and target_handler_name = 'write'`);
      const killed = await fetch(`${server.adminUrl}/invocations/${call?.id}/kill`, { method: "PATCH" });
      expect(killed.ok).toBe(true);
    }
    proxy.pointTo(port);

    expect((await results).map(({ kind }) => kind)).toEqual(["ok", "ok"]);
    for (const commit of commits) expect((await store.commit(commit)).kind).toBe("ok");
    for (const { executionId } of made) {
      const journal = await store.events({ executionId, after: 0, limit: 10 });
      expect(journal.map(({ value }) => value)).toEqual([null, ...values]);
    }
    expect(await stateOf("v")).toHaveLength(4);
  },
);

test("another number of shards and a closed port are refused in words", async () => {
  const namespace = randomUUID();
  await opened({ namespace, shards: 2 });
  await expect(opened({ namespace, shards: 3 })).rejects.toThrow("has 2 shards, and the option asks for 3");
  await expect(opened({ adminUrl: "http://127.0.0.1:1" })).rejects.toThrow("adminUrl does not respond: ");
});

test("an endpoint that Restate cannot reach, or that does not respond to it, is refused soon", async () => {
  const silent = createServer().listen(server.ports[2], "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const refusals = [1, server.ports[2]].map(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const start = performance.now();
    await expect(opened({ endpoint: { port: 0, url } })).rejects.toThrow(`could not register ${url}, which`);
    expect(performance.now() - start).toBeLessThan(isLong ? 10_000 : 15_000);
  });
  await Promise.all(refusals);
});
