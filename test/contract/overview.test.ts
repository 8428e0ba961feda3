// All executions at once: GET /api/inbox, /api/activity, /api/changes, /api/server, /api/workflows/:id/example.
import { hostname } from "node:os";
import { Agent, createWorkflow, memoryStore } from "@andante/core";
import { tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { sharedStore } from "../../packages/core/test/support/shared-store.ts";
import { cleanup } from "../support/cleanup.ts";
import { EventReader } from "../support/event-reader.ts";
import { startApproval } from "../support/executions.ts";
import { dataOf, errorOf, type Fields, listOf, timestamp } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

async function follow(server: TestServer, headers: Record<string, string> = {}) {
  const stream = new EventReader(await fetch(`${server.url}/api/changes`, { headers }), "plain");
  cleanup(() => stream.drop());
  expect(await stream.next()).toEqual({ type: "open" });
  return stream;
}

const changesIn = async (stream: EventReader) => listOf((await stream.next()) ?? {}, "executions");
/** Changes are gathered for a moment; where commits take longer than that, the intermediate ones are sent too. */
async function changesUntil(stream: EventReader, status: string) {
  for (;;) {
    const changes = await changesIn(stream);
    if (changes.length === 0 || changes.some((change) => change.status === status)) return changes;
  }
}

describe("without authentication", async () => {
  const server = await serveForTest();

  test("a tool of an agent that needs approval waits in the inbox like everything else", async () => {
    const model = controlledModel(({ prompt }) =>
      prompt.at(-1)?.role === "tool"
        ? { text: ["done"] }
        : { calls: [{ name: "refund", input: { amount: 90 } }] },
    );
    const refund = tool({
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: ({ amount }) => amount,
    });
    const agent = new Agent({ id: "teller", model, tools: { refund } });
    const desk = createWorkflow({ id: "desk", input: z.object({}) }).andAgent({
      id: "ask",
      agent,
      prompt: "go",
    });
    const own = await serveForTest({ workflows: { desk } });
    const { executionId } = dataOf(await own.post("/workflows/desk/execute", { input: {} }));
    const [item] = listOf(dataOf(await own.get("/api/inbox")), "items");
    expect(item).toMatchObject({
      executionId,
      suspension: {
        stepPath: "ask#call[0].tool[0]",
        data: { toolName: "refund", input: { amount: 90 } },
        resumeSchema: { properties: { approved: { type: "boolean" } } },
      },
    });
    const path = `/workflows/desk/executions/${executionId}/resume`;
    const resumed = await own.post(path, { resumeData: { approved: true } });
    expect(dataOf(resumed)).toMatchObject({ status: "completed", result: { text: "done" } });
    // A read is cached for a moment.
    await expect.poll(async () => listOf(dataOf(await own.get("/api/inbox")), "items")).toEqual([]);
  });

  test("the inbox has every open suspension, the oldest first, with an example that is accepted", async () => {
    const first = await startApproval(server);
    const fork = dataOf(await server.post("/workflows/both/execute", { input: {} }));
    const inbox = dataOf(await server.get("/api/inbox"));
    const items = listOf(inbox, "items");
    expect(items.map(({ executionId }) => executionId)).toEqual([
      first.executionId,
      fork.executionId,
      fork.executionId,
    ]);
    expect(items[0]).toMatchObject({
      workflowId: "approval",
      suspension: { reason: "Waiting for approval", stepPath: "approve", data: { text: "About tests" } },
      example: { approved: true },
    });
    expect(inbox.more).toBe(false);
    const at = `/workflows/approval/executions/${first.executionId}`;
    const resumed = await server.post(`${at}/resume`, { resumeData: items[0]?.example });
    expect(dataOf(resumed).status).toBe("completed");
    expect(listOf(dataOf(await server.get("/api/inbox?workflowId=approval")), "items")).toEqual([]);
    expect(listOf(dataOf(await server.get("/api/inbox?workflowId=both")), "items")).toHaveLength(2);
  });

  test("it is read page by page, everything once, new suspensions included", async () => {
    await startApproval(server);
    const seen: unknown[] = [];
    let cursor = "";
    for (let page = 0; page < 20; page += 1) {
      const inbox = dataOf(await server.get(`/api/inbox?limit=1${cursor && `&cursor=${cursor}`}`));
      const [item] = listOf(inbox, "items");
      seen.push(item?.executionId);
      if (page === 0) await startApproval(server);
      expect(inbox.more).toBe(inbox.nextCursor !== null);
      if (inbox.nextCursor === null) break;
      cursor = String(inbox.nextCursor);
    }
    // Another address than those before: a recent read is not repeated.
    const all = listOf(dataOf(await server.get("/api/inbox?limit=499")), "items");
    expect(seen).toEqual(all.map(({ executionId }) => executionId));
    expect(all.length).toBeGreaterThan(2);
    expect(errorOf(await server.get("/api/inbox?limit=501"), 400)).toContain("limit");
    expect(errorOf(await server.get("/api/inbox?cursor=x"), 400)).toContain("cursor");
  });

  test("it is counted, searched and sorted on request, and states the effect of a deadline", async () => {
    const gate = createWorkflow({ id: "gate", input: z.object({ hours: z.number() }) }).andThen({
      id: "ask",
      execute: ({ data, suspend }) =>
        suspend(`Gate ${data.hours}`, data, {
          deadline: data.hours * 3_600_000,
          onDeadline: { resume: "no" },
        }),
    });
    const own = await serveForTest({ workflows: { gate } });
    for (const hours of [3, 1, 2]) await own.andante.execute("gate", { hours }, { userId: `user-${hours}` });
    const reasons = async (query: string) =>
      listOf(dataOf(await own.get(`/api/inbox?${query}`)), "items").map(({ suspension }) => suspension);
    expect(dataOf(await own.get("/api/inbox?counts=true&workflowId=other"))).toMatchObject({
      items: [],
      counts: { total: 3, workflows: [{ workflowId: "gate", count: 3 }], chats: 0, complete: true },
    });
    expect(dataOf(await own.get("/api/inbox"))).not.toHaveProperty("counts");
    const sorted = ["Gate 1", "Gate 2", "Gate 3"].map((reason) => expect.objectContaining({ reason }));
    expect(await reasons("order=deadline")).toEqual(sorted);
    expect(await reasons("order=user&limit=500")).toEqual(sorted);
    expect(await reasons("text=gATE%202")).toEqual([
      expect.objectContaining({ reason: "Gate 2", onDeadline: { resume: "no" } }),
    ]);
    expect(errorOf(await own.get("/api/inbox?order=size"), 400)).toContain("order");
  });

  test("it counts only suspensions that the host lets the caller see", async () => {
    const asking = (id: string) =>
      createWorkflow({ id, input: z.object({}) }).andThen({ id: "ask", execute: ({ suspend }) => suspend() });
    const own = await serveForTest({
      workflows: { seen: asking("seen"), hidden: asking("hidden") },
      auth: provider(),
      authorize: ({ resource }) => resource.workflowId !== "hidden",
    });
    for (const id of ["seen", "hidden", "hidden"] as const) await own.andante.execute(id, {});
    const inbox = dataOf(await own.get("/api/inbox?counts=true", bearer(await tokenFor("eve"))));
    expect(inbox.counts).toEqual({
      ...{ total: 1, workflows: [{ workflowId: "seen", count: 1 }], chats: 0, agents: [], complete: true },
    });
  });

  test("it ends early when suspensions are long, with any limit", async () => {
    const long = createWorkflow({ id: "long", input: z.unknown() }).andThen({
      id: "gate",
      execute: ({ suspend }) => suspend("read this", "x".repeat(2_100_000)),
    });
    const crowded = await serveForTest({ workflows: { long } });
    for (let n = 0; n < 3; n++) await crowded.andante.execute("long", n, { executionId: `long-${n}` });
    const inbox = dataOf(await crowded.get("/api/inbox?limit=500"));
    expect(listOf(inbox, "items").map(({ executionId }) => executionId)).toEqual(["long-0", "long-1"]);
    expect(inbox.more).toBe(true);
    const next = dataOf(await crowded.get(`/api/inbox?cursor=${inbox.nextCursor}`));
    expect(listOf(next, "items").map(({ executionId }) => executionId)).toEqual(["long-2"]);
    expect(next.nextCursor).toBeNull();
  });

  test("the activity of any time can be asked for", async () => {
    for (const query of ["to=-271821-04-20T00:00:00.000Z", "from=%2B275760-09-13T00:00:00.000Z"])
      for (const path of ["/api/activity", "/api/failures", "/api/workflows/sum/activity"])
        expect((await server.get(`${path}?${query}`)).status, query).toBe(200);
  });

  test("the activity counts starts, ends and durations over time", async () => {
    const hour = 3_600_000;
    const from = new Date(Date.now() - hour).toISOString();
    await server.post("/workflows/sum/execute", { input: { a: 1 } });
    await server.post("/workflows/failing/execute", { input: {} });
    const to = new Date(Date.now() + hour).toISOString();
    const activity = dataOf(await server.get(`/api/activity?from=${from}&to=${to}&points=1&workflowId=sum`));
    expect(activity).toMatchObject({ complete: true, points: [{ completed: 1, failed: 0, started: 1 }] });
    expect(activity.p50).toEqual(expect.any(Number));
    // All of them in one stretch.
    expect(listOf(activity, "points")).toMatchObject([{ p50: activity.p50 }]);
    const failing = dataOf(await server.get(`/api/activity?from=${from}&to=${to}&workflowId=failing`));
    expect(listOf(failing, "workflows")).toMatchObject([{ workflowId: "failing", started: 1, failed: 1 }]);
    expect(failing.p50).toBeNull();
    expect(listOf(failing, "points").length).toBeGreaterThan(40);
    expect(listOf(failing, "points").length).toBeLessThanOrEqual(60);
    // A point is a minute at least.
    expect(listOf(dataOf(await server.get("/api/activity?points=500")), "points")).toHaveLength(60);
  });

  test("the answers of people are counted, with the time that the questions waited", async () => {
    const own = await serveForTest();
    // Each query is cached for a while.
    const answers = async (points: number) =>
      dataOf(await own.get(`/api/activity?workflowId=approval&points=${points}`)).answers;
    expect(await answers(1)).toEqual({ count: 0, p50: null });
    const { executionId } = await startApproval(own);
    await own.post(`/workflows/approval/executions/${executionId}/resume`, {
      resumeData: { approved: true },
    });
    expect(await answers(2)).toEqual({ count: 1, p50: expect.any(Number) });
  });

  test("the activity of a workflow's steps has durations and failures", async () => {
    const counted = dataOf(await server.get("/api/workflows/failing/activity"));
    expect(counted.runs).toBeNull();
    expect(listOf(counted, "steps")).toMatchObject([
      { stepPath: "broken", completed: 0, failed: 1, p50: null },
      { stepPath: "fine", completed: 1, failed: 0 },
    ]);
    const sum = listOf(dataOf(await server.get("/api/workflows/sum/activity")), "steps");
    expect(sum[0]).toMatchObject({ completed: 1, failed: 0, p95: expect.any(Number) });
    expect(errorOf(await server.get("/api/workflows/nothing-like-it/activity"), 404)).toContain("not found");
  });

  test("the failures are grouped by workflow, step and error", async () => {
    for (let n = 0; n < 2; n++) await server.post("/workflows/failing/execute", { input: {} });
    await server.post("/workflows/sum/execute", { input: { a: 1 } });
    const failures = dataOf(await server.get("/api/failures?workflowId=failing"));
    expect(failures).toMatchObject({ complete: true, from: expect.any(String), to: expect.any(String) });
    const [group, ...others] = listOf(failures, "groups");
    expect(others).toEqual([]);
    expect(group).toMatchObject({ workflowId: "failing", stepPath: "broken", name: "RangeError" });
    const listed = listOf(dataOf(await server.get("/api/executions?status=error")), "executions");
    expect(group).toMatchObject({ count: listed.length, executionId: listed[0]?.executionId });
    expect(listOf(dataOf(await server.get("/api/failures?workflowId=sum")), "groups")).toEqual([]);
    const later = new Date(Date.now() + 60_000).toISOString();
    const none = dataOf(await server.get(`/api/failures?from=${later}`));
    expect(none).toMatchObject({ from: later, groups: [] });
    expect(errorOf(await server.get("/api/failures?from=yesterday"), 400)).toContain("from");
  });

  test("a group of failures names its definitions, and is read alone with its executions", async () => {
    const pay = createWorkflow({ id: "pay", input: z.object({ problem: z.string() }) }).andThen({
      id: "charge",
      execute: ({ data }) => {
        throw new Error(data.problem);
      },
    });
    const shop = await serveForTest({ workflows: { pay } });
    const problems = { first: "card 1 declined", closed: "bank closed", second: "card 2 declined" };
    for (const [executionId, problem] of Object.entries(problems))
      await shop.andante.execute("pay", { problem }, { executionId });
    const ends = new Map(
      (await shop.andante.list({ status: "error" })).executions.map((each) => [each.executionId, each.endAt]),
    );
    const [known] = listOf(dataOf(await shop.get("/api/workflows/pay/definitions")), "definitions");
    const definition = known?.definition;
    const [cards, bank, ...others] = listOf(dataOf(await shop.get("/api/failures")), "groups");
    expect(others).toEqual([]);
    expect(cards).toMatchObject({ message: "card # declined", count: 2, definitions: [definition] });
    expect(bank).toMatchObject({ message: "bank closed", count: 1, executionId: "closed" });
    const executions = ["second", "first"].map((id) => ({ executionId: id, at: ends.get(id), definition }));
    const alone = dataOf(await shop.get(`/api/failures?group=${cards?.id}`));
    expect(alone).toMatchObject({ complete: true, groups: [{ ...cards, executions }] });
    const unknown = dataOf(await shop.get("/api/failures?group=unknown"));
    expect(unknown).toMatchObject({ complete: true, groups: [] });
  });

  test.each([-3, 3])(
    "the last hour ends now by the clock of the database, %i hours from the node's",
    async (hours) => {
      const clockOffset = hours * 3_600_000;
      for (const rollups of [{}, false] as const) {
        const database = memoryStore();
        await database.open();
        cleanup(() => database.close());
        const store = sharedStore(database, { clockOffset })();
        const elsewhere = await serveForTest({ store, rollups });
        await elsewhere.post("/workflows/sum/execute", { input: { a: 1 } });
        expect(dataOf(await elsewhere.get("/api/activity"))).toMatchObject({
          workflows: [{ workflowId: "sum", started: 1, completed: 1 }],
        });
        const steps = dataOf(await elsewhere.get("/api/workflows/sum/activity"));
        expect(steps).toMatchObject({ steps: [{ completed: 1 }, { completed: 1 }] });
      }
    },
  );

  test("without counts per minute both are read from the executions", async () => {
    const without = await serveForTest({ rollups: false });
    await without.post("/workflows/sum/execute", { input: { a: 1 } });
    expect(dataOf(await without.get("/api/activity"))).toMatchObject({
      ...{ workflows: [{ workflowId: "sum", started: 1, completed: 1 }], answers: null },
    });
    const steps = dataOf(await without.get("/api/workflows/sum/activity"));
    expect(steps).toMatchObject({ runs: 20, steps: [{ completed: 1 }, { completed: 1 }] });
  });

  test("the changes have the status of each execution, the newest of many commits", async () => {
    const stream = await follow(server);
    const { executionId } = await startApproval(server);
    expect(await changesUntil(stream, "suspended")).toMatchObject([
      { executionId, workflowId: "approval", status: "suspended", stepPath: "approve" },
    ]);
    await server.post(`/api/executions/${executionId}/cancel`, {});
    expect(await changesUntil(stream, "cancelled")).toMatchObject([{ executionId, status: "cancelled" }]);
  });

  test("the stream of changes ends when the server closes", async () => {
    const closing = await serveForTest();
    const stream = await follow(closing);
    await closing.close();
    expect(await stream.next()).toBeUndefined();
  });

  test("the server reports its status, and not the location of its data", async () => {
    const status = dataOf(await server.get("/api/server"));
    const counts = { slots: { running: expect.any(Number), limit: 1000 }, suspended: expect.any(Number) };
    expect(status).toMatchObject({ authentication: false, user: null, ...counts });
    expect(JSON.stringify(status)).not.toContain("/");
  });

  test("the nodes of the store have their load and a description of their process", async () => {
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const hold = createWorkflow({ id: "hold", input: z.object({}) }).andThen({
      id: "wait",
      execute: async () => {
        arrived.resolve();
        await held.promise;
      },
    });
    const busy = await serveForTest({ workflows: { hold } });
    await busy.post("/workflows/hold/execute", { input: {} }, { prefer: "respond-async" });
    await arrived.promise;
    const { nodes, unowned } = dataOf(await busy.get("/api/nodes"));
    expect(unowned).toBe(0);
    expect(nodes).toEqual([
      {
        ...{ id: expect.any(String), isSelf: true, isAlive: true, executions: 1 },
        process: {
          ...{ name: hostname(), pid: process.pid, startedAt: timestamp, seenAt: timestamp },
          ...{ running: expect.any(Number), limit: 1000, definitions: expect.stringMatching(/^[\w-]{12}$/) },
          ...{ cpu: expect.toSatisfy((cpu) => cpu === null || cpu >= 0), memory: expect.any(Number) },
        },
      },
    ]);
    held.resolve();
  });

  test("an example of a workflow's input is accepted by it", async () => {
    const { input } = dataOf(await server.get("/api/workflows/everything/example"));
    const executed = await server.post("/workflows/everything/execute", { input });
    expect(dataOf(executed).status).toBe("suspended");
    expect(errorOf(await server.get("/api/workflows/nothing-like-it/example"), 404)).toContain("not found");
  });
});

describe("with authentication a caller sees its own", async () => {
  const server = await serveForTest({ auth: provider() });
  const [ada, bob] = [bearer(await tokenFor("ada")), bearer(await tokenFor("bob"))];
  const start = (headers: Record<string, string>) =>
    server.post("/workflows/approval/execute", { input: { topic: "x" } }, headers);

  test("in the inbox and in the counts", async () => {
    const mine = dataOf(await start(ada)).executionId;
    await start(bob);
    const inbox = dataOf(await server.get("/api/inbox?counts=true", ada));
    expect(listOf(inbox, "items").map(({ executionId }) => executionId)).toEqual([mine]);
    expect(inbox.counts).toMatchObject({ total: 1, complete: true });
    const sum = (points: Fields[]) => points.reduce((all, point) => all + Number(point.started), 0);
    const activity = dataOf(await server.get("/api/activity", ada));
    expect(activity.answers).toBeNull();
    expect(sum(listOf(activity, "points"))).toBe(1);
    const body = { input: { a: 1 } };
    for (const user of [ada, bob, bob]) await server.post("/workflows/sum/execute", body, user);
    const steps = dataOf(await server.get("/api/workflows/sum/activity", ada));
    expect(steps).toMatchObject({ runs: 20, steps: [{ completed: 1 }, { completed: 1 }] });
  });

  test("in the failures", async () => {
    for (const user of [ada, bob, bob]) await server.post("/workflows/failing/execute", { input: {} }, user);
    const failures = dataOf(await server.get("/api/failures", ada));
    expect(failures).toMatchObject({ groups: [{ count: 1 }] });
    const [group] = listOf(failures, "groups");
    const one = { executionId: group?.executionId, at: group?.lastAt, definition: expect.any(String) };
    const alone = dataOf(await server.get(`/api/failures?group=${group?.id}`, ada));
    expect(alone).toMatchObject({ groups: [{ count: 1, executions: [one] }] });
  });

  test("in the changes", async () => {
    const stream = await follow(server, ada);
    await start(bob);
    const mine = dataOf(await start(ada)).executionId;
    expect((await changesIn(stream)).map(({ executionId }) => executionId)).toEqual([mine]);
  });

  test("and itself, but not how busy others are", async () => {
    expect(dataOf(await server.get("/api/server", ada))).toMatchObject({
      authentication: true,
      user: { id: "ada" },
      slots: { running: null, limit: 1000 },
      suspended: null,
    });
    const open = await serveForTest({ auth: provider(), authorize: () => true });
    expect(errorOf(await server.get("/api/nodes", ada), 403)).toBe("Not allowed: nodes.read");
    expect(dataOf(await open.get("/api/nodes", ada))).toMatchObject({ nodes: [{ isSelf: true }] });
    const all = { slots: { running: 0 }, suspended: 0 };
    expect(dataOf(await open.get("/api/server", ada))).toMatchObject(all);
    expect(errorOf(await server.get("/api/inbox"), 401)).toBe("Authentication required");
  });
});
