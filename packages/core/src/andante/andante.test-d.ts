// The types of an Andante's workflows: a wrong id, input, resume data or step is a compile error.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import type { InferInput, InferResult, InferResume, SameAsOutput } from "../workflow/chain-types.ts";
import { createWorkflow } from "../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { andThen, andWorkflow } from "../workflow/steps/free-steps.ts";
import type { Workflow } from "../workflow/workflow.ts";
import type { Andante } from "./andante.ts";
import { createAndante } from "./create-andante.ts";

const publish = createWorkflow({
  id: "publish",
  input: z.object({ topic: z.string(), size: z.number().default(1) }),
})
  .andThen({ id: "draft", execute: ({ data }) => ({ text: data.topic, at: new Date() }) })
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, resumeData, suspend }) => (resumeData ? { ...data, ...resumeData } : suspend("?")),
  });
const count = createWorkflow({
  id: "count",
  input: z.array(z.string()),
  result: z.object({ total: z.number(), at: z.coerce.date() }),
}).andThen({ id: "all", execute: ({ data }) => ({ total: data.length, at: "2030-01-01" }) });

const store = memoryStore();
const andante = createAndante({ workflows: { publish, counting: count }, store });
type Published = { text: string; at: string; approved: boolean };

describe("ids", () => {
  test("are those of the workflows, not their keys", () => {
    expectTypeOf(andante.execute<"publish">)
      .parameter(0)
      .toEqualTypeOf<"publish">();
    andante.execute("count", ["a"]);
    for (const { id } of andante.workflows()) andante.workflow(id);
    // @ts-expect-error there is no workflow "publsh"
    andante.execute("publsh", { topic: "rivers" });
    // @ts-expect-error "counting" is its key, "count" its id
    andante.execute("counting", ["a"]);
    // @ts-expect-error there is no such workflow to suspend
    andante.suspend("nothing", "1");
    // @ts-expect-error there is no such workflow to describe
    andante.workflow("nothing");
  });

  test("that are not known until run time need an Andante that does not check them", () => {
    const id: string = "publish";
    // @ts-expect-error any string could be the id
    andante.execute(id, {});
    const any: Andante = andante;
    expectTypeOf(any.execute(id, {})).resolves.toHaveProperty("result").toEqualTypeOf<unknown>();
    any.resume("publish", "1", "anything", { stepId: "draft" });
    any.replay("publish", "1", { stepId: "anything" });
  });

  test("without workflows there are none", () => {
    // @ts-expect-error nothing is registered
    createAndante({ store }).execute("publish", {});
  });
});

describe("input and result", () => {
  test("input has the input type of the schema: a field with a default may be left out", () => {
    andante.execute("publish", { topic: "rivers" });
    andante.execute("publish", { topic: "rivers", size: 2 });
    // @ts-expect-error topic is a string
    andante.execute("publish", { topic: 5 });
    // @ts-expect-error topic is missing
    andante.start("publish", {});
    // @ts-expect-error that is the input of another one
    andante.stream("publish", ["a"]);
  });

  test("result is the output of the last step, through JSON, or null", async () => {
    const { result } = await andante.execute("publish", { topic: "rivers" });
    expectTypeOf(result).toEqualTypeOf<Published | null>();
    const handle = await andante.start("publish", { topic: "rivers" });
    expectTypeOf((await handle.result()).result).toEqualTypeOf<Published | null>();
    expectTypeOf((await andante.cancel("publish", "1")).result).toEqualTypeOf<Published | null>();
  });

  test("the status decides whether there is a result or a suspension", async () => {
    for (const settled of [
      await andante.execute("publish", { topic: "a" }),
      await andante.state("publish", "1"),
    ]) {
      if (settled.status === "completed") expectTypeOf(settled.result).toEqualTypeOf<Published>();
      else expectTypeOf(settled.result).toEqualTypeOf<null>();
      if (settled.status === "suspended") expectTypeOf(settled.suspension.stepId).toEqualTypeOf<string>();
      // @ts-expect-error there may be none
      else settled.suspension.stepId;
    }
    const any: Andante = andante;
    const unknown = await any.execute("publish", {});
    if (unknown.status === "suspended") expectTypeOf(unknown.suspension).not.toBeNullable();
  });

  test("a workflow whose last step gives nothing has null as its result", async () => {
    const silent = createWorkflow({ id: "silent", input: z.number() }).andThen({
      id: "a",
      execute: () => {},
    });
    const settled = await createAndante({ workflows: { silent }, store }).execute("silent", 1);
    if (settled.status === "completed") expectTypeOf(settled.result).toEqualTypeOf<null>();
  });

  test("a result schema decides the type of the result", async () => {
    const { result } = await andante.execute("count", []);
    expectTypeOf(result).toEqualTypeOf<{ total: number; at: string } | null>();
  });

  test("a state has both", async () => {
    const state = await andante.state("publish", "1");
    expectTypeOf(state.result).toEqualTypeOf<Published | null>();
    expectTypeOf(state.input.topic).toEqualTypeOf<string>();
    expectTypeOf(state.input.size).toEqualTypeOf<number | undefined>();
  });
});

