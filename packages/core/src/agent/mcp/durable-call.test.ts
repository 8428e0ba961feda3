// A call that waits for the task or the questions of a server: how it polls, asks and ends.
import { expect, test, vi } from "vitest";
import type { DurableTool } from "../call/durable.ts";
import { callDurably } from "./durable-call.ts";
import type { Fields } from "./remote-calls.ts";

const created = { resultType: "task", taskId: "t-1", pollIntervalMs: 2000 };
const question = { method: "elicitation/create", params: { message: "Sure?" } };
const sure = { status: "input_required", inputRequests: { sure: question } };
const completed = { status: "completed", result: { content: [] } };
const broken = new TypeError("fetch failed");
const refused = Object.assign(new Error("unknown task"), { code: -32602 });

/** Performs a call over these replies to `tools/call` and `tasks/get`, and to `tasks/update`. The last one is repeated. */
function perform(replies: readonly (Fields | Error)[], updates: readonly (Fields | Error)[] = [{}]) {
  const [others, answers] = [[...replies], [...updates]];
  const ask = vi.fn(async (method: string, _: Fields): Promise<Fields> => {
    const list = method === "tasks/update" ? answers : others;
    const reply = list.length > 1 ? list.shift() : list[0];
    if (reply === undefined || reply instanceof Error) throw reply;
    return reply;
  });
  const sleeps: unknown[] = [];
  const reasons: unknown[] = [];
  const records = new Set<string>();
  const steps: DurableTool = Object({
    sleep: async (time: unknown) => void sleeps.push(time),
    suspend: async (reason?: string) => {
      reasons.push(reason);
      return { approved: true };
    },
    checkpoint: async (id: string, work: () => unknown) => {
      expect(records).not.toContain(id);
      records.add(id);
      return JSON.parse(JSON.stringify(await work()));
    },
  });
  const isReply = (error: unknown) => error === refused;
  const tool = { name: "publish", input: { text: "x" }, ask, isReply };
  const result = callDurably(tool, steps);
  const sent = (method: string) =>
    ask.mock.calls.filter(([each]) => each === method).map(([, params]) => params);
  return { result, sent, sleeps, reasons };
}

test.each([
  [{ status: "failed", error: { code: -32603, message: "out of paper" } }, "out of paper"],
  [{ status: "failed" }, "the task has failed"],
  [{ status: "cancelled" }, "the server has cancelled the task"],
])("a task that is %j fails the call", async (end, problem) => {
  const { result, sent } = perform([created, { status: "working" }, end]);
  await expect(result).rejects.toThrow(new Error(problem));
  expect(sent("tasks/get")).toEqual([{ taskId: "t-1" }, { taskId: "t-1" }]);
});

test("a reply of the server to a poll that is an error of the protocol fails the call at once", async () => {
  await expect(perform([created, refused]).result).rejects.toBe(refused);
});

test("a server that no poll reaches fails the call after 25 of them, ever further apart", async () => {
  const { result, sent, sleeps } = perform([created, broken]);
  await expect(result).rejects.toThrow("the task cannot be read: TypeError: fetch failed");
  expect(sent("tasks/get")).toHaveLength(25);
  expect([sleeps.slice(0, 3), sleeps.at(-1)]).toEqual([[2000, 3000, 4500], 300_000]);
});

test("a poll that reaches the server begins the count again", async () => {
  const away = Array<Error>(24).fill(broken);
  const { result } = perform([created, ...away, { status: "working" }, ...away, completed]);
  expect(await result).toEqual({ content: [] });
});

test.each([
  [
    { method: "elicitation/create", params: { mode: "url", url: "https://x.example" } },
    "elicitation/create (url)",
  ],
  [{ method: "sampling/createMessage", params: {} }, "sampling/createMessage (form)"],
])("the question %j is not supported, of a task and in place of a result", async (asked, named) => {
  const inputRequests = { q: asked };
  const problem = `the server asks for ${named}, which is not supported`;
  const ofTask = perform([created, { status: "input_required", inputRequests }]);
  await expect(ofTask.result).rejects.toThrow(problem);
  const plain = perform([{ resultType: "input_required", inputRequests }]);
  await expect(plain.result).rejects.toThrow(problem);
  expect([ofTask.reasons, plain.reasons]).toEqual([[], []]);
});

test("a question that a task still shows is asked and answered once", async () => {
  const { result, sent, reasons } = perform([created, sure, sure, sure, completed]);
  await result;
  expect(reasons).toEqual(["Sure?"]);
  const inputResponses = { sure: { action: "accept", content: { approved: true } } };
  expect(sent("tasks/update")).toEqual([{ taskId: "t-1", inputResponses }]);
});

test("an answer that does not reach the server is sent again after the next poll", async () => {
  const { result, sent, reasons } = perform([created, sure, broken, sure, completed], [broken, broken, {}]);
  await result;
  expect(reasons).toEqual(["Sure?"]);
  const inputResponses = { sure: { action: "accept", content: { approved: true } } };
  expect(sent("tasks/update")).toEqual(Array(3).fill({ taskId: "t-1", inputResponses }));
});

test("an answer that the server refuses fails the call", async () => {
  await expect(perform([created, sure], [refused]).result).rejects.toBe(refused);
});
