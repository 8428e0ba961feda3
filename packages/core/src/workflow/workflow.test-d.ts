// The types that flow through a chain: a wrong field is a compile error.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Json } from "../values/json.ts";
import type { InferResult } from "./chain-types.ts";
import { createWorkflow } from "./create-workflow.ts";
import type { WorkflowHooks } from "./hooks.ts";
import {
  andAgent,
  andAll,
  andDoWhile,
  andForEach,
  andRace,
  andSleep,
  andTap,
  andThen,
  andWhen,
  andWorkflow,
} from "./steps/free-steps.ts";

const start = createWorkflow({
  id: "typed",
  input: z.object({ topic: z.string(), size: z.number().default(1) }),
});
type Start = { topic: string; size: number };
type DataOf<W> = InferResult<W>;

describe("a chain", () => {
  test("gives the first step the parsed input and each later one the output before", () => {
    const chain = start
      .andThen({
        id: "length",
        execute: ({ data, input }) => {
          expectTypeOf(data).toEqualTypeOf<Start>();
          expectTypeOf(input).toEqualTypeOf<Start>();
          return { length: data.topic.length };
        },
      })
      .andThen({
        id: "async",
        execute: async ({ data, input }) => {
          expectTypeOf(data).toEqualTypeOf<{ length: number }>();
          expectTypeOf(input).toEqualTypeOf<Start>();
          return data.length;
        },
      });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<number>();
  });

  test("refuses a field that the step before does not give", () => {
    start.andThen({
      id: "wrong",
      // @ts-expect-error the input has no field "tpic"
      execute: ({ data }) => data.tpic,
    });
  });

  test("turns dates into strings", () => {
    const chain = start.andThen({ id: "when", execute: () => ({ at: new Date(), tags: ["a"] }) });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<{ at: string; tags: string[] }>();
  });

  test("a body that returns nothing gives undefined", () => {
    const chain = start.andThen({ id: "silent", execute: async () => {} });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<undefined>();
  });

  test("types the resume data by the resume schema and lets suspend end a branch", () => {
    const chain = start.andThen({
      id: "gate",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ data, suspend, resumeData }) => {
        expectTypeOf(resumeData).toEqualTypeOf<{ approved: boolean } | undefined>();
        return resumeData ? { ...data, ...resumeData } : suspend("Waiting");
      },
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<{ approved: boolean; topic: string; size: number }>();
  });
});

