// A task outlives its process: the server is killed, and the next one has the task.
import path from "node:path";
import { expect, test } from "vitest";
import { startServerProcess, temporaryDatabase } from "../support/server-process.ts";
import { a2aClient } from "./client.ts";
import { receiver } from "./receiver.ts";

const start = (file: string) => startServerProcess(path.join(import.meta.dirname, "child.ts"), [file]);
const now = { returnImmediately: true };

test("a reply continues after the kill, and the task completes", async () => {
  const file = temporaryDatabase();
  const first = await start(file);
  const { task } = (await a2aClient(first.url, "slow").say([{ text: "go" }], {}, now)).result;
  expect(task.status.state).toBe("TASK_STATE_WORKING");
  await first.kill();
  const next = a2aClient((await start(file)).url, "slow");
  await expect
    .poll(() => next.task(task.id), { timeout: 60_000 })
    .toMatchObject({
      ...{ id: task.id, contextId: task.contextId, status: { state: "TASK_STATE_COMPLETED" } },
      artifacts: [{ parts: [{ text: "first second" }] }],
    });
}, 180_000);

test("the end of a task whose process was killed is pushed by the next one", async () => {
  const file = temporaryDatabase();
  const first = await start(file);
  const hooks = await receiver();
  const push = { ...now, taskPushNotificationConfig: { url: hooks.url } };
  await a2aClient(first.url, "slow").say([{ text: "go" }], {}, push);
  await expect.poll(hooks.states, { timeout: 60_000 }).toEqual(["TASK_STATE_WORKING"]);
  await first.kill();
  await start(file);
  await expect.poll(hooks.states, { timeout: 100_000 }).toContain("TASK_STATE_COMPLETED");
}, 240_000);

test("a question stays open over the kill, and its answer completes the task", async () => {
  const file = temporaryDatabase();
  const first = await start(file);
  const { task } = (await a2aClient(first.url, "publish").say([{ data: { text: "hello" } }])).result;
  expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  await first.kill();
  const next = a2aClient((await start(file)).url, "publish");
  expect((await next.task(task.id)).status).toEqual(task.status);
  const { result } = await next.say([{ data: { approved: true } }], { taskId: task.id });
  expect(result.task).toMatchObject({
    ...{ id: task.id, status: { state: "TASK_STATE_COMPLETED" } },
    artifacts: [{ parts: [{ data: { text: "hello", approved: true, published: true } }] }],
  });
}, 180_000);
