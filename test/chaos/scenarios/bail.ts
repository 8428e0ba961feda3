// bail: ends a child early together with its suspensions, then the whole workflow.
import { andThen, createWorkflow } from "@andante/core";
import type { FunctionContext } from "@andante/core/internal";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<number>;

export const scenario: MakeScenario = (bodies) => {
  const child = createWorkflow({ id: "bail-child", input: z.number() })
    .andAll({
      id: "pair",
      steps: [
        andThen({ id: "gate", execute: bodies.quick(({ suspend }: Amount) => suspend("nobody answers")) }),
        andThen({
          id: "leaver",
          execute: bodies.slow(10, ({ data, bail, setState }: Amount) => {
            setState({ left: true });
            return bail(data + 1);
          }),
        }),
      ],
    })
    .andThen({ id: "never", execute: bodies.quick(() => 0) });
  return {
    input: 4,
    workflow: createWorkflow({ id: "bail", input: z.number() })
      .andWorkflow({ id: "child", workflow: child })
      .andForEach({
        id: "each",
        concurrency: 2,
        items: bodies.quick(({ data }: FunctionContext<number>) => [data, data, data]),
        step: andThen({
          id: "item",
          execute: bodies.slow(6, ({ data, bail, stepPath, state }: Amount) =>
            stepPath === "each[2]/item" ? bail({ data, left: state.left }) : data,
          ),
        }),
      })
      .andThen({ id: "never", execute: bodies.quick(() => 0) }),
  };
};
