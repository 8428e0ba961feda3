// Signatures of the documented examples of their senders, and everything that is refused.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import {
  githubSignature,
  slackSignature,
  standardSignature,
  stripeSignature,
  type Verifier,
} from "./verifiers.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const verify = (verifier: Verifier, text: string, headers: Record<string, string>, now: number) =>
  verifier({ bytes: bytesOf(text), headers: new Headers(headers), now: now * 1000 });

const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const slackBody =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
/** Signed by OpenSSL over the time, a dot and these bytes, as Stripe documents it. */
const stripeBody = '{"id":"evt_1","type":"charge.succeeded"}\n';
const hexOf = (key: string, text: string) => createHmac("sha256", key).update(text).digest("hex");

/** One valid request of each sender. */
const senders = [
  {
    name: "Standard Webhooks",
    own: whsec,
    make: (secret: string | readonly string[] = whsec) => standardSignature(secret),
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    signature: "webhook-signature",
    other: `whsec_${Buffer.alloc(32).toString("base64")}`,
    now: 1_614_265_330,
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    hasTime: true,
  },
  {
    name: "GitHub",
    own: "It's a Secret to Everybody",
    make: (secret: string | readonly string[] = "It's a Secret to Everybody") => githubSignature(secret),
    body: "Hello, World!",
    headers: {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
      "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    },
    signature: "x-hub-signature-256",
    other: "another",
    now: 1_614_265_330,
    id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    hasTime: false,
  },
  {
    name: "Slack",
    own: "8f742231b10e8888abcd99yyyzzz85a5",
    make: (secret: string | readonly string[] = "8f742231b10e8888abcd99yyyzzz85a5") => slackSignature(secret),
    body: slackBody,
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    signature: "x-slack-signature",
    other: "another",
    now: 1_531_420_618,
    id: undefined,
    hasTime: true,
  },
  {
    name: "Stripe",
    own: "whsec_stripe",
    make: (secret: string | readonly string[] = "whsec_stripe") => stripeSignature(secret),
    body: stripeBody,
    headers: {
      "stripe-signature": `t=1492774577,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=fd8254f966718645969b27f9b9f9bae417d2e0a2b52e3689f7cc4d595d002e09`,
    },
    signature: "stripe-signature",
    other: "another",
    now: 1_492_774_577,
    id: "evt_1",
    hasTime: true,
  },
];

test.each(senders)(
  "$name: a signed request is accepted, with its id",
  async ({ make, body, headers, now, id }) => {
    expect(await verify(make(), body, headers, now)).toMatchObject(id === undefined ? {} : { id });
  },
);

test.each(senders)(
  "$name: one of several secrets is enough, and their order does not count",
  async (sender) => {
    const { make, own, other, body, headers, now } = sender;
    await verify(make([other, own]), body, headers, now);
    await verify(make([own, other]), body, headers, now);
  },
);

test.each(senders)("$name: changes, other secrets and missing headers are refused", async (sender) => {
  const { make, body, headers, signature, other, now } = sender;
  const refused = async (verifier: Verifier, text: string, given: Record<string, string>, at = now) =>
    expect(async () => verify(verifier, text, given, at)).rejects.toMatchObject({
      status: 401,
      code: "webhook-signature",
    });
  await refused(make(), `${body} `, headers);
  await refused(make(), body.replace("t", "u").replace("H", "h"), headers);
  await refused(make(other), body, headers);
  const { [signature]: given = "", ...without } = Object.fromEntries(Object.entries(headers));
  await refused(make(), body, without);
  for (const changed of [
    "",
    given.slice(0, -2),
    given.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    "x",
    "v1a,AAAA",
  ])
    await refused(make(), body, { ...without, [signature]: changed });
  if (!sender.hasTime) return;
  for (const at of [now - 301, now + 301]) await refused(make(), body, headers, at);
  for (const at of [now - 300, now + 300]) await verify(make(), body, headers, at);
});

test("a request is verified on its bytes: the same value serialised again is refused", async () => {
  for (const { make, headers, now } of senders.filter(({ name }) => name === "Stripe"))
    await expect(async () =>
      verify(make(), JSON.stringify(JSON.parse(stripeBody)), headers, now),
    ).rejects.toMatchObject({ status: 401 });
});

test("the challenge of Slack is answered, when it is signed", async () => {
  const body = '{"type":"url_verification","challenge":"3eZbrw1aB"}';
  const headers = {
    "x-slack-request-timestamp": "100",
    "x-slack-signature": `v0=${hexOf("s", `v0:100:${body}`)}`,
  };
  expect(await verify(slackSignature("s"), body, headers, 100)).toEqual({
    id: undefined,
    challenge: "3eZbrw1aB",
  });
});

test("secrets that are none are refused where the receiver is made", () => {
  expect(() => standardSignature("secret")).toThrow("whsec_");
  expect(() => stripeSignature("")).toThrow("secret");
  expect(() => githubSignature([])).toThrow("secret");
});
