// Loops, sleeps, retries, deadlines and events of bodies, as callers over HTTP see them.
import { createWorkflow, PublicError } from "@andante/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { typesOf } from "../support/event-reader.ts";
import { ended } from "../support/executions.ts";
import { dataOf, errorOf, fieldsOf, listOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const anything = z.unknown();
let failures = 0;

const workflows = {
  batch: createWorkflow({ id: "batch", input: z.array(z.number()) })
    .andForEach({
      id: "each",
      concurrency: 2,
      step: (item) => item.andThen({ id: "double", execute: ({ data }) => data * 2 }),
    })
    .andSleep({ id: "breathe", duration: 20 })
    .andThen({
      id: "sum",
      execute: ({ data, emit }) => {
        emit("progress", { percent: 100 });
        return data.reduce((sum, one) => sum + one, 0);
      },
    }),
  flaky: createWorkflow({ id: "flaky", input: anything }).andThen({
    id: "once",
    retry: { attempts: 2, delay: 10 },
    execute: ({ attempt }) => {
      if (attempt === 1) throw new PublicError(`try ${++failures}`);
      return "second";
    },
  }),
  patient: createWorkflow({ id: "patient", input: anything }).andThen({
    id: "gate",
    execute: ({ suspend, resumeData }) =>
      resumeData === undefined
        ? suspend("please", undefined, { deadline: 60, onDeadline: { resume: "nobody came" } })
        : resumeData,
  }),
  lazy: createWorkflow({ id: "lazy", input: anything, timeout: 60 }).andSleep({ id: "nap", duration: "1h" }),
};

const server = await serveForTest({ workflows });

describe("a workflow with a list and a sleep", () => {
  test("shows its steps with their kinds, and the steps inside", async () => {
    const data = dataOf(await server.get("/workflows/batch"));
    expect(listOf(data, "steps").map(({ type }) => type)).toEqual(["andForEach", "andSleep", "andThen"]);
    expect(listOf(listOf(data, "steps")[0] ?? {}, "steps")).toMatchObject([
      { id: "double", type: "andThen" },
    ]);
  });

  test("execute waits through the sleep for the result", async () => {
    const data = dataOf(await server.post("/workflows/batch/execute", { input: [1, 2, 3] }));
    expect(data).toMatchObject({ status: "completed", result: 12, endAt: timestamp });
  });

  test("its stream has items, sleep and the body's own event, and ends with the result", async () => {
    const events = await (await server.stream("/workflows/batch/stream", { input: [1] })).rest();
    expect(typesOf(events)).toEqual([
      "workflow-start",
      "step-start",
      "step-start",
      "step-complete",
      "step-complete",
      "step-start",
      "step-complete",
      "step-start",
      "progress",
      "step-complete",
      "workflow-complete",
      "workflow-result",
    ]);
    expect(events[2]).toMatchObject({ from: "double", stepPath: "each[0]/double", stepIndex: 0 });
    expect(events[8]).toMatchObject({ from: "sum", data: { percent: 100 }, attempt: 1 });
  });
});

test("a failed attempt is an event with its number, its words as public as the step made them", async () => {
  const events = await (await server.stream("/workflows/flaky/stream", { input: {} })).rest();
  expect(events.find(({ type }) => type === "step-retry")).toMatchObject({
    from: "once",
    attempt: 1,
    error: expect.stringMatching(/^try \d+$/),
    retryAt: timestamp,
  });
  expect(events.at(-1)).toMatchObject({ status: "completed", result: "second" });
});

test("a suspension shows its deadline, and answers itself", async () => {
  const data = dataOf(await server.post("/workflows/patient/execute", { input: {} }));
  expect(fieldsOf(data, "suspension")).toMatchObject({ reason: "please", deadline: timestamp });
  const executionId = textOf(data, "executionId");
  const events = await (await server.stream(`/workflows/patient/executions/${executionId}/stream`)).rest();
  expect(events.find(({ type }) => type === "workflow-resumed")).toMatchObject({
    resumeData: "nobody came",
    byDeadline: true,
  });
  expect(events.at(-1)).toMatchObject({ status: "completed", result: "nobody came" });
  const late = await server.post(`/workflows/patient/executions/${executionId}/resume`, { resumeData: 1 });
  expect(errorOf(late, 404)).toContain("not suspended");
});

test("an execution that takes longer than its workflow allows is the contract's 500", async () => {
  const answer = await server.post("/workflows/lazy/execute", { input: {} });
  expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
  const executionId = answer.headers.get("x-execution-id") ?? "";
  expect(await ended(server, "lazy", executionId)).toMatchObject({ status: "error" });
});
