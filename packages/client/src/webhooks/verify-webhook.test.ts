// Webhooks are verified on their bytes, against the signatures of another implementation.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { verifyWebhook } from "./verify-webhook.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const now = 1_800_000_000_000;
// With a space, an escape and a line break that a second serialisation would not keep.
const body = '{"type":"execution.ended", "data":{"name":"\\u00e9"}}\n';

function signed(text: string | Uint8Array, { at = now / 1000, key = secret, headers = {} } = {}) {
  const bytes = Buffer.from(key.slice(6), "base64");
  const signature = createHmac("sha256", bytes).update(`msg_1.${at}.`).update(text).digest("base64");
  return new Request("https://example.com/hook", {
    method: "POST",
    body: text,
    headers: {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(at),
      "webhook-signature": `v1,${signature}`,
      ...headers,
    },
  });
}
const verify = (request: Request, secrets: string | readonly string[] = secret) =>
  verifyWebhook(request, secrets, { now });

test("the example of the specification is accepted", async () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const request = new Request("https://example.com", {
    method: "POST",
    body: '{"test": 2432232314}',
    headers,
  });
  // The signature fits; the example is no event with a type.
  const verified = verifyWebhook(request, secret, { now: 1_614_265_330_000 });
  await expect(verified).rejects.toThrow("its body has no type");
});

test("an event is verified on its bytes; the same value serialised again would not fit", async () => {
  expect(await verify(signed(body))).toEqual({
    ...{ id: "msg_1", timestamp: new Date(now), type: "execution.ended" },
    data: { name: "é" },
  });
  const again = new Request(signed(body), { body: JSON.stringify(JSON.parse(body)), method: "POST" });
  await expect(verify(again)).rejects.toThrow("no signature fits");
});

test("one of several secrets, and one of several signatures, is enough", async () => {
  await verify(signed(body), [other, secret]);
  const right = signed(body).headers.get("webhook-signature");
  await verify(signed(body, { headers: { "webhook-signature": `v1a,x v1,AAAA ${right}` } }));
});

test.each([
  ["a changed bit", signed(body.replace("ended", "endee"), {}), 0],
  ["another secret", signed(body, { key: other }), 0],
  ["a time 301 s ago", signed(body, { at: now / 1000 - 301 }), 0],
  ["a time in 301 s", signed(body, { at: now / 1000 + 301 }), 0],
  ["no signature", signed(body, { headers: { "webhook-signature": "" } }), 0],
  ["a signature of another version alone", signed(body, { headers: { "webhook-signature": "v1a,AAAA" } }), 0],
  ["no id", signed(body, { headers: { "webhook-id": "" } }), 0],
  ["a time that is none", signed(body, { headers: { "webhook-timestamp": "soon" } }), 0],
  ["an empty body", signed(""), 1],
])("%s is refused", async (name, request) => {
  const changed =
    name === "a changed bit"
      ? new Request(signed(body), { method: "POST", body: body.replace("ended", "endee") })
      : request;
  await expect(verify(changed)).rejects.toMatchObject({ name: "WebhookVerificationError" });
});

test("times up to the tolerance are accepted, larger bodies and bodies that are no UTF-8 are not", async () => {
  await verify(signed(body, { at: now / 1000 - 300 }));
  await verify(signed(body, { at: now / 1000 + 300 }));
  const large = signed(" ".repeat(1024 * 1024 + 1));
  await expect(verify(large)).rejects.toThrow("larger than");
  await expect(verify(signed(new Uint8Array([0xff, 0xfe])))).rejects.toThrow("not JSON");
  await expect(verify(signed(body), "secret")).rejects.toThrow("whsec_");
});
