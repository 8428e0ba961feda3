// Signatures of deliveries are those of the example of the specification, which other implementations verify.
import { expect, test } from "vitest";
import { webhookHeaders } from "./webhook-signature.ts";

const example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const message = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};

test("the example of Standard Webhooks has its documented signature", () => {
  expect(webhookHeaders(message, [example])).toEqual({
    "webhook-id": message.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("during a rotation each secret signs, with a space between", () => {
  const other = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const { "webhook-signature": signatures } = webhookHeaders(message, [other, example]);
  expect(signatures).toMatch(/^v1,[\w+/]{43}= v1,g0hM9SsE\+OTPJTGt\/tmIKtSyZlE3uFJELVlNIOLJ1OE=$/);
});
