// Push notifications: the states of a task, posted to an address of its client.
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { a2aClient } from "./client.ts";
import { receiver } from "./receiver.ts";

const a2a = { expose: ["approval", "held", "gated"], push: { allowPrivate: true } };

const slowly = { timeout: 20_000 };

test("a configuration of a message gets each state of its task, with the client's credentials", async () => {
  const { url } = await serveForTest({ a2a });
  const { say } = a2aClient(url, "approval");
  const hooks = await receiver();
  const authentication = { scheme: "Bearer", credentials: "c" };
  const taskPushNotificationConfig = { url: hooks.url, token: "t", authentication };
  const { task } = (await say([{ data: { topic: "tea" } }], {}, { taskPushNotificationConfig })).result;
  await expect.poll(() => hooks.states().at(-1), slowly).toBe("TASK_STATE_INPUT_REQUIRED");
  await say([{ data: { approved: true } }], { taskId: task.id });
  await expect.poll(() => hooks.states().at(-1), slowly).toBe("TASK_STATE_COMPLETED");
  const [first] = hooks.received;
  expect(first?.taskId).toBe(task.id);
  expect(first?.headers).toMatchObject({
    ...{ authorization: "Bearer c", "x-a2a-notification-token": "t" },
    "content-type": "application/a2a+json",
  });
  expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(hooks.received.length);
}, 60_000);

test("a failed push is tried again with the same id", async () => {
  const { url } = await serveForTest({ a2a });
  const { say } = a2aClient(url, "gated");
  const hooks = await receiver(500);
  const taskPushNotificationConfig = { url: hooks.url };
  const now = { returnImmediately: true, taskPushNotificationConfig };
  await say([{ data: { door: "a2a-push" } }], {}, now);
  await expect.poll(() => hooks.received.length, slowly).toBeGreaterThan(1);
  const [one, two] = hooks.received;
  expect([one?.state, two?.state]).toEqual(["TASK_STATE_WORKING", "TASK_STATE_WORKING"]);
  expect(one?.id).toBe(two?.id);
  gates.open("a2a-push");
  await expect.poll(() => hooks.states().at(-1), slowly).toBe("TASK_STATE_COMPLETED");
}, 60_000);

test("the reply of an agent is pushed as well", async () => {
  const { url } = await serveForTest({ a2a });
  const hooks = await receiver();
  const taskPushNotificationConfig = { url: hooks.url };
  const now = { returnImmediately: true, taskPushNotificationConfig };
  await a2aClient(url, "held").say([{ text: "a2a-push-reply" }], {}, now);
  await expect.poll(() => hooks.states(), slowly).toContain("TASK_STATE_WORKING");
  gates.open("a2a-push-reply");
  await expect.poll(() => hooks.states().at(-1), slowly).toBe("TASK_STATE_COMPLETED");
}, 60_000);

test("configurations are created, read, listed, replaced and deleted, without their secrets", async () => {
  const { url, get } = await serveForTest({ a2a, endpoints: {} });
  const { say, send } = a2aClient(url, "approval");
  const hooks = await receiver();
  const { task } = (await say([{ data: { topic: "tea" } }])).result;
  const taskId = task.id;
  const authentication = { scheme: "Basic", credentials: "secret" };
  const given = { id: "one", taskId, url: hooks.url, token: "secret", authentication };
  const shown = { id: "one", taskId, url: hooks.url, authentication: { scheme: "Basic" } };
  expect((await send("CreateTaskPushNotificationConfig", given)).result).toEqual(shown);
  expect((await send("GetTaskPushNotificationConfig", { taskId, id: "one" })).result).toEqual(shown);
  for (let n = 0; n < 9; n++) await send("CreateTaskPushNotificationConfig", { taskId, url: hooks.url });
  const tooMany = await send("CreateTaskPushNotificationConfig", { taskId, url: hooks.url });
  expect(tooMany.error?.code).toBe(-32_602);
  expect((await send("CreateTaskPushNotificationConfig", { ...given, token: "new" })).error).toBeUndefined();
  const list = async () => (await send("ListTaskPushNotificationConfigs", { taskId })).result;
  expect(await list()).toMatchObject({ configs: { length: 10 }, nextPageToken: "" });
  // Pushes are no deliveries of endpoints.
  expect(JSON.parse((await get("/api/deliveries")).text).data.deliveries).toEqual([]);
  for (const { id } of (await list()).configs)
    for (const _ of [1, 2])
      expect((await send("DeleteTaskPushNotificationConfig", { taskId, id })).error).toBeUndefined();
  expect((await list()).configs).toEqual([]);
  expect((await send("GetTaskPushNotificationConfig", { taskId, id: "one" })).error?.code).toBe(-32_001);
  const count = hooks.received.length;
  await say([{ data: { approved: true } }], { taskId });
  await expect
    .poll(async () => (await send("GetTask", { id: taskId })).result.status.state)
    .toContain("COMPLETED");
  expect(hooks.received.length).toBe(count);
});

test("another user's task has no configurations", async () => {
  const { url } = await serveForTest({ a2a, auth: provider() });
  const of = async (user: string) => a2aClient(url, "approval", bearer(await tokenFor(user)));
  const [ada, bob] = [await of("ada"), await of("bob")];
  const hooks = await receiver();
  const { task } = (await ada.say([{ data: { topic: "tea" } }])).result;
  const given = { taskId: task.id, id: "one", url: hooks.url };
  await ada.send("CreateTaskPushNotificationConfig", given);
  for (const verb of ["Create", "Get", "Delete"])
    expect((await bob.send(`${verb}TaskPushNotificationConfig`, given)).error?.code).toBe(-32_001);
  expect((await bob.send("ListTaskPushNotificationConfigs", given)).error?.code).toBe(-32_001);
});

test("addresses that are not public are refused, and pushes can be off", async () => {
  const open = await serveForTest({ a2a: { expose: ["approval"] } });
  const { say, send } = a2aClient(open.url, "approval");
  const { task } = (await say([{ data: { topic: "tea" } }])).result;
  for (const url of ["http://example.com/", "file:///etc/passwd", "https://u:p@example.com/", "x"]) {
    const given = { taskId: task.id, url };
    expect([url, (await send("CreateTaskPushNotificationConfig", given)).error?.code]).toEqual([
      url,
      -32_602,
    ]);
    const message = await say([{ data: { topic: "x" } }], {}, { taskPushNotificationConfig: { url } });
    expect(message.error?.code).toBe(-32_602);
  }
  const headers = { taskId: task.id, url: "https://example.com/", token: "a\r\nx-other: b" };
  expect((await send("CreateTaskPushNotificationConfig", headers)).error?.code).toBe(-32_602);
  expect((await send("ListTasks")).result.tasks).toHaveLength(1);
  const off = await serveForTest({ a2a: { expose: ["approval"], push: false } });
  const client = a2aClient(off.url, "approval");
  for (const method of ["CreateTaskPushNotificationConfig", "ListTaskPushNotificationConfigs"])
    expect((await client.send(method, { taskId: "x", url: "https://example.com/" })).error?.code).toBe(
      -32_003,
    );
  const sent = await client.say(
    [{ data: { topic: "x" } }],
    {},
    { taskPushNotificationConfig: { url: "https://x.example/" } },
  );
  expect(sent.error?.code).toBe(-32_003);
  const card = JSON.parse((await off.get("/.well-known/agent-card.json")).text);
  expect(card.capabilities.pushNotifications).toBe(false);
});