describe("containers", () => {
  test("andAll gives a tuple of its branches, steps and chains alike", () => {
    const chain = start.andAll({
      id: "both",
      steps: [
        andThen({ id: "left", execute: ({ data }) => data.size }),
        (branch) =>
          branch
            .andThen({ id: "middle", execute: ({ data }) => data.topic })
            .andThen({ id: "right", execute: ({ data }) => ({ upper: data.toUpperCase() }) }),
      ],
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<[number, { upper: string }]>();
  });

  test("a branch sees the data of the step before its container", () => {
    start.andAll({
      id: "both",
      // @ts-expect-error the data has no field "nothing"
      steps: [andThen({ id: "left", execute: ({ data }) => data.nothing })],
    });
  });

  test("andRace gives the union of its branches", () => {
    const chain = start.andRace({
      id: "first",
      steps: [andThen({ id: "fast", execute: () => 1 }), andThen({ id: "slow", execute: () => "one" })],
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<number | string>();
  });

  test("andWhen gives the data before or the output of its step, andTap the data", () => {
    const chain = start.andTap({ id: "look", execute: () => "ignored" }).andWhen({
      id: "maybe",
      condition: ({ data }) => data.size > 1,
      step: andThen({ id: "grow", execute: () => ({ grown: true }) }),
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<Start | { grown: boolean }>();
  });

  test("nest in each other", () => {
    const chain = start.andAll({
      id: "outer",
      steps: [
        andAll({
          id: "inner",
          steps: [andThen({ id: "a", execute: () => 1 }), andTap({ id: "b", execute: () => undefined })],
        }),
        andRace({ id: "race", steps: [andThen({ id: "c", execute: () => true })] }),
        andWhen({ id: "when", condition: () => true, step: andThen({ id: "d", execute: () => "d" }) }),
      ],
    });
    expectTypeOf<DataOf<typeof chain>[1]>().toEqualTypeOf<boolean>();
  });
});

describe("andWorkflow", () => {
  const child = createWorkflow({ id: "child", input: z.object({ topic: z.string() }) }).andThen({
    id: "measure",
    execute: ({ data }) => data.topic.length,
  });

  test("gives the result of the child", () => {
    const chain = start.andWorkflow({ id: "sub", workflow: child });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<number>();
    const nested = start.andAll({ id: "all", steps: [andWorkflow({ id: "sub", workflow: child })] });
    expectTypeOf<DataOf<typeof nested>>().toEqualTypeOf<[number]>();
  });

  test("refuses a child whose input does not fit the data", () => {
    const chain = start.andThen({ id: "number", execute: () => 5 });
    // @ts-expect-error a number is not a { topic: string }
    chain.andWorkflow({ id: "sub", workflow: child });
  });
});

describe("andAgent", () => {
  const agent = { generate: async () => ({ text: "" }) };

  test("without a schema gives text", () => {
    const chain = start.andAgent({
      id: "ask",
      agent,
      prompt: ({ data }) => {
        expectTypeOf(data).toEqualTypeOf<Start>();
        return data.topic;
      },
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<{ text: string }>();
    const nested = start.andAll({ id: "all", steps: [andAgent({ id: "ask", agent, prompt: "p" })] });
    expectTypeOf<DataOf<typeof nested>>().toEqualTypeOf<[{ text: string }]>();
  });

  test("with a schema returns its output, through JSON", () => {
    const schema = z.object({ at: z.coerce.date(), n: z.number() });
    const chain = start.andAgent({ id: "ask", agent, prompt: "p", schema });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<{ at: string; n: number }>();
  });

  test("refuses an agent that cannot generate", () => {
    // @ts-expect-error it has no generate
    start.andAgent({ id: "ask", agent: {}, prompt: "p" });
  });
});

describe("suspension", () => {
  test("types the data given to suspend, and given back, by the suspend schema", () => {
    start.andThen({
      id: "gate",
      suspendSchema: z.object({ cost: z.number() }),
      execute: ({ suspend, suspendData }) => {
        expectTypeOf(suspendData).toEqualTypeOf<{ cost: number } | undefined>();
        expectTypeOf(suspend).parameter(1).toEqualTypeOf<{ cost: number } | undefined>();
        expectTypeOf(suspend).returns.toEqualTypeOf<never>();
        return suspend("why", { cost: 1 });
      },
    });
    start.andThen({
      id: "gate",
      suspendSchema: z.object({ cost: z.number() }),
      // @ts-expect-error cost is a number
      execute: ({ suspend }) => suspend("why", { cost: "much" }),
    });
  });

  test("is open to anything without schemas", () => {
    start.andTap({
      id: "tap",
      execute: ({ suspend, resumeData }) => {
        expectTypeOf(resumeData).toEqualTypeOf<unknown>();
        return suspend("why", { anything: true });
      },
    });
  });

  test("is not for conditions and prompts", () => {
    start.andWhen({
      id: "when",
      // @ts-expect-error a condition cannot suspend
      condition: ({ suspend }) => suspend(),
      step: andThen({ id: "a", execute: () => 1 }),
    });
  });
});

describe("schemas of a step", () => {
  test("an output schema must fit the output of the body", () => {
    start.andThen({ id: "fits", outputSchema: z.object({ n: z.number() }), execute: () => ({ n: 1 }) });
    start.andThen({
      id: "differs",
      // @ts-expect-error the body gives a string
      outputSchema: z.object({ n: z.number() }),
      execute: () => "text",
    });
  });
});

test("Json is the type of a value after JSON", () => {
  expectTypeOf<Json<{ at: Date; list: readonly Date[]; url: URL; none?: Date }>>().toEqualTypeOf<{
    at: string;
    list: readonly string[];
    url: string;
    none?: string;
  }>();
  expectTypeOf<Json<Map<string, number>>>().toEqualTypeOf<never>();
  expectTypeOf<Json<bigint | string>>().toEqualTypeOf<string>();
  expectTypeOf<Json<unknown>>().toEqualTypeOf<unknown>();
});

describe("loops, branches and sleeps", () => {
  const list = createWorkflow({ id: "list", input: z.array(z.object({ size: z.number() })) });

  test("andForEach gives its step one item of the data, and the next step the list of outputs", () => {
    const chain = list.andForEach({
      id: "each",
      step: andThen({
        id: "one",
        execute: ({ data }) => {
          expectTypeOf(data).toEqualTypeOf<{ size: number }>();
          return String(data.size);
        },
      }),
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<string[]>();
  });

  test("andForEach gives its step the items of `items`, as JSON passes them on", () => {
    const chain = start.andForEach({
      id: "each",
      items: ({ data }) => [{ word: data.topic, at: new Date() }],
      step: (item) =>
        item.andThen({
          id: "one",
          execute: ({ data }) => {
            expectTypeOf(data).toEqualTypeOf<{ word: string; at: string }>();
            return data.word.length;
          },
        }),
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<number[]>();
  });

  test("a loop keeps the type of its data", () => {
    const chain = start.andDoWhile({
      id: "loop",
      step: andThen({ id: "grow", execute: ({ data }) => ({ ...data, size: data.size + 1 }) }),
      condition: ({ data }) => data.size < 3,
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<Start>();
    start.andDoUntil({
      id: "loop",
      // @ts-expect-error a round must return the input of the next one
      step: andThen({ id: "change", execute: () => "text" }),
      condition: () => true,
    });
  });

  test("andBranch gives the output of a branch, or the data", () => {
    const chain = start.andBranch({
      id: "branch",
      branches: [
        { condition: ({ data }) => data.size > 1, step: andThen({ id: "a", execute: () => 1 }) },
        { condition: () => true, step: (branch) => branch.andThen({ id: "b", execute: () => "text" }) },
      ],
    });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<Start | number | string>();
  });

  test("sleeps let the data pass, and see it", () => {
    const chain = start
      .andSleep({ id: "fixed", duration: "2h" })
      .andSleep({ id: "made", duration: ({ data }) => data.size * 1000 })
      .andSleepUntil({ id: "date", date: ({ data }) => data.topic });
    expectTypeOf<DataOf<typeof chain>>().toEqualTypeOf<Start>();
    // @ts-expect-error no unit of that name
    start.andSleep({ id: "wrong", duration: "2 weeks" });
  });

  test("free functions fit into branches", () => {
    const chain = list.andAll({
      id: "all",
      steps: [
        andForEach({ id: "each", step: andThen({ id: "one", execute: () => 1 }) }),
        andSleep({ id: "nap", duration: 1 }),
        andDoWhile({ id: "loop", step: andTap({ id: "look", execute: () => {} }), condition: () => false }),
      ],
    });
    expectTypeOf<DataOf<typeof chain>>().toExtend<[number[], unknown, unknown]>();
  });

  test("the resume data of a deadline fits the resume schema", () => {
    start.andThen({
      id: "gate",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ suspend }) =>
        suspend("please", undefined, { deadline: "1h", onDeadline: { resume: { approved: false } } }),
    });
    start.andThen({
      id: "gate",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ suspend }) =>
        // @ts-expect-error approved is not a string
        suspend("", undefined, { deadline: 1, onDeadline: { resume: { approved: "no" } } }),
    });
  });
});

describe("hooks", () => {
  test("know the input as steps see it, and the result that the schema declares", () => {
    createWorkflow({
      id: "typed",
      input: z.object({ at: z.coerce.date(), size: z.number().default(1) }),
      result: z.object({ total: z.number(), at: z.coerce.date() }),
      hooks: {
        onStart: ({ input }) => expectTypeOf(input).toEqualTypeOf<{ at: string; size: number }>(),
        onEnd: ({ result }) =>
          expectTypeOf(result).toEqualTypeOf<{ total: number; at: string } | undefined>(),
      },
    });
  });

  test("without a result schema do not know the result; those for any workflow fit each", () => {
    const log: WorkflowHooks = { onEnd: ({ result }) => expectTypeOf(result).toBeUnknown() };
    createWorkflow({ id: "logged", input: z.number(), result: z.string(), hooks: log });
    createWorkflow({
      id: "open",
      input: z.number(),
      hooks: { onEnd: ({ result }) => expectTypeOf(result).toBeUnknown() },
    });
  });
});

describe("checkpoints", () => {
  test("return the result of their function, without its promise and through JSON; conditions have none", () => {
    createWorkflow({ id: "checked", input: z.number() })
      .andThen({
        id: "charge",
        execute: async ({ checkpoint }) => {
          const charge = await checkpoint("card", async () => ({ at: new Date(), paid: 1 }));
          expectTypeOf(charge).toEqualTypeOf<{ at: string; paid: number }>();
          expectTypeOf(await checkpoint("none", () => undefined)).toEqualTypeOf<undefined>();
          return charge.paid;
        },
      })
      .andWhen({
        id: "when",
        condition: (context) => {
          expectTypeOf(context).not.toHaveProperty("checkpoint");
          return true;
        },
        step: andThen({ id: "inner", execute: () => 1 }),
      });
  });
});