describe("resume data", () => {
  test("is the input type of one of the resume schemas", async () => {
    const resumed = await andante.resume("publish", "1", { approved: true });
    expectTypeOf(resumed.result).toEqualTypeOf<Published | null>();
    andante.resume("publish", "1");
    // @ts-expect-error approved is a boolean
    andante.resume("publish", "1", { approved: "yes" });
    // @ts-expect-error approved is a boolean
    andante.startResume("publish", "1", { approved: "yes" });
  });

  test("is anything where no step declares a schema", () => {
    andante.resume("count", "1", { anything: true });
    expectTypeOf<InferResume<typeof count>>().toBeUnknown();
  });

  test("of a workflow and of its steps come together, also from a workflow inside", () => {
    const both = createWorkflow({
      id: "both",
      input: z.object({ topic: z.string() }),
      resumeSchema: z.object({ word: z.string() }),
    })
      .andThen({ id: "wait", execute: ({ suspend }) => suspend() })
      .andThen({ id: "topic", execute: () => ({ topic: "rivers" }) })
      .andWorkflow({ id: "inner", workflow: publish });
    expectTypeOf<InferResume<typeof both>>().toEqualTypeOf<{ word: string } | { approved: boolean }>();
  });

  test("as a step sees it has passed through JSON", () => {
    createWorkflow({ id: "dated", input: z.object({}) }).andThen({
      id: "when",
      resumeSchema: z.object({ at: z.coerce.date() }),
      execute: ({ resumeData, suspend }) => {
        expectTypeOf(resumeData).toEqualTypeOf<{ at: string } | undefined>();
        return resumeData ?? suspend();
      },
    });
  });
});

test("a replay starts at a top-level step of the workflow", async () => {
  const replayed = await andante.replay("publish", "1", { stepId: "approve" });
  expectTypeOf(replayed.result).toEqualTypeOf<Published | null>();
  // @ts-expect-error publish has no step "all"
  andante.replay("publish", "1", { stepId: "all" });
  // @ts-expect-error publish has no step "all"
  andante.startReplay("publish", "1", { stepId: "all" });
});

describe("a type for any workflow", () => {
  test("every workflow is one", () => {
    const all: readonly Workflow[] = [publish, count];
    const definitions: readonly WorkflowDefinition[] = all;
    expectTypeOf(createAndante({ workflows: { publish }, store })).toExtend<Andante>();
    const registered = Object.fromEntries(definitions.map((one) => [one.id, one]));
    createAndante({ workflows: registered, store }).execute("publish", { anything: true });
  });

  test("registered by a record or a list of them, any of them takes any input", () => {
    const list: readonly Workflow[] = [publish, count];
    const record: Record<string, Workflow> = { publish, count };
    createAndante({ workflows: record, store }).execute("publish", { topic: "rivers" });
    const listed = createAndante({ workflows: Object.fromEntries(list.map((one) => [one.id, one])), store });
    listed.start("publish", { topic: "rivers" });
    expectTypeOf<InferInput<Workflow>>().toBeUnknown();
    const step = andWorkflow({ id: "any", workflow: list[0] ?? publish });
    createWorkflow({ id: "outer", input: z.number() }).andAll({ id: "all", steps: [step] });
  });

  test("input, result and resume data can be named", () => {
    expectTypeOf<InferInput<typeof publish>>().toEqualTypeOf<{ topic: string; size?: number | undefined }>();
    expectTypeOf<InferResult<typeof publish>>().toEqualTypeOf<Published>();
    expectTypeOf<InferResume<typeof publish>>().toEqualTypeOf<{ approved: boolean }>();
    expectTypeOf<InferInput<WorkflowDefinition>>().toBeUnknown();
    expectTypeOf<InferResult<WorkflowDefinition>>().toBeUnknown();
    expectTypeOf<InferResume<WorkflowDefinition>>().toBeUnknown();
  });

  test("is one object, of which any part may be written", () => {
    expectTypeOf<typeof publish>().toEqualTypeOf<
      Workflow<{
        id: "publish";
        input: { topic: string; size?: number | undefined };
        parsed: { topic: string; size: number };
        output: Published;
        result: SameAsOutput;
        resume: { approved: boolean };
        steps: "draft" | "approve";
      }>
    >();
    const parts: Workflow<{ id: "publish"; output: { approved: boolean } }> = publish;
    expectTypeOf<InferResult<typeof parts>>().toBeUnknown();
    // @ts-expect-error approved is a boolean
    const wrong: Workflow<{ output: { approved: string } }> = publish;
    // @ts-expect-error publish takes no number as its topic
    const wider: Workflow<{ input: { topic: string | number } }> = publish;
    // @ts-expect-error there is no such member
    expectTypeOf<Workflow<{ otput: string }>>([wrong, wider]);
  });

  test("a chain can grow in a loop", () => {
    let chain = createWorkflow({ id: "grown", input: z.number() }).andThen({ id: "first", execute: () => 1 });
    for (let n = 0; n < 3; n++) chain = chain.andThen({ id: `step-${n}`, execute: ({ data }) => data + 1 });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<number>();
  });

  test("a branch can be written apart", () => {
    const twice = (chain: Workflow<{ output: number }>) =>
      chain.andThen({ id: "twice", execute: ({ data }) => data * 2 });
    const chain = createWorkflow({ id: "apart", input: z.number() }).andAll({
      id: "all",
      steps: [twice, andThen({ id: "half", execute: ({ data }) => data / 2 })],
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<[number, number]>();
  });
});
