// The examples of /doc succeed, each sent unchanged.
import { Agent } from "@andante/core";
import { demoModel } from "@andante/demo-model";
import { expect, test } from "vitest";
import { z } from "zod";
import { gates } from "../support/gates.ts";
import { dataOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { approval, gated, sum } from "../support/workflows.ts";

const writer = new Agent({ id: "writer", purpose: "Writes", model: demoModel(), instructions: "Write." });
const server = await serveForTest({ workflows: { sum, approval, gated }, agents: { writer } });

const examples = z.record(z.string(), z.object({ value: z.unknown() })).default({});
const operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ name: z.string(), examples })),
  requestBody: z
    .looseObject({
      // Forms have other types.
      content: z.looseObject({ "application/json": z.looseObject({ examples }).optional() }),
    })
    .optional(),
});
const document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) });

/** Every example with its route. */
const sent = await server.get("/doc").then(({ text }) =>
  Object.entries(document.parse(JSON.parse(text)).paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { operationId, parameters, requestBody }]) =>
      Object.entries(requestBody?.content["application/json"]?.examples ?? {}).map(([name, { value }]) => {
        const id = parameters.find((each) => each.name === "id")?.examples[name]?.value;
        return { operationId, name, method: method.toUpperCase(), path, id, body: value };
      }),
    ),
  ),
);

// The body of this workflow waits at the door that the example names.
for (const { id, body } of sent) {
  const started = z.object({ input: z.object({ door: z.string() }) }).safeParse(body);
  if (id === "gated" && started.success) gates.open(started.data.input.door);
}

/** An execution that the example can be about. */
async function executionFor(operationId: string, workflow: string): Promise<string> {
  if (operationId === "suspendExecution") {
    const body = { input: { door: "an example pauses it" } };
    const running = await server.post(`/workflows/${workflow}/execute`, body, { prefer: "respond-async" });
    return textOf(dataOf(running, 202), "executionId");
  }
  const input = sent.find((each) => each.operationId === "executeWorkflow" && each.name === workflow)?.body;
  return textOf(dataOf(await server.post(`/workflows/${workflow}/execute`, input)), "executionId");
}

test("each workflow and agent has its own", () => {
  const of = (wanted: string) =>
    sent.filter(({ operationId }) => operationId === wanted).map(({ name }) => name);
  expect(of("executeWorkflow")).toEqual(["sum", "approval", "gated"]);
  expect(of("resumeExecution")).toEqual(["approval"]);
  expect(of("generateText")).toEqual(["writer"]);
});

test.each(sent.map((each) => [`${each.operationId}, ${each.name}`, each] as const))(
  "%s",
  async (_, { operationId, method, path, id, body }) => {
    const fallback = operationId === "suspendExecution" ? "gated" : "approval";
    const owner = typeof id === "string" ? id : fallback;
    const executionId = path.includes("{executionId}") ? await executionFor(operationId, owner) : "";
    if (path.includes("{conversationId}")) {
      const options = { conversationId: "example", userId: "ada" };
      dataOf(await server.post("/agents/writer/text", { input: "Hello", options }));
    }
    const address = path
      .replace("{id}", owner)
      .replace("{executionId}", executionId)
      .replace("{conversationId}", "example");
    const response = await server.send(method, address, body);
    expect(response.status, response.text).toBe(200);
    expect(response.text).not.toContain('"type":"error"');
  },
);
