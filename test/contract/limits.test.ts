// Sizes that the server bounds: inputs and answers are 413, and say how large they are
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, listOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const ask = createWorkflow({ id: "ask", input: z.string() }).andThen({
  id: "ask",
  execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend() : "thanks"),
});
const grow = createWorkflow({ id: "grow", input: z.int() }).andThen({
  id: "grow",
  execute: ({ data }) => "x".repeat(data),
});

const limits = { input: 100, resumeData: 200, output: 300 };
const server = await serveForTest({ workflows: { ask, grow }, limits });

test.each(["execute", "stream"])("an input that is too large: %s", async (how) => {
  const body = { input: "x".repeat(99), options: { executionId: "too-large" } };
  const message = errorOf(await server.post(`/workflows/ask/${how}`, body), 413);
  expect(message).toBe("Input is 101 bytes; the limit is 100 (limits.input)");
  expect((await server.get("/workflows/ask/executions/too-large/state")).status).toBe(404);
});

test("an answer that is too large leaves the execution waiting", async () => {
  const { executionId } = dataOf(await server.post("/workflows/ask/execute", { input: "x".repeat(98) }));
  const resume = (length: number) =>
    server.post(`/workflows/ask/executions/${executionId}/resume`, { resumeData: "x".repeat(length) });
  expect(errorOf(await resume(199), 413)).toBe(
    "Resume data is 201 bytes; the limit is 200 (limits.resumeData)",
  );
  expect(dataOf(await resume(198))).toMatchObject({ status: "completed", result: "thanks" });
});

test("a step with too large an output fails; the journal has the reason, the caller learns no more than of any failure", async () => {
  const options = { executionId: "grown" };
  const answer = await server.post("/workflows/grow/execute", { input: 299, options });
  expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
  const events = payloadOf(await server.get("/workflows/grow/executions/grown/events"));
  const failed = listOf({ events }, "events").find(({ type }) => type === "step-error");
  expect(failed?.error).toMatchObject({
    name: "OutputLimitError",
    message: expect.stringContaining("Output of step grow is 301 bytes; the limit is 300 (limits.output)"),
  });
});
