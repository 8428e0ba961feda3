// POST /workflows/:id/executions/:executionId/replay
import { describe, expect, test } from "vitest";
import { typesOf } from "../support/event-reader.ts";
import { ended, startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, listOf, payloadOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: unknown, what: string) =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;
const replay = (workflow: string, executionId: unknown, body?: unknown, headers?: Record<string, string>) =>
  server.post(at(workflow, executionId, "replay"), body, headers);
const execute = async (workflow: string, input: unknown, options: Fields = {}) =>
  textOf(dataOf(await server.post(`/workflows/${workflow}/execute`, { input, options })), "executionId");
const eventsOf = async (workflow: string, executionId: unknown) =>
  listOf({ events: payloadOf(await server.get(at(workflow, executionId, "events"))) }, "events");

test("an ended execution is replayed from a step: a new one with a journal and a lineage of its own", async () => {
  const source = await execute("sum", { a: 1 }, { executionId: "replay-source" });
  const answer = await replay("sum", source, { stepId: "wrap" });
  const data = dataOf(answer);
  expect(data).toEqual({
    executionId: expect.any(String),
    startAt: timestamp,
    endAt: timestamp,
    status: "completed",
    result: { total: 2 },
  });
  expect(data.executionId).not.toBe(source);
  expect(answer.headers.get("x-execution-id")).toBe(data.executionId);
  const replayOf = { executionId: source, stepId: "wrap" };
  const state = dataOf(await server.get(at("sum", data.executionId, "state")));
  expect(state).toMatchObject({ replayOf, input: { a: 1 } });
  const [listed] = listOf(dataOf(await server.get(`/api/executions?id=${data.executionId}`)), "executions");
  expect(listed?.replayOf).toEqual(replayOf);
  const events = await eventsOf("sum", data.executionId);
  expect(events[0]).toMatchObject({ type: "workflow-start", replayOf });
  expect(typesOf(events)).toEqual(typesOf(await eventsOf("sum", source)));
  expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
  // Streams replay it like any other.
  const stream = await server.stream(at("sum", data.executionId, "stream"));
  expect((await stream.rest()).at(-1)).toMatchObject({ type: "workflow-result", result: { total: 2 } });
});

test("the replays of an execution are a list, newest first, in pages and with counts", async () => {
  const source = await execute("sum", { a: 1 }, { executionId: "replayed-twice" });
  const first = dataOf(await replay("sum", source, { stepId: "wrap" })).executionId;
  const second = dataOf(await replay("sum", source, { stepId: "add" })).executionId;
  await replay("sum", first, { stepId: "wrap" });
  const page = async (query: string) =>
    listOf(dataOf(await server.get(`/api/executions?replayOf=${source}${query}`)), "executions");
  expect((await page("")).map(({ executionId }) => executionId)).toEqual([second, first]);
  expect(await page("&limit=1")).toMatchObject([{ executionId: second, replayOf: { stepId: "add" } }]);
  expect(await page("&status=error")).toEqual([]);
  const counts = dataOf(await server.get(`/api/execution-counts?replayOf=${source}`));
  expect(counts.completed).toEqual({ count: 2, more: false });
  const ofWorkflow = `/workflows/sum/executions?replayOf=${source}`;
  expect(listOf(dataOf(await server.get(ofWorkflow)), "executions")).toHaveLength(2);
});

test("a suspended one stays as it is, while its replay waits for an answer of its own", async () => {
  const { executionId } = await startApproval(server);
  const data = dataOf(await replay("approval", executionId, { stepId: "approve" }));
  expect(data).toMatchObject({ status: "suspended", suspension: { stepId: "approve" } });
  const resumeData = { approved: true };
  const done = dataOf(await server.post(at("approval", data.executionId, "resume"), { resumeData }));
  expect(done).toMatchObject({ status: "completed", result: { text: "About tests", approved: true } });
  expect(dataOf(await server.get(at("approval", executionId, "state")))).toMatchObject({
    status: "suspended",
  });
});

test("Prefer: respond-async answers 202 with the place to look", async () => {
  const executionId = await startGated(server, "replay-async");
  gates.open("replay-async");
  await ended(server, "gated", executionId);
  const answer = await replay("gated", executionId, { stepId: "wait" }, { prefer: "respond-async" });
  const data = dataOf(answer, 202);
  expect(answer.headers.get("location")).toBe(at("gated", data.executionId, "state"));
  expect(await ended(server, "gated", textOf(data, "executionId"))).toMatchObject({ status: "completed" });
});

