// Deliveries of events: the cases in memory and on maps, and hosts and options without any store of interest.
import { expect, test } from "vitest";
import { z } from "zod";
import type { EndpointOptions } from "../../src/delivery/endpoint-options.ts";
import { createAndante, createWorkflow, memoryStore } from "../../src/index.ts";
import { plainStore } from "../store/plain-store.ts";
import { wrapStore } from "../support/wrapped-store.ts";
import { receiver, secret, webhookCases } from "./webhook-cases.ts";

webhookCases("memory", memoryStore);
webhookCases("maps", plainStore);

test("without the option nothing is kept, and an application has the same calls of its store", async () => {
  const calls = async (endpoints?: Record<string, EndpointOptions>) => {
    const store = memoryStore();
    const counted: string[] = [];
    const commits: string[][] = [];
    const counting = wrapStore(store, {
      ...{ open: () => store.open(), close: () => store.close() },
      commit: (commit) => {
        commits.push(Object.keys(commit).sort());
        counted.push("commit");
        return store.commit(commit);
      },
      create: (made) => {
        counted.push("create");
        return store.create(made);
      },
      resume: (resume) => {
        counted.push("resume");
        return store.resume(resume);
      },
      state: (id) => {
        counted.push("state");
        return store.state(id);
      },
    });
    const workflow = createWorkflow({ id: "plain", input: z.unknown() }).andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
    });
    const andante = createAndante({
      store: counting,
      workflows: { workflow },
      ...(endpoints && { endpoints }),
    });
    const { executionId } = await andante.execute("plain", null);
    await andante.resume("plain", executionId, 1);
    await andante.settled();
    const rows = await store.schedules.list({ kind: "delivery", limit: 10 });
    await andante.close({ grace: 0 });
    return { counted, commits, rows };
  };
  const without = await calls();
  expect(without.rows).toEqual([]);
  expect(without.counted).toEqual(["create", "commit", "resume", "commit"]);
  expect(without.commits.flat()).not.toContain("deliveries");
  expect(without.commits.flat()).not.toContain("takes");
  const empty = await calls({});
  expect(empty).toEqual(without);
});

test("pushes to a receiver that hangs leave places to others", async () => {
  const opened = Promise.withResolvers<void>();
  const hanging = await receiver(async () => {
    await opened.promise;
    return { status: 204 };
  });
  const healthy = await receiver();
  const workflow = createWorkflow({ id: "pushed", input: z.unknown() }).andThen({
    id: "a",
    execute: () => 1,
  });
  const andante = createAndante({ workflows: { workflow }, store: memoryStore() });
  const { pushes } = andante.deliveries;
  const body = '{"type":"pushed"}';
  pushes.serve({ allowPrivate: true, describe: async () => ({ body, isOver: true }) });
  const set = (taskId: string, url: string) =>
    pushes.set({ workflowId: "pushed", agentId: null, taskId }, { pushId: "p", url, headers: {} });
  for (let task = 0; task < 30; task++) await set(`hanging-${task}`, hanging.url);
  await expect.poll(() => hanging.received.length, { timeout: 10_000 }).toBe(16);
  await set("healthy", healthy.url);
  await expect.poll(() => healthy.received.length, { timeout: 5_000 }).toBe(1);
  opened.resolve();
  await expect.poll(() => hanging.received.length, { timeout: 10_000 }).toBe(30);
  await andante.close({ grace: 0 });
  await hanging.close();
  await healthy.close();
}, 30_000);

test("options of notifications are checked where a step suspends, and need endpoints", async () => {
  const failureOf = async (options: object, endpoints?: Record<string, EndpointOptions>) => {
    const workflow = createWorkflow({ id: "asks", input: z.unknown() }).andThen({
      id: "gate",
      execute: ({ suspend }) => suspend("", null, options),
    });
    const andante = createAndante({
      store: memoryStore(),
      workflows: { workflow },
      ...(endpoints && { endpoints }),
    });
    const { executionId } = await andante.execute("asks", null);
    const events = await andante.events("asks", executionId);
    await andante.close({ grace: 0 });
    return JSON.stringify(events.find(({ type }) => type === "step-error")?.error ?? "none");
  };
  expect(await failureOf({ to: "ada" })).toBe('"none"');
  for (const options of [{ remind: "1d" }, { escalate: { after: "1d" } }, { link: true }])
    expect(await failureOf({ to: "ada", ...options })).toContain("the host has no endpoints");
  for (const [options, problem] of [
    [{ to: "" }, "1 to 320 characters"],
    [{ to: "ada\r\nbcc: eve" }, "without control characters"],
    [{ remind: "59s" }, "at least a minute"],
    [{ escalate: { after: "1h", to: "\0" } }, "escalate.to"],
    [{ link: true }, "LinksNotConfiguredError"],
    [{ remaind: "1d" }, "remaind"],
  ] as const)
    expect(await failureOf(options, {})).toContain(problem);
});

test("options of endpoints are checked at the start", () => {
  const make =
    (endpoint: object, id = "crm") =>
    () =>
      createAndante({ store: memoryStore(), endpoints: { [id]: endpoint as never } });
  expect(make({ url: "http://example.com", secret })).toThrow("endpoints.crm.url");
  expect(make({ url: "https://example.com", secret: "short" })).toThrow("endpoints.crm.secret");
  expect(make({ url: "https://example.com", secret, retries: 3 })).toThrow("retries");
  expect(make({ url: "https://example.com", secret }, "a/b")).toThrow("endpoints.a/b");
});
