// POST /workflows/:id/executions/:executionId/resume
import { describe, expect, test } from "vitest";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, fieldsOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: unknown, what = "resume") =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;
const stateOf = async (workflow: string, executionId: unknown) =>
  dataOf(await server.get(at(workflow, executionId, "state")));
const start = async (workflow: string, input: unknown = {}) =>
  dataOf(await server.post(`/workflows/${workflow}/execute`, { input }));

describe("valid resume data", () => {
  test("completes a suspended execution; the response carries result and endAt, and no suspension", async () => {
    const started = await startApproval(server);
    const answer = await server.post(at("approval", started.executionId), { resumeData: { approved: true } });
    expect(dataOf(answer)).toEqual({
      executionId: started.executionId,
      startAt: started.startAt,
      endAt: timestamp,
      status: "completed",
      result: { text: "About tests", approved: true, published: true },
    });
    expect(answer.headers.get("x-execution-id")).toBe(started.executionId);
  });

  test("is any JSON where no schema is declared", async () => {
    for (const resumeData of [0, false, "", [], { deep: [null] }]) {
      const { executionId } = await start("twice");
      dataOf(await server.post(at("twice", executionId), { resumeData }));
      const data = dataOf(await server.post(at("twice", executionId), { resumeData }));
      expect(data.result).toEqual({ first: resumeData, second: resumeData });
    }
  });

  test("arrives as null when the body is absent, or null is sent", async () => {
    const { executionId } = await start("twice");
    dataOf(await server.post(at("twice", executionId)));
    const data = dataOf(await server.post(at("twice", executionId), { resumeData: null, options: null }));
    expect(data.result).toEqual({ first: null, second: null });
  });
});

test("a later step that suspends again answers 200 with status suspended", async () => {
  const { executionId } = await start("twice");
  const data = dataOf(await server.post(at("twice", executionId), { resumeData: 1 }));
  expect(data).toMatchObject({
    executionId,
    endAt: null,
    status: "suspended",
    result: null,
    suspension: { reason: "again", suspendedStepIndex: 1 },
  });
});

describe("resume data that fails the schema is 400 and leaves the execution suspended:", () => {
  test.each([
    ["wrong type", { resumeData: { approved: "yes" } }],
    ["missing field", { resumeData: {} }],
    ["null", { resumeData: null }],
    ["absent", {}],
    ["no body", undefined],
  ])("%s", async (_, body) => {
    const { executionId } = await startApproval(server);
    const before = await stateOf("approval", executionId);
    const message = errorOf(await server.post(at("approval", executionId), body), 400);
    expect(message).toMatch(/^Resume data validation failed: /);
    expect(await stateOf("approval", executionId)).toEqual(before);
    dataOf(await server.post(at("approval", executionId), { resumeData: { approved: true } }));
  });

  test("the workflow's schema counts where the step has none", async () => {
    const { executionId } = await start("both");
    const body = { resumeData: { answer: "x" }, options: { stepId: "left" } };
    expect(errorOf(await server.post(at("both", executionId), body), 400)).toMatch(/answer/);
  });
});

describe("an execution that is not in suspended state is 404 and unchanged:", () => {
  test("completed", async () => {
    const { executionId } = await start("sum", { a: 1 });
    const before = await stateOf("sum", executionId);
    errorOf(await server.post(at("sum", executionId), { resumeData: 1 }), 404);
    expect(await stateOf("sum", executionId)).toEqual(before);
  });

  test("running", async () => {
    const executionId = await startGated(server, "resume-running");
    errorOf(await server.post(at("gated", executionId), { resumeData: 1 }), 404);
    expect((await stateOf("gated", executionId)).status).toBe("running");
    gates.open("resume-running");
  });

  test("error", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} });
    errorOf(await server.post(at("failing", answer.headers.get("x-execution-id")), {}), 404);
  });

  test("cancelled", async () => {
    const { executionId } = await startApproval(server);
    dataOf(await server.post(at("approval", executionId, "cancel")));
    errorOf(await server.post(at("approval", executionId), { resumeData: { approved: true } }), 404);
  });

  test("resumed before", async () => {
    const { executionId } = await startApproval(server);
    const body = { resumeData: { approved: true } };
    dataOf(await server.post(at("approval", executionId), body));
    errorOf(await server.post(at("approval", executionId), body), 404);
  });

  test("unknown", async () => {
    errorOf(await server.post(at("approval", "nope"), { resumeData: { approved: true } }), 404);
  });

  test("of another workflow", async () => {
    const { executionId } = await startApproval(server);
    errorOf(await server.post(at("twice", executionId), { resumeData: 1 }), 404);
    expect((await stateOf("approval", executionId)).status).toBe("suspended");
  });
});

