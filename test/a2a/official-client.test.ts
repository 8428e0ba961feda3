// The official TypeScript client: from the card to the end of a task.
import { SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { expect, test } from "vitest";
import { deleted } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { messageOf } from "./client.ts";

const expose = ["echo", "held", "careful", "forgetful", "approval", "gated", "sum"];
const serve = () => serveForTest({ a2a: { expose } });
const clientOf = (url: string, agentId: string) =>
  new ClientFactory().createFromUrl(`${url}/a2a/${agentId}/`);

const saying = (text: string, more = {}, configuration = {}) =>
  SendMessageRequest.fromJSON({ message: messageOf([{ text }], more), configuration });
const giving = (data: object, more = {}) =>
  SendMessageRequest.fromJSON({ message: messageOf([{ data }], more) });

function taskIn(result: object): Task {
  if (!("status" in result && "history" in result)) throw new Error("not a task");
  return result as Task;
}

const textOf = ({ artifacts }: Task) => artifacts[0]?.parts[0]?.content?.value;
const kinds = (events: readonly StreamResponse[]) => events.map(({ payload }) => payload?.$case);
const stateIn = ({ payload }: StreamResponse) =>
  payload?.$case === "statusUpdate" ? payload.value.status?.state : undefined;

test("a message is a task with its reply, and a second one continues the conversation", async () => {
  const { url } = await serve();
  const client = await new ClientFactory().createFromUrl(url);
  const card = await client.getAgentCard();
  expect(card).toMatchObject({ name: "Echo", description: "Says it again", skills: [{ id: "echo" }] });
  const first = taskIn(await client.sendMessage(saying("hello")));
  expect([first.status?.state, textOf(first)]).toEqual([TaskState.TASK_STATE_COMPLETED, "You said: hello"]);
  const { contextId } = first;
  const second = taskIn(await client.sendMessage(saying("again", { contextId })));
  expect([second.contextId, textOf(second)]).toEqual([contextId, "You said: again"]);
  const read = await client.getTask({ tenant: "", id: first.id, historyLength: undefined });
  expect([read.id, textOf(read), read.history.length]).toEqual([first.id, "You said: hello", 2]);
  const query = { tenant: "", contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" };
  const list = await client.listTasks({
    ...{ ...query, pageSize: 10, historyLength: 0, statusTimestampAfter: undefined, includeArtifacts: true },
  });
  expect(list.tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
  expect(list.tasks.map(textOf)).toEqual(["You said: again", "You said: hello"]);
});

test("a stream has the task, the pieces of the reply, the whole of it and the end", async () => {
  const { url } = await serve();
  const client = await clientOf(url, "held");
  const door = "a2a-stream";
  const events: StreamResponse[] = [];
  const pieces: unknown[] = [];
  for await (const event of client.sendMessageStream(saying(door))) {
    events.push(event);
    const { payload } = event;
    if (payload?.$case !== "artifactUpdate") continue;
    pieces.push([payload.value.append, payload.value.artifact?.parts[0]?.content?.value]);
    gates.open(door);
  }
  expect(kinds(events)[0]).toBe("task");
  expect(pieces[0]).toEqual([true, "first "]);
  expect(pieces.at(-1)).toEqual([false, "first second third"]);
  const last = events.at(-1);
  expect(last && stateIn(last)).toBe(TaskState.TASK_STATE_COMPLETED);
});

test("a subscription begins with the task and ends with it, beside another one", async () => {
  const { url } = await serve();
  const client = await clientOf(url, "gated");
  const door = "a2a-subscribe";
  const begun = await client.sendMessage(
    SendMessageRequest.fromJSON({
      message: messageOf([{ data: { door } }]),
      configuration: { returnImmediately: true },
    }),
  );
  const { id } = taskIn(begun);
  const read = async () => {
    const events: StreamResponse[] = [];
    for await (const event of client.resubscribeTask({ tenant: "", id })) {
      events.push(event);
      if (events.length === 1) gates.open(door);
    }
    return events;
  };
  const [one, two] = await Promise.all([read(), read()]);
  expect(kinds(one)).toEqual(["task", "artifactUpdate", "statusUpdate"]);
  expect(one).toEqual(two);
  await expect(read()).rejects.toThrow("The task has ended");
});

test("a suspension is a question, and a message with its answer continues the task", async () => {
  const { url } = await serve();
  const client = await clientOf(url, "approval");
  const asked = taskIn(await client.sendMessage(giving({ topic: "tea" })));
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  const [words, question] = asked.status?.message?.parts ?? [];
  expect(words?.content?.value).toBe("Waiting for approval");
  expect(question?.content?.value).toMatchObject({ schema: { type: "object" }, data: { text: "About tea" } });
  await expect(client.sendMessage(giving({ approved: 1 }, { taskId: asked.id }))).rejects.toThrow("approved");
  const done = taskIn(await client.sendMessage(giving({ approved: true }, { taskId: asked.id })));
  expect([done.id, done.status?.state]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
  expect(textOf(done)).toMatchObject({ published: true });
  await expect(client.sendMessage(giving({ approved: true }, { taskId: asked.id }))).rejects.toThrow(
    "has ended",
  );
});

test("the approval of a tool is a question too, and its reply the same task", async () => {
  const { url } = await serve();
  const client = await clientOf(url, "careful");
  const asked = taskIn(await client.sendMessage(saying("delete a2a.txt")));
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(asked.status?.message?.parts[1]?.content?.value).toMatchObject({
    data: { toolName: "remove", input: { file: "a2a.txt" } },
  });
  const done = taskIn(await client.sendMessage(giving({ approved: true }, { taskId: asked.id })));
  expect([done.id, done.status?.state]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
  expect(textOf(done)).toContain("a2a.txt is gone");
  expect(deleted).toContain("a2a.txt");
});

test("a task is cancelled once, also while its reply is made", async () => {
  const { url } = await serve();
  const now = { returnImmediately: true };
  const workflow = await clientOf(url, "approval");
  const { id } = taskIn(await workflow.sendMessage(giving({ topic: "tea" })));
  const cancelled = await workflow.cancelTask({ tenant: "", id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await expect(workflow.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow("cancel");
  const agent = await clientOf(url, "held");
  const reply = taskIn(await agent.sendMessage(saying("a2a-cancel", {}, now)));
  for await (const { payload } of agent.resubscribeTask({ tenant: "", id: reply.id }))
    if (payload?.$case === "artifactUpdate") break;
  const stopped = await agent.cancelTask({ tenant: "", id: reply.id, metadata: undefined });
  expect([stopped.status?.state, textOf(stopped)]).toEqual([TaskState.TASK_STATE_CANCELED, "first "]);
});

test("an agent that keeps no conversations replies with a message", async () => {
  const { url } = await serve();
  const client = await clientOf(url, "forgetful");
  expect(await client.sendMessage(saying("hello"))).toMatchObject({
    parts: [{ content: { $case: "text", value: "seen 1" } }],
  });
  const events: StreamResponse[] = [];
  for await (const event of client.sendMessageStream(saying("hello"))) events.push(event);
  expect(kinds(events)).toEqual(["message"]);
});
