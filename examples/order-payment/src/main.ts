// Orders with payments: `npm start --workspace examples/order-payment`.
import { serve } from "@andante/server";
import { orderWith, stripeReceiver } from "./order.ts";
import { postPayment } from "./stripe.ts";

const secret = process.env.STRIPE_SECRET ?? "whsec_of_the_demonstration";

const order = orderWith(async ({ item, key }) => {
  console.log(`Packed ${item} (${key})`);
  return `parcel with ${item}`;
});

const { url, andante } = await serve({
  workflows: { order },
  receivers: { stripe: stripeReceiver(secret) },
});
const id = `order-${Date.now()}`;
const { executionId } = await andante.start("order", { order: id, item: "a teapot" });
console.log(`The order, which waits for its payment: ${url}/console/executions/${executionId}`);
setTimeout(() => void postPayment(url, secret, { id: `evt_${id}`, order: id, amount: 40 }), 10_000);
