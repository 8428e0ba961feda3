// Attempts that fail, take too long or fail for good; a condition that fails once.
import { andThen, createWorkflow, PermanentError } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

interface Amount {
  amount: number;
}

export const scenario: MakeScenario = (bodies) => {
  const hang = bodies.endless<Given<Amount>>();
  // Within its call: a busy machine must not make it late too.
  const answer = bodies.quick(({ data, attempt }: Given<Amount>) => ({ amount: data.amount + attempt }));
  return {
    input: { amount: 5 },
    workflow: createWorkflow({ id: "retry", input: z.object({ amount: z.number() }) })
      .andThen({
        id: "shaky",
        retry: { attempts: 3, delay: 10, backoff: "fixed" },
        execute: bodies.slow(4, ({ data, attempt, setState }) => {
          setState({ attempt });
          if (attempt < 3) throw new Error(`attempt ${attempt} fails`);
          return { amount: data.amount + attempt };
        }),
      })
      .andThen({
        id: "hanging",
        timeout: 20,
        retry: { attempts: 2, delay: 5 },
        execute: (context) => (context.attempt === 1 ? hang : answer)(context),
      })
      .andWhen({
        id: "when",
        retry: { attempts: 2, delay: 5 },
        condition: bodies.quick(({ attempt }) => {
          if (attempt === 1) throw new Error("the first look fails");
          return true;
        }),
        step: andThen({ id: "inside", execute: bodies.quick(({ data }: Given<Amount>) => data) }),
      })
      .andTap({
        id: "for-good",
        retry: { attempts: 5, delay: 5 },
        execute: bodies.quick(() => {
          throw new PermanentError("no second attempt");
        }),
      })
      .andThen({
        id: "last",
        execute: bodies.quick(({ data, state }) => ({ data, attempt: state.attempt })),
      }),
  };
};
