// Shut-down: waiting callers learn of it, streams close, and nothing is lost.
import { beforeEach, expect, test } from "vitest";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import { typesOf } from "../support/event-reader.ts";
import { ended, startApproval } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { rawRequest } from "../support/raw-request.ts";
import { dataOf, errorOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal } from "../support/socket-client.ts";
import { temporaryFile } from "../support/temporary-file.ts";

let file: ReturnType<typeof temporaryFile>;
let server: TestServer;
beforeEach(async () => {
  file = temporaryFile();
  server = await serveForTest({ store: file.open(), grace: 50 });
});

async function restart() {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 50 });
}

const journal = async (workflow: string, id: string) =>
  (await server.get(`/workflows/${workflow}/executions/${id}/events`)).text;

test("a caller whose execute waits gets 503 with Retry-After and x-execution-id; after the restart it completes by itself", async () => {
  const options = { executionId: "cut" };
  const waiting = server.post("/workflows/gated/execute", { input: { door: "cut" }, options });
  await gates.arrival("cut");
  await server.close();
  const answer = await waiting;
  expect(errorOf(answer, 503)).toBe("The server is shutting down, try again later");
  expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get("x-execution-id")).toBe("cut");
  gates.open("cut");
  await restart();
  expect(await ended(server, "gated", "cut")).toMatchObject({
    status: "completed",
    result: { passed: "cut" },
  });
  const text = await journal("gated", "cut");
  expect(text, "no failure is recorded").not.toMatch(/error|cancelled/);
});

test("a caller whose resume waits gets 503 the same way", async () => {
  const options = { executionId: "cut-resume" };
  dataOf(await server.post("/workflows/gated-approval/execute", { input: { door: "cut-resume" }, options }));
  const waiting = server.post("/workflows/gated-approval/executions/cut-resume/resume", { resumeData: 1 });
  await gates.arrival("cut-resume");
  await server.close();
  const answer = await waiting;
  errorOf(answer, 503);
  expect(answer.headers.get("retry-after")).not.toBeNull();
  expect(answer.headers.get("x-execution-id")).toBe("cut-resume");
  gates.open("cut-resume");
  await restart();
  expect(await ended(server, "gated-approval", "cut-resume")).toMatchObject({ status: "completed" });
});

test("streams close without workflow-result, and go on after the restart", async () => {
  const body = { input: { door: "cut-stream" }, options: { executionId: "cut-stream" } };
  const stream = await server.stream("/workflows/gated/stream", body);
  const attached = await server.stream("/workflows/gated/executions/cut-stream/stream");
  await gates.arrival("cut-stream");
  await attached.until("step-complete");
  await server.close();
  expect(typesOf(await stream.rest())).not.toContain("workflow-result");
  expect(typesOf(await attached.rest())).not.toContain("workflow-result");
  gates.open("cut-stream");
  await restart();
  const again = await server.stream("/workflows/gated/executions/cut-stream/stream", undefined, {
    "last-event-id": attached.ids.at(-1) ?? "",
  });
  expect((await again.rest()).at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
});

test("a body that finishes within the grace period is not run again", async () => {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 20_000 });
  const options = { executionId: "graceful" };
  const waiting = server.post("/workflows/gated/execute", { input: { door: "graceful" }, options });
  await gates.arrival("graceful");
  const closing = server.close();
  gates.open("graceful");
  await closing;
  errorOf(await waiting, 503);
  await restart();
  expect(await ended(server, "gated", "graceful")).toMatchObject({ status: "completed" });
  expect(gates.arrivals.get("graceful")).toBe(1);
});

test("requests that come while it closes are 503, on a connection that was open before", async () => {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 20_000 });
  const waiting = server.post("/workflows/gated/execute", { input: { door: "late" } });
  await gates.arrival("late");
  const closing = server.andante.close({ grace: 20_000 });
  const late = await server.post("/workflows/sum/execute", { input: { a: 1 } });
  expect(errorOf(late, 503)).toBe("The server is shutting down, try again later");
  expect(late.headers.get("retry-after")).not.toBeNull();
  gates.open("late");
  await closing;
  await waiting;
});

