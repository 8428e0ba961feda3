// The workflow of the cluster: an order in three steps, with a short wait between two of them.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export const order = createWorkflow({
  id: "order",
  name: "Handle an order",
  input: z.object({ number: z.number() }),
  result: z.object({ number: z.number(), total: z.number() }),
})
  .andThen({ id: "price", execute: ({ data }) => ({ ...data, price: data.number * 3 }) })
  .andSleep({ id: "pack", duration: "200ms" })
  .andThen({ id: "ship", execute: ({ data }) => ({ ...data, postage: 5 }) })
  .andThen({
    id: "bill",
    execute: ({ data }) => ({ number: data.number, total: data.price + data.postage }),
  });

/** The result of an order, on any node and after any number of interruptions. */
export function totalOf(number: number): number {
  return number * 3 + 5;
}