test("of twenty simultaneous resumes one wins and the others get 404", async () => {
  const { executionId } = await startApproval(server);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      server.post(at("approval", executionId), { resumeData: { approved: true } }),
    ),
  );
  const statuses = answers.map((answer) => answer.status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 404)]);
});

test("a workflow that fails after the resume is 500 `Failed to execute workflow` with x-execution-id", async () => {
  const { executionId } = await start("failing-later");
  const answer = await server.post(at("failing-later", executionId), { resumeData: 1 });
  expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
  expect(answer.headers.get("x-execution-id")).toBe(executionId);
  expect(await stateOf("failing-later", executionId)).toMatchObject({
    status: "error",
    error: "The printer is out of paper",
  });
});

describe("options.stepId", () => {
  const resume = (executionId: unknown, stepId: string, answer: number) =>
    server.post(at("both", executionId), { resumeData: { answer }, options: { stepId } });

  test("names the step to answer, by id or path, when several wait", async () => {
    const { executionId } = await start("both");
    const first = dataOf(await resume(executionId, "right", 2));
    expect(first).toMatchObject({ status: "suspended", suspension: { stepPath: "fork/left" } });
    const second = dataOf(await resume(executionId, "fork/left", 1));
    expect(second).toMatchObject({ status: "completed", result: [{ answer: 1 }, { answer: 2 }] });
  });

  test("left out while several wait is 400 that lists the paths", async () => {
    const { executionId } = await start("both");
    const message = errorOf(await server.post(at("both", executionId), { resumeData: { answer: 1 } }), 400);
    expect(message).toContain("fork/left, fork/right");
  });

  test("of an earlier step goes back to it", async () => {
    const { executionId } = await start("twice");
    dataOf(await server.post(at("twice", executionId), { resumeData: "old" }));
    const rewound = await server.post(at("twice", executionId), {
      resumeData: "new",
      options: { stepId: "first" },
    });
    expect(dataOf(rewound)).toMatchObject({ status: "suspended", suspension: { stepId: "second" } });
    const data = dataOf(await server.post(at("twice", executionId), { resumeData: 2 }));
    expect(data.result).toEqual({ first: "new", second: 2 });
  });

  test.each([
    ["unknown", "nope"],
    ["later", "publish"],
  ])("of an %s step is 400 and changes nothing", async (_, stepId) => {
    const { executionId } = await startApproval(server);
    const before = await stateOf("approval", executionId);
    const body = { resumeData: { approved: true }, options: { stepId } };
    expect(errorOf(await server.post(at("approval", executionId), body), 400)).toContain(stepId);
    expect(await stateOf("approval", executionId)).toEqual(before);
  });

  test("of the wrong type is 400", async () => {
    const { executionId } = await startApproval(server);
    const body = { resumeData: { approved: true }, options: { stepId: 1 } };
    expect(errorOf(await server.post(at("approval", executionId), body), 400)).toMatch(/options\.stepId/);
  });
});

describe("options.suspensionId", () => {
  test("pins the suspension that the caller saw", async () => {
    const started = await start("twice");
    const pinned = { suspensionId: fieldsOf(started, "suspension").suspensionId };
    const path = at("twice", started.executionId);
    dataOf(await server.post(path, { resumeData: 1, options: pinned }));
    errorOf(await server.post(path, { resumeData: 2, options: pinned }), 404);
    expect(await stateOf("twice", started.executionId)).toMatchObject({ suspension: { stepId: "second" } });
  });
});

test("a pause that is lifted answers no waiting step by accident", async () => {
  const options: Fields = { executionId: "pause-and-gate" };
  const waiting = server.post("/workflows/gated/execute", { input: { door: "pause-gate" }, options });
  await gates.arrival("pause-gate");
  dataOf(await server.post(at("gated", "pause-and-gate", "suspend"), {}));
  dataOf(await waiting);
  gates.open("pause-gate");
  const data = dataOf(await server.post(at("gated", "pause-and-gate"), { resumeData: { ignored: true } }));
  expect(data).toMatchObject({ status: "completed", result: { passed: "pause-gate" } });
});

test("the resumed step sees its answer, and the body runs again from its top", async () => {
  const { executionId } = await startApproval(server);
  dataOf(await server.post(at("approval", executionId), { resumeData: { approved: false } }));
  const state = await stateOf("approval", executionId);
  expect(textOf(state, "status")).toBe("completed");
  expect(state.result).toEqual({ text: "About tests", approved: false, published: false });
});
