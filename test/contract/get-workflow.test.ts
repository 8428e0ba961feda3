// GET /workflows/:id
import { describe, expect, test } from "vitest";
import { dataOf, errorOf, fieldsOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const detail = async (id: string) => dataOf(await server.get(`/workflows/${encodeURIComponent(id)}`));

async function step(id: string) {
  const found = listOf(await detail("everything"), "steps").find((each) => each.id === id);
  if (found === undefined) throw new Error(`no step ${id}`);
  return found;
}

describe("a workflow detail", () => {
  test("contains all fields of the summary", async () => {
    expect(await detail("everything")).toMatchObject({
      id: "everything",
      name: "Everything",
      purpose: "Shows each step type",
      stepsCount: 8,
      status: "idle",
    });
  });

  test("lists the steps in order, each with id, name, type and purpose", async () => {
    const steps = listOf(await detail("everything"), "steps");
    expect(steps.map(({ id, name, type, purpose }) => [id, name, type, purpose])).toEqual([
      ["then", "First then", "andThen", "Goes first"],
      ["when", "when", "andWhen", ""],
      ["tap", "tap", "andTap", ""],
      ["all", "all", "andAll", ""],
      ["race", "race", "andRace", ""],
      ["agent", "agent", "andAgent", ""],
      ["workflow", "workflow", "andWorkflow", ""],
      ["gate", "gate", "andThen", ""],
    ]);
  });

  test("inputSchema is JSON Schema, converted from the internal schema: descriptions, bounds, defaults", async () => {
    const schema = fieldsOf(await detail("everything"), "inputSchema");
    expect(schema.type).toBe("object");
    expect(fieldsOf(schema, "properties")).toMatchObject({
      text: { type: "string", minLength: 1, description: "Any text" },
      times: { type: "integer", default: 2 },
    });
    expect(schema.required, "a field with a default is not required").toEqual(["text"]);
  });

  test("suspendSchema and resumeSchema are JSON Schema where the workflow declares them", async () => {
    const workflow = await detail("everything");
    expect(workflow.suspendSchema).toMatchObject({ type: "object", properties: { why: { type: "string" } } });
    expect(workflow.resumeSchema).toMatchObject({ type: "object", properties: { go: { type: "boolean" } } });
  });

  test("suspendSchema and resumeSchema are null when the workflow declares none", async () => {
    const workflow = await detail("sum");
    expect(workflow).toHaveProperty("suspendSchema", null);
    expect(workflow).toHaveProperty("resumeSchema", null);
  });
});

describe("a step", () => {
  test("carries inputSchema and outputSchema where it declares them", async () => {
    expect(await step("then")).toMatchObject({
      inputSchema: { type: "object", properties: { text: { type: "string" }, times: { type: "number" } } },
      outputSchema: { type: "object", properties: { text: { type: "string" } } },
    });
  });

  test("carries suspendSchema and resumeSchema where it can suspend", async () => {
    expect(await step("gate")).toMatchObject({
      suspendSchema: { type: "object", properties: { question: { type: "string" } } },
      resumeSchema: { type: "object", properties: { approved: { type: "boolean" } } },
    });
  });

  test("has no schema fields at all where it declares none", async () => {
    expect(Object.keys(await step("tap")).sort()).toEqual(["id", "name", "purpose", "type"]);
  });

  test("that holds others lists them", async () => {
    const inner = async (id: string) => listOf(await step(id), "steps").map((each) => each.id);
    expect(await inner("when")).toEqual(["shorten"]);
    expect(await inner("all")).toEqual(["one", "two"]);
    expect(await inner("race")).toEqual(["fast", "slow"]);
    expect(await inner("workflow")).toEqual(["inner"]);
  });
});

test("an unknown workflow is 404 `Workflow <id> not found`", async () => {
  expect(errorOf(await server.get("/workflows/nope"), 404)).toBe("Workflow nope not found");
});

test("the id is used in paths also when it needs encoding", async () => {
  expect((await detail("résumé 50% & more?")).id).toBe("résumé 50% & more?");
});
