// Orders that begin, continue and end by events, for the console's tests and pictures.
import { type Andante, createWorkflow, defineEvent } from "@andante/core";
import { z } from "zod";

const data = z.object({ order: z.string() });
const key = ({ data: { order } }: { data: { order: string } }) => order;
const bought = data.extend({ total: z.number() });
const placed = defineEvent({ name: "order.placed", data: bought, key });
const paid = defineEvent({ name: "order.paid", data, key });
const withdrawn = defineEvent({ name: "order.withdrawn", data, key });

const shipment = createWorkflow({
  id: "shipment",
  name: "Ship an order",
  purpose: "Waits for the payment of an order, and ships it",
  input: bought,
  on: { event: placed },
  cancelOn: { event: withdrawn, key: ({ input }) => input.order },
})
  .andWaitFor({ id: "payment", event: paid, key: ({ data: { order } }) => order, deadline: "3d" })
  .andThen({ id: "ship", execute: ({ data: { order } }) => ({ shipped: order }) });

export const triggerWorkflows = { shipment };

/** An endpoint that no receiver listens at. */
const crm = {
  url: "http://127.0.0.1:9/hooks/andante",
  secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  allowPrivate: true,
};

/** The options of a host with an endpoint and tools for clients of MCP. */
export const triggerOptions = {
  endpoints: { crm },
  mcp: { expose: ["measure", "refund", "assistant"], names: { measure: "measure_text" }, operator: true },
};

/** Orders of which one is paid, one withdrawn, and two wait; and a payment with a mistyped key. */
export async function sendOrders(andante: Andante): Promise<void> {
  for (const [order, total] of Object.entries({ ord_8810: 120, ord_8811: 64, ord_8812: 18, ord_8813: 240 }))
    await andante.send(placed, { order, total }, { id: `evt_${order}`, userId: "shop-7" });
  await andante.send(paid, { order: "ord_8810" }, { id: "pay_1" });
  await andante.send(withdrawn, { order: "ord_8811" }, { id: "evt_withdrawn" });
  await andante.send(paid, { order: "ord_881" }, { id: "pay_mistyped" });
}
