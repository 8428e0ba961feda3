// Orders: each waits for its payment, which Stripe reports by a webhook, and is packed once.
import { createWorkflow, defineEvent } from "@andante/core";
import { type Receiver, stripeSignature } from "@andante/server";
import { z } from "zod";

/** Packs an order once per key, however often it is called. */
export type Pack = (parcel: { readonly key: string; readonly item: string }) => Promise<string>;

const key = ({ data }: { data: { order: string } }) => data.order;

export const paid = defineEvent({
  name: "order.paid",
  data: z.object({ order: z.string(), amount: z.number() }),
  key,
});
export const withdrawn = defineEvent({ name: "order.withdrawn", data: z.object({ order: z.string() }), key });

export function orderWith(pack: Pack) {
  return createWorkflow({
    id: "order",
    name: "Pack a paid order",
    input: z.object({ order: z.string(), item: z.string() }),
    result: z.object({ paid: z.number(), parcel: z.string() }),
    cancelOn: { event: withdrawn, key: ({ input }) => input.order },
  })
    .andWaitFor({
      id: "payment",
      event: paid,
      key: ({ data }) => data.order,
      deadline: "3d",
      onDeadline: "cancel",
    })
    .andThen({
      id: "pack",
      retry: { attempts: 5, delay: "2s" },
      execute: async ({ data, input, idempotencyKey }) => ({
        paid: data.amount,
        parcel: await pack({ key: idempotencyKey, item: input.item }),
      }),
    });
}

const webhook = z.object({
  type: z.string(),
  data: z.object({
    object: z.object({ amount: z.number(), metadata: z.object({ order: z.string().optional() }) }),
  }),
});

/** The webhooks of Stripe: of all that it sends, the payments of orders count. */
export function stripeReceiver(secret: string): Receiver {
  return {
    verify: stripeSignature(secret),
    event: ({ body }) => {
      const { type, data } = webhook.parse(body);
      const { amount, metadata } = data.object;
      if (type !== "payment_intent.succeeded" || metadata.order === undefined) return undefined;
      return paid.from({ order: metadata.order, amount });
    },
  };
}
