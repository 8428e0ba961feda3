// GET /workflows/:id/executions/:executionId/stream
import { describe, expect, test } from "vitest";
import { typesOf } from "../support/event-reader.ts";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: unknown, what = "stream") =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;

async function finished(on = server): Promise<{ executionId: unknown; streamed: Fields[] }> {
  const stream = await on.stream("/workflows/sum/stream", { input: { a: 1 } });
  const streamed = await stream.rest();
  return { executionId: stream.headers.get("x-execution-id"), streamed };
}

describe("a finished execution", () => {
  test("is replayed whole: the events that POST stream sent, and workflow-result last", async () => {
    const { executionId, streamed } = await finished();
    const stream = await server.stream(at("sum", executionId));
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(stream.headers.get("x-execution-id")).toBe(executionId);
    const replayed = await stream.rest();
    expect(replayed.slice(0, -1)).toEqual(streamed.slice(0, -1));
    expect(replayed.at(-1)).toEqual({ ...streamed.at(-1), timestamp: replayed.at(-1)?.timestamp });
  });

  test("has an id line with its number on each journaled event, and none on workflow-result", async () => {
    const { executionId } = await finished();
    const stream = await server.stream(at("sum", executionId));
    const events = await stream.rest();
    expect(stream.ids).toEqual([...events.slice(0, -1).map((event) => String(event.sequence)), null]);
  });

  test.each(["?after=3", "Last-Event-ID"])("is replayed from after an event: %s", async (how) => {
    const { executionId, streamed } = await finished();
    const stream =
      how === "Last-Event-ID"
        ? await server.stream(at("sum", executionId), undefined, { "last-event-id": "3" })
        : await server.stream(at("sum", executionId) + how);
    expect((await stream.rest()).slice(0, -1)).toEqual(streamed.slice(3, -1));
  });

  test("is 204 at its end, and beyond it: a browser stops there", async () => {
    const { executionId, streamed } = await finished();
    const lastNumber = streamed.length - 1;
    for (const after of [lastNumber, lastNumber + 1, 999_999]) {
      const answer = await server.get(`${at("sum", executionId)}?after=${after}`);
      expect(answer.status).toBe(204);
      expect(answer.text).toBe("");
      expect(answer.headers.get("x-execution-id")).toBe(executionId);
    }
    const answer = await server.get(at("sum", executionId), { "last-event-id": String(lastNumber) });
    expect(answer.status).toBe(204);
  });

  test("shows failures in words for everyone", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} });
    const stream = await server.stream(at("failing", answer.headers.get("x-execution-id")));
    const events = await stream.rest();
    expect(typesOf(events).slice(-2)).toEqual(["workflow-error", "workflow-result"]);
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });
});

describe("a running execution", () => {
  test("is replayed up to now, then followed live to the end", async () => {
    const executionId = await startGated(server, "attach");
    const stream = await server.stream(at("gated", executionId));
    await stream.until("step-complete");
    expect(await stream.next()).toMatchObject({ type: "step-start", from: "wait" });
    gates.open("attach");
    expect(typesOf(await stream.rest())).toEqual([
      "step-complete",
      "step-start",
      "step-complete",
      "workflow-complete",
      "workflow-result",
    ]);
  });

  test("is followed by several at once; each sees the same", async () => {
    const executionId = await startGated(server, "attach-many");
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => server.stream(at("gated", executionId))),
    );
    gates.open("attach-many");
    const seen = await Promise.all(streams.map((stream) => stream.rest()));
    for (const events of seen) expect(events.slice(0, -1)).toEqual(seen[0]?.slice(0, -1));
    expect(typesOf(seen[0] ?? []).at(-1)).toBe("workflow-result");
  });

  test("ends the stream also for a client that asked from beyond its last event", async () => {
    const executionId = await startGated(server, "attach-beyond");
    const stream = await server.stream(`${at("gated", executionId)}?after=1000`);
    gates.open("attach-beyond");
    expect(typesOf(await stream.rest()).at(-1)).toBe("workflow-result");
  });
});