test("while it drains, new connections are served: /ready and starts are 503, reads work; then the port closes", async () => {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 20_000 });
  const body = { input: { door: "drain" }, options: { executionId: "drain" } };
  const waiting = server.post("/workflows/gated/execute", body);
  await gates.arrival("drain");
  const closing = server.close();
  const ready = await rawRequest(server.url, ["GET /ready"]);
  expect(ready.status).toBe(503);
  expect(ready.head).toMatch(/^retry-after: [1-9]/im);
  expect(ready.body).toContain("The server is shutting down, try again later");
  const started = await server.post("/workflows/sum/execute", { input: { a: 1 } });
  errorOf(started, 503);
  expect(started.headers.get("retry-after")).toMatch(/^[1-9]/);
  const path = "/workflows/gated/executions/drain";
  expect(dataOf(await server.get(`${path}/state`)).status).toBe("running");
  // It would end with the process: the next one has the same events.
  errorOf(await server.get(`${path}/stream`), 503);
  expect(await refusal(server, "/ws")).toMatchObject({ status: 503 });
  gates.open("drain");
  await closing;
  errorOf(await waiting, 503);
  await expect(fetch(`${server.url}/ready`)).rejects.toThrow();
});

test("a connection that is used while it drains is closed after its response, for a balancer to choose another node", async () => {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 20_000 });
  expect((await server.get("/ready")).headers.get("connection")).toBe("keep-alive");
  const waiting = server.post("/workflows/gated/execute", { input: { door: "leave" } });
  await gates.arrival("leave");
  const closing = server.close();
  expect((await server.get("/ready")).headers.get("connection")).toBe("close");
  gates.open("leave");
  await closing;
  errorOf(await waiting, 503);
});

test("with nothing that runs it closes at once, independent of the grace period, and does not wait for idle connections", async () => {
  await server.close();
  server = await serveForTest({ store: file.open(), grace: 20_000 });
  // `fetch` keeps this one open.
  expect((await server.get("/ready")).status).toBe(200);
  await inTime(server.close(), "the close, well within the grace period");
});

test("a suspended execution stays suspended, and closing twice is closing once", async () => {
  const { executionId } = await startApproval(server);
  await Promise.all([server.close(), server.close()]);
  await restart();
  const path = `/workflows/approval/executions/${executionId}`;
  expect(dataOf(await server.get(`${path}/state`)).status).toBe("suspended");
  dataOf(await server.post(`${path}/resume`, { resumeData: { approved: true } }));
});

test("a closed server takes no connections", async () => {
  await server.close();
  await expect(fetch(`${server.url}/workflows`)).rejects.toThrow();
});

test("replies of agents get the grace period, then they are aborted: callers get 503, streams their own last part; those of conversations continue after the restart", async () => {
  const chat = (id: string) => ({
    id,
    messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: id }] }],
  });
  const waiting = server.post("/agents/held/text", { input: "stop-text" });
  const parts = await server.stream("/agents/held/stream", { input: "stop-stream" });
  const schema = { type: "object" };
  const object = await server.stream("/agents/held/stream-object", { input: "stop-object", schema });
  const chunks = await server.stream("/agents/held/chat", chat("stop-chat"));
  const quick = server.post("/agents/held/text", { input: "quick" });
  const read = Promise.all([parts.rest(), object.rest(), chunks.rest()]);
  for (const door of ["stop-text", "stop-stream", "stop-object", "stop-chat", "quick"])
    await gates.arrival(door);
  const closing = server.close();
  gates.open("quick");
  expect(dataOf(await quick).text).toBe("first second third");
  expect(errorOf(await waiting, 503)).toBe("The server is shutting down, try again later");
  const [partsRead, objectRead, chunksRead] = await read;
  const reason = "The server is shutting down, try again later";
  expect(partsRead.at(-1)).toEqual({ type: "abort", reason });
  expect(objectRead.at(-1)).toEqual({ type: "error", error: reason });
  expect(chunksRead.slice(-2)).toEqual([{ type: "abort", reason }, { type: "[DONE]" }]);
  await closing;
  await restart();
  const attached = await server.stream("/agents/held/chat/stop-chat/stream");
  expect(attached.status).toBe(200);
  gates.open("stop-chat");
  expect((await attached.rest()).slice(-2)).toMatchObject([{ type: "finish" }, { type: "[DONE]" }]);
  const { messages } = dataOf(await server.get("/api/conversations/stop-chat/messages"));
  expect(messages).toMatchObject([{ role: "user" }, { role: "assistant" }]);
  expect(JSON.stringify(messages)).toContain("first second third");
});
