// Stripe's part, for the demonstration and the test: a signed webhook of a payment.
import { createHmac } from "node:crypto";

export interface Payment {
  readonly id: string;
  readonly order: string;
  readonly amount: number;
}

export function postPayment(url: string, secret: string, { id, order, amount }: Payment): Promise<Response> {
  const object = { object: "payment_intent", amount, metadata: { order } };
  const body = JSON.stringify({ id, type: "payment_intent.succeeded", data: { object } });
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` };
  return fetch(`${url}/receive/stripe`, { method: "POST", body, headers });
}