test("the stream continues through suspensions until the end", async () => {
  const { executionId } = await startApproval(server);
  const stream = await server.stream(at("approval", executionId));
  await stream.until("workflow-suspended");
  const resumed = await server.post(at("approval", executionId, "resume"), {
    resumeData: { approved: true },
  });
  expect(dataOf(resumed).status).toBe("completed");
  const events = await stream.rest();
  expect(typesOf(events)[0]).toBe("workflow-resumed");
  expect(typesOf(events).filter((type) => type === "workflow-result")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
});

test("the stream of an execution that is cancelled ends with workflow-cancelled, workflow-result", async () => {
  const { executionId } = await startApproval(server);
  const stream = await server.stream(at("approval", executionId));
  await stream.until("workflow-suspended");
  dataOf(await server.post(at("approval", executionId, "cancel")));
  expect(typesOf(await stream.rest())).toEqual(["workflow-cancelled", "workflow-result"]);
});

test("?after= counts before Last-Event-ID", async () => {
  const { executionId, streamed } = await finished();
  const stream = await server.stream(`${at("sum", executionId)}?after=4`, undefined, {
    "last-event-id": "1",
  });
  expect((await stream.rest())[0]).toEqual(streamed[4]);
});

test("HEAD answers like GET, without a body", async () => {
  const { executionId } = await finished();
  const response = await fetch(server.url + at("sum", executionId), { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe("");
});

describe("after a restart on the same file", () => {
  test("a finished execution is replayed as before, and is 204 at its end", async () => {
    const file = temporaryFile();
    let running = await serveForTest({ store: file.open() });
    const { executionId, streamed } = await finished(running);
    await running.close();
    running = await serveForTest({ store: file.open() });
    const replayed = await (await running.stream(at("sum", executionId))).rest();
    expect(replayed.slice(0, -1)).toEqual(streamed.slice(0, -1));
    expect((await running.get(`${at("sum", executionId)}?after=${streamed.length - 1}`)).status).toBe(204);
  });

  test("a client continues where it was, through the rest of a suspended execution", async () => {
    const file = temporaryFile();
    let running = await serveForTest({ store: file.open() });
    const { executionId } = await startApproval(running);
    const before = await running.stream(at("approval", executionId));
    await before.until("workflow-suspended");
    await running.close();
    expect(typesOf(await before.rest()), "closed without workflow-result").toEqual([]);
    const lastId = before.ids.at(-1) ?? "";
    running = await serveForTest({ store: file.open() });
    const after = await running.stream(at("approval", executionId), undefined, { "last-event-id": lastId });
    dataOf(await running.post(at("approval", executionId, "resume"), { resumeData: { approved: true } }));
    const events = await after.rest();
    expect(events[0]).toMatchObject({ type: "workflow-resumed", sequence: Number(lastId) + 1 });
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
  });
});

describe("wrong requests", () => {
  test.each(["-1", "x", "1.5", "1e99", "99999999999999999999"])("after=%s is 400", async (after) => {
    const { executionId } = await finished();
    errorOf(await server.get(`${at("sum", executionId)}?after=${after}`), 400);
  });

  test.each(["-1", "x", "1.5", "99999999999999999999"])("Last-Event-ID %s is 400", async (id) => {
    const { executionId } = await finished();
    expect(errorOf(await server.get(at("sum", executionId), { "last-event-id": id }), 400)).toMatch(
      /Last-Event-ID/,
    );
  });

  test("an empty Last-Event-ID begins at the beginning", async () => {
    const { executionId, streamed } = await finished();
    const stream = await server.stream(at("sum", executionId), undefined, { "last-event-id": "" });
    expect((await stream.rest())[0]).toEqual(streamed[0]);
  });

  test("unknown workflow, unknown execution, execution of another workflow: 404 as JSON", async () => {
    const { executionId } = await finished();
    expect(errorOf(await server.get(`${at("nope", "x")}?after=x`), 404)).toBe("Workflow nope not found");
    errorOf(await server.get(at("sum", "x")), 404);
    errorOf(await server.get(at("gated", executionId)), 404);
  });
});
