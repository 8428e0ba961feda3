// andForEach: items two at a time, of different lengths, that set state and send events.
import { andThen, createWorkflow } from "@andante/core";
import type { FunctionContext } from "@andante/core/internal";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Item = Given<{ number: number; pause: number }>;

export const scenario: MakeScenario = (bodies) => {
  const work = ({ data, emit, setState }: Item) => {
    emit("item-done", { number: data.number });
    setState((state) => ({ sum: Number(state.sum ?? 0) + data.number }));
    return data.number * 10;
  };
  const [short, long] = [bodies.slow(4, work), bodies.slow(14, work)];
  return {
    input: { count: 5 },
    workflow: createWorkflow({ id: "for-each", input: z.object({ count: z.number() }) })
      .andForEach({
        id: "each",
        concurrency: 2,
        items: bodies.slow(4, ({ data }: FunctionContext<{ count: number }>) =>
          Array.from({ length: data.count }, (_, number) => ({ number, pause: number % 2 })),
        ),
        step: andThen({
          id: "work",
          execute: (context: Item) => (context.data.pause === 1 ? long : short)(context),
        }),
      })
      .andForEach({
        id: "in-turn",
        step: andThen({ id: "half", execute: bodies.quick(({ data }: Given<number>) => data / 2) }),
      })
      .andThen({ id: "last", execute: bodies.quick(({ data, state }) => ({ data, sum: state.sum })) }),
  };
};
