// Free steps inside containers know their data from the chain around them, however deep they stand.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { InferResult, InferResume } from "../chain-types.ts";
import { createWorkflow } from "../create-workflow.ts";
import type { StepContext } from "../step-context.ts";
import {
  andAgent,
  andAll,
  andBranch,
  andDoUntil,
  andDoWhile,
  andForEach,
  andRace,
  andSleep,
  andSleepUntil,
  andTap,
  andThen,
  andWhen,
} from "./free-steps.ts";

type Start = { topic: string; size: number };
type Item = { word: string };
const start = createWorkflow({ id: "start", input: z.object({ topic: z.string(), size: z.number() }) });
const list = createWorkflow({ id: "list", input: z.array(z.object({ word: z.string() })) });
const agent = { generate: async () => ({ text: "" }) };

describe("a free step in a container of a chain", () => {
  test("andWhen", () => {
    const chain = start.andWhen({
      id: "when",
      condition: ({ data }) => data.size > 1,
      step: andThen({
        id: "inside",
        execute: ({ data, input }) => {
          expectTypeOf(data).toEqualTypeOf<Start>();
          expectTypeOf(input).toEqualTypeOf<Start>();
          return data.size;
        },
      }),
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<Start | number>();
  });

  test("andAll and andRace", () => {
    const steps = [
      andThen({ id: "a", execute: ({ data }: { data: Start }) => data.size }),
      andTap({ id: "b", execute: ({ data }: { data: Start }) => data.topic }),
    ] as const;
    const made = start.andAll({ id: "all", steps });
    expectTypeOf<InferResult<typeof made>>().toEqualTypeOf<[number, Start]>();
    const all = start.andAll({
      id: "all",
      steps: [
        andThen({
          id: "a",
          execute: ({ data, input }) => {
            expectTypeOf(data).toEqualTypeOf<Start>();
            expectTypeOf(input).toEqualTypeOf<Start>();
            return data.size;
          },
        }),
        andTap({ id: "b", execute: ({ data }) => expectTypeOf(data).toEqualTypeOf<Start>() }),
      ],
    });
    expectTypeOf<InferResult<typeof all>>().toEqualTypeOf<[number, Start]>();
    const race = start.andRace({
      id: "race",
      steps: [
        andThen({ id: "a", execute: ({ data }) => data.size }),
        andThen({ id: "b", execute: ({ data }) => data.topic }),
      ],
    });
    expectTypeOf<InferResult<typeof race>>().toEqualTypeOf<number | string>();
  });

  test("branches made from a list know their data by the type that is named", () => {
    const chain = start.andAll({
      id: "all",
      steps: ["a", "b"].map((id) => andThen({ id, execute: ({ data }: { data: Start }) => data.size })),
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<number[]>();
    start.andAll({
      id: "all",
      steps: ["a", "b"].map((id) => andThen({ id, execute: ({ data }) => expectTypeOf(data).toBeUnknown() })),
    });
  });

  test("andBranch", () => {
    const chain = start.andBranch({
      id: "branch",
      branches: [
        {
          condition: ({ data }) => data.size > 1,
          step: andThen({ id: "a", execute: ({ data }) => data.size }),
        },
        { condition: () => true, step: andThen({ id: "b", execute: ({ data }) => data.topic }) },
      ],
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<Start | number | string>();
  });

  test("andDoWhile and andDoUntil", () => {
    const grow = ({ data }: { data: Start }) => ({ ...data, size: data.size + 1 });
    const chain = start
      .andDoWhile({
        id: "while",
        step: andThen({ id: "a", execute: ({ data }) => ({ ...data, size: data.size + 1 }) }),
        condition: ({ data }) => data.size < 3,
      })
      .andDoUntil({
        id: "until",
        condition: ({ data }) => data.size > 3,
        step: andThen({ id: "b", execute: grow }),
      });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<Start>();
  });

  test("andForEach over the data", () => {
    const chain = list.andForEach({
      id: "each",
      step: andThen({
        id: "one",
        execute: ({ data, input }) => {
          expectTypeOf(data).toEqualTypeOf<Item>();
          expectTypeOf(input).toEqualTypeOf<Item[]>();
          return data.word.length;
        },
      }),
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<number[]>();
  });

  test("andForEach over items that need nothing of the context", () => {
    const chain = start.andForEach({
      id: "each",
      items: () => [{ at: new Date() }],
      step: andThen({
        id: "one",
        execute: ({ data }) => {
          expectTypeOf(data).toEqualTypeOf<{ at: string }>();
          return data.at;
        },
      }),
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<string[]>();
  });

  test("andForEach over items of the data: a chain infers their type, a free step has to declare it", () => {
    const chain = start.andForEach({
      id: "each",
      items: ({ data }) => data.topic.split(" "),
      step: (item) => item.andThen({ id: "one", execute: ({ data }) => data.length }),
    });
    expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<number[]>();
    const free = start.andForEach({
      id: "each",
      items: ({ data }) => data.topic.split(" "),
      step: andThen({
        id: "one",
        execute: ({ data }) => {
          expectTypeOf(data).toBeUnknown();
          return String(data);
        },
      }),
    });
    expectTypeOf<InferResult<typeof free>>().toEqualTypeOf<string[]>();
    const typed = start.andForEach({
      id: "each",
      items: ({ data }) => data.topic.split(" "),
      step: andThen({ id: "one", execute: ({ data }: { data: string }) => data.length }),
    });
    expectTypeOf<InferResult<typeof typed>>().toEqualTypeOf<number[]>();
    // @ts-expect-error the items are strings
    start.andForEach({
      id: "each",
      items: ({ data }) => data.topic.split(" "),
      step: andThen({ id: "one", execute: ({ data }: { data: number }) => data }),
    });
  });
});

test("a free step in a container inside a free container", () => {
  const chain = start.andAll({
    id: "all",
    steps: [
      andWhen({
        id: "when",
        condition: ({ data }) => data.size > 1,
        step: andThen({ id: "a", execute: ({ data }) => data.topic }),
      }),
      andAll({
        id: "inner",
        steps: [
          andThen({ id: "a", execute: ({ data }) => data.size }),
          andRace({
            id: "race",
            steps: [andThen({ id: "b", execute: ({ data, input }) => data.topic + input.topic })],
          }),
        ],
      }),
      andBranch({
        id: "branch",
        branches: [
          {
            condition: ({ data }) => data.size > 1,
            step: andThen({ id: "a", execute: ({ data }) => data.size }),
          },
        ],
      }),
      andDoWhile({
        id: "while",
        step: andThen({ id: "a", execute: ({ data }) => ({ ...data, size: data.size + 1 }) }),
        condition: ({ data }) => data.size < 3,
      }),
      andDoUntil({
        id: "until",
        step: (round) => round.andThen({ id: "a", execute: ({ data }) => data }),
        condition: ({ data }) => data.size < 3,
      }),
      andForEach({
        id: "each",
        items: ({ data }) => [data.size],
        step: (item) => item.andThen({ id: "a", execute: ({ data }) => data.toFixed() }),
      }),
      andSleep({ id: "nap", duration: ({ data }) => data.size }),
      andSleepUntil({ id: "night", date: ({ data }) => data.topic }),
      andAgent({ id: "ask", agent, prompt: ({ data }) => data.topic }),
      (branch) =>
        branch.andThen({ id: "a", execute: ({ data }) => [data.topic] }).andForEach({
          id: "each",
          step: andWhen({
            id: "when",
            condition: ({ data }) => data.length > 1,
            step: andThen({ id: "a", execute: ({ data }) => data.length }),
          }),
        }),
    ],
  });
  expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<
    [
      Start | string,
      [number, string],
      Start | number,
      Start,
      Start,
      string[],
      Start,
      Start,
      { text: string },
      (string | number)[],
    ]
  >();
});

test("a free andForEach gives its free step one item of the data", () => {
  const chain = list.andWhen({
    id: "when",
    condition: ({ data }) => data.length > 1,
    step: andForEach({ id: "each", step: andThen({ id: "one", execute: ({ data }) => data.word }) }),
  });
  expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<Item[] | string[]>();
});

test("a step made elsewhere fits where its data fit", () => {
  type Context = StepContext<{ data: number; input: unknown; resume: unknown; suspend: unknown }>;
  const half = andThen({ id: "half", execute: ({ data }: Context) => data / 2 });
  const numbers = createWorkflow({ id: "numbers", input: z.array(z.number()) });
  const chain = numbers.andForEach({ id: "each", step: half });
  expectTypeOf<InferResult<typeof chain>>().toEqualTypeOf<number[]>();
  // @ts-expect-error the data is not a number
  start.andWhen({ id: "when", condition: () => true, step: half });
});

test("the resume schemas inside containers come together, from every depth", () => {
  const chain = start
    .andAll({
      id: "all",
      steps: [
        andThen({ id: "a", resumeSchema: z.object({ yes: z.boolean() }), execute: () => 1 }),
        andRace({
          id: "race",
          steps: [
            andTap({ id: "b", resumeSchema: z.object({ why: z.string() }), execute: () => 1 }),
            andThen({ id: "c", execute: () => 1 }),
          ],
        }),
        andForEach({
          id: "each",
          items: ({ data }) => [data.size],
          step: (item) =>
            item.andThen({ id: "d", resumeSchema: z.object({ at: z.number() }), execute: () => 1 }),
        }),
        andBranch({
          id: "branch",
          branches: [{ condition: () => true, step: andThen({ id: "e", execute: () => 1 }) }],
        }),
      ],
    })
    .andThen({ id: "last", execute: () => 1 });
  expectTypeOf<InferResume<typeof chain>>().toEqualTypeOf<
    { yes: boolean } | { why: string } | { at: number }
  >();
  const open = start.andAll({ id: "all", steps: [andThen({ id: "a", execute: () => 1 })] });
  expectTypeOf<InferResume<typeof open>>().toBeUnknown();
});
