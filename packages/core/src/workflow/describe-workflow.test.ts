// A workflow as JSON: the contract's names, schemas whole.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "./create-workflow.ts";
import { describeWorkflow } from "./describe-workflow.ts";
import { andAll, andThen } from "./steps/free-steps.ts";

const input = z.object({
  email: z.email().describe("Whom to write to"),
  size: z.int().min(1).max(10).default(3),
  tags: z.array(z.string().min(2)).max(5).optional(),
});

describe("describeWorkflow", () => {
  test("has the contract's fields", () => {
    const workflow = createWorkflow({ id: "publish", name: "Publish", purpose: "Publishes", input }).andThen({
      id: "draft",
      purpose: "Drafts",
      execute: () => 1,
    });
    expect(describeWorkflow(workflow)).toMatchObject({
      id: "publish",
      name: "Publish",
      purpose: "Publishes",
      stepsCount: 1,
      steps: [{ id: "draft", name: "draft", type: "andThen", purpose: "Drafts" }],
      suspendSchema: null,
      resumeSchema: null,
      resultSchema: null,
    });
    expect(Object.keys(describeWorkflow(workflow).steps[0] ?? {})).toEqual(["id", "name", "type", "purpose"]);
  });

  test("keeps descriptions, formats, bounds and defaults; a field with a default is not required", () => {
    const { inputSchema } = describeWorkflow(createWorkflow({ id: "a", input }));
    expect(inputSchema).toMatchObject({
      type: "object",
      properties: {
        email: { type: "string", format: "email", description: "Whom to write to" },
        size: { type: "integer", minimum: 1, maximum: 10, default: 3 },
        tags: { type: "array", maxItems: 5, items: { type: "string", minLength: 2 } },
      },
      required: ["email"],
    });
  });

  test("shows the input types of input and resume schemas, and the output types of the others", () => {
    const schema = z.object({ n: z.number().default(1) });
    const workflow = createWorkflow({
      id: "a",
      input: schema,
      result: schema,
      suspendSchema: schema,
      resumeSchema: schema,
    }).andThen({
      id: "gate",
      inputSchema: schema,
      outputSchema: schema,
      suspendSchema: schema,
      resumeSchema: schema,
      execute: () => ({ n: 1 }),
    });
    const described = describeWorkflow(workflow);
    const [step] = described.steps;
    for (const each of [
      described.inputSchema,
      described.resumeSchema,
      step?.inputSchema,
      step?.resumeSchema,
    ]) {
      expect(each).not.toHaveProperty("required");
    }
    const outgoing = [
      described.resultSchema,
      described.suspendSchema,
      step?.outputSchema,
      step?.suspendSchema,
    ];
    for (const each of outgoing) expect(each).toMatchObject({ required: ["n"] });
  });

  test("has the steps inside containers, at any depth", () => {
    const child = createWorkflow({ id: "child", input: z.object({}) }).andThen({ id: "c", execute: () => 1 });
    const agent = { generate: async () => ({ text: "" }) };
    const workflow = createWorkflow({ id: "a", input: z.object({}) })
      .andAll({
        id: "all",
        steps: [
          andAll({ id: "inner", steps: [andThen({ id: "x", execute: () => 1 })] }),
          (chain) => chain.andThen({ id: "y", execute: () => 1 }).andTap({ id: "z", execute: () => 1 }),
        ],
      })
      .andWhen({
        id: "when",
        condition: () => true,
        step: andThen({ id: "w", execute: () => ({}) }),
      })
      .andThen({ id: "then", execute: () => ({}) })
      .andWorkflow({ id: "sub", workflow: child })
      .andAgent({ id: "agent", agent, prompt: "p", schema: z.object({ answer: z.string() }) });
    const { steps } = describeWorkflow(workflow);
    expect(steps).toMatchObject([
      { type: "andAll", steps: [{ type: "andAll", steps: [{ id: "x" }] }, { id: "y" }, { id: "z" }] },
      { type: "andWhen", steps: [{ id: "w" }] },
      { type: "andThen" },
      { type: "andWorkflow", steps: [{ id: "c" }] },
      { type: "andAgent", outputSchema: { properties: { answer: { type: "string" } } } },
    ]);
  });

  test("describes types that JSON Schema cannot express as anything, and keeps the rest", () => {
    const odd = z.object({
      at: z.coerce.date().describe("When"),
      big: z.bigint().optional(),
      name: z.string(),
    });
    const { inputSchema } = describeWorkflow(createWorkflow({ id: "a", input: odd }));
    expect(inputSchema).toMatchObject({
      properties: { at: { description: "When" }, big: {}, name: { type: "string" } },
      required: ["at", "name"],
    });
  });

  test("a schema that cannot be described at all is refused where it is defined", () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => {
            throw new Error("no words");
          },
          output: () => ({}),
        },
      },
    };
    expect(() => createWorkflow({ id: "a", input: schema })).toThrow(
      'Workflow "a", input: the schema cannot be written as JSON Schema: no words',
    );
  });

  test("shows the steps inside loops and branches", () => {
    const one = (id: string) => andThen({ id, execute: () => 1 });
    const workflow = createWorkflow({ id: "a", input: z.array(z.number()) })
      .andForEach({ id: "each", step: one("b") })
      .andBranch({
        id: "branch",
        branches: [
          { condition: () => true, step: one("c") },
          { condition: () => true, step: one("d") },
        ],
      })
      .andSleep({ id: "nap", duration: 1 });
    const steps = describeWorkflow(workflow).steps.map(({ type, steps }) => [
      type,
      steps?.map(({ id }) => id),
    ]);
    expect(steps).toEqual([
      ["andForEach", ["b"]],
      ["andBranch", ["c", "d"]],
      ["andSleep", undefined],
    ]);
  });
});