describe("options.executionId", () => {
  test("makes it idempotent: the same source and step answer as that execution does", async () => {
    const source = await execute("sum", { a: 5 });
    const body = { stepId: "wrap", options: { executionId: "replay-once" } };
    const first = dataOf(await replay("sum", source, body));
    expect(dataOf(await replay("sum", source, body))).toEqual(first);
    const both = await Promise.all([replay("sum", source, body), replay("sum", source, body)]);
    expect(both.map((answer) => dataOf(answer))).toEqual([first, first]);
  });

  test("answers also when the source has been resumed meanwhile and runs", async () => {
    const input = { door: "replay-again" };
    const source = await execute("gated-approval", input);
    const body = { stepId: "ask", options: { executionId: "replay-again" } };
    const first = dataOf(await replay("gated-approval", source, body));
    expect(first.status).toBe("suspended");
    const prefer = { prefer: "respond-async" };
    dataOf(await server.post(at("gated-approval", source, "resume"), { resumeData: 1 }, prefer), 202);
    await gates.arrival("replay-again");
    expect(dataOf(await replay("gated-approval", source, body))).toEqual(first);
    gates.open("replay-again");
    await ended(server, "gated-approval", source);
  });

  test("is 409 when it was used for anything else", async () => {
    const source = await execute("sum", { a: 6 }, { executionId: "replay-taken" });
    const inUse = (id: string) => `Execution id ${id} is already in use`;
    const options = { executionId: "replay-taken" };
    expect(errorOf(await replay("sum", source, { stepId: "wrap", options }), 409)).toBe(
      inUse("replay-taken"),
    );
    const mine = { executionId: "replay-mine" };
    dataOf(await replay("sum", source, { stepId: "wrap", options: mine }));
    expect(errorOf(await replay("sum", source, { stepId: "add", options: mine }), 409)).toBe(
      inUse("replay-mine"),
    );
    const start = await server.post("/workflows/sum/execute", { input: { a: 6 }, options: mine });
    expect(errorOf(start, 409)).toBe(inUse("replay-mine"));
  });
});

describe("it is refused", () => {
  test("while the source is running", async () => {
    const executionId = await startGated(server, "replay-running");
    const message = errorOf(await replay("gated", executionId, { stepId: "before" }), 400);
    expect(message).toBe(`Cannot replay execution ${executionId}: it is still running`);
    gates.open("replay-running");
    await ended(server, "gated", executionId);
  });

  test("from a step that the workflow does not have, or that lies inside another", async () => {
    const executionId = await execute("everything", { text: "x" });
    for (const stepId of ["nope", "one", "all/one", ""]) {
      const message = errorOf(await replay("everything", executionId, { stepId }), 400);
      expect(message).toContain(`the workflow has no top-level step "${stepId}"`);
    }
  });

  test("from a step that has not been reached", async () => {
    const { executionId } = await startApproval(server);
    const message = errorOf(await replay("approval", executionId, { stepId: "publish" }), 400);
    expect(message).toBe(`Cannot replay execution ${executionId}: the step "publish" has not been reached`);
  });

  test("for unknown executions and those of another workflow", async () => {
    const executionId = await execute("sum", { a: 1 });
    for (const [workflow, id] of [
      ["sum", "nope"],
      ["approval", executionId],
    ]) {
      const message = errorOf(await replay(workflow ?? "", id, { stepId: "draft" }), 404);
      expect(message).toBe(`Execution ${id} not found`);
    }
    expect(errorOf(await replay("nope", executionId, { stepId: "a" }), 404)).toBe("Workflow nope not found");
  });

  test.each<[string, unknown]>([
    ["no body", undefined],
    ["no stepId", {}],
    ["a stepId that is no text", { stepId: 1 }],
    ["options that are no object", { stepId: "wrap", options: 1 }],
    ["an empty executionId", { stepId: "wrap", options: { executionId: "" } }],
    ["an executionId that no address can hold", { stepId: "wrap", options: { executionId: ".." } }],
  ])("with %s: 400", async (_, body) => {
    const executionId = await execute("sum", { a: 1 });
    errorOf(await replay("sum", executionId, body), 400);
  });
});
