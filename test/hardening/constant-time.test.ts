// Signatures of webhooks and tokens of links are verified in constant time: hashes and comparisons are the same, in number, order
// and length, whichever part of a signature is wrong, and bytes are compared by `timingSafeEqual` alone.
import { createHmac } from "node:crypto";
import { expect, test, vi } from "vitest";
import { LinkTokens } from "../../packages/core/src/link/link-token.ts";
import {
  githubSignature,
  slackSignature,
  standardSignature,
  stripeSignature,
  type Verifier,
} from "../../packages/server/src/receivers/verifiers.ts";

const { trace } = vi.hoisted(() => ({ trace: [] as string[] }));
vi.mock("node:crypto", async (load) => {
  const crypto = await load<typeof import("node:crypto")>();
  return {
    ...crypto,
    createHmac: (...given: Parameters<typeof crypto.createHmac>) => {
      const hmac = crypto.createHmac(...given);
      const update = hmac.update.bind(hmac);
      return Object.assign(hmac, {
        update: (part: string | Uint8Array) => {
          trace.push(`hash ${Buffer.from(part).length}`);
          return update(part);
        },
      });
    },
    timingSafeEqual: (one: Uint8Array, other: Uint8Array) => {
      trace.push(`compare ${one.length} ${other.length}`);
      return crypto.timingSafeEqual(one, other);
    },
  };
});

/** The hashes and comparisons of a call, whether it is refused or not. */
function traceOf(work: () => unknown): readonly string[] {
  trace.length = 0;
  try {
    work();
  } catch {
    trace.push("refused");
  }
  return trace.splice(0);
}

const now = 1_800_000_000;
const body = '{"id":"evt_1"}';
const key = Buffer.alloc(32, 7);
const [own, other] = [key, Buffer.alloc(32, 8)].map((each) => `whsec_${each.toString("base64")}`);
const sign = (secret: string | Buffer, text: string, encoding: "hex" | "base64") =>
  createHmac("sha256", secret).update(text).digest(encoding);

const senders: readonly (readonly [
  string,
  Verifier,
  string,
  (signature: string) => Record<string, string>,
])[] = [
  [
    "Standard Webhooks",
    standardSignature([other ?? "", own ?? ""]),
    sign(key, `msg.${now}.${body}`, "base64"),
    (signature) => ({
      ...{ "webhook-id": "msg", "webhook-timestamp": String(now) },
      "webhook-signature": `v1,${signature}`,
    }),
  ],
  [
    "Stripe",
    stripeSignature(["other", "own"]),
    sign("own", `${now}.${body}`, "hex"),
    (signature) => ({ "stripe-signature": `t=${now},v1=${signature}` }),
  ],
  [
    "GitHub",
    githubSignature(["other", "own"]),
    sign("own", body, "hex"),
    (signature) => ({ "x-hub-signature-256": `sha256=${signature}` }),
  ],
  [
    "Slack",
    slackSignature(["other", "own"]),
    sign("own", `v0:${now}:${body}`, "hex"),
    (signature) => ({ "x-slack-request-timestamp": String(now), "x-slack-signature": `v0=${signature}` }),
  ],
];

/** One that is wrong in its first digit, one in the middle, one near its end, and one that is too short. */
function wrongOnes(signature: string): readonly string[] {
  const changed = (at: number) =>
    signature.slice(0, at) + (signature[at] === "a" ? "b" : "a") + signature.slice(at + 1);
  return [changed(0), changed(signature.length / 2), changed(signature.length - 4), signature.slice(0, 8)];
}

test.each(senders)(
  "%s: a refusal does not depend on the wrong part of a signature",
  (_, verifier, signature, headersOf) => {
    const traceWith = (given: string) =>
      traceOf(() =>
        verifier({
          bytes: new TextEncoder().encode(body),
          headers: new Headers(headersOf(given)),
          now: now * 1000,
        }),
      );
    const right = traceWith(signature);
    // Both secrets are tried, also after the first one fits.
    expect(right.filter((each) => each.startsWith("compare"))).toEqual(["compare 32 32", "compare 32 32"]);
    for (const wrong of wrongOnes(signature)) expect(traceWith(wrong), wrong).toEqual([...right, "refused"]);
  },
);

test("a token that was changed takes as many steps as a link that is right, or has expired", () => {
  const tokens = new LinkTokens(["a first secret", "a second secret"]);
  const claims = { executionId: "one", path: "gate", visit: "1", expiresAt: now };
  const token = tokens.sign(claims);
  const [payload = "", signature = ""] = token.split(".");
  const right = traceOf(() => tokens.read(token));
  expect(right.filter((each) => each.startsWith("compare"))).toEqual(["compare 43 43", "compare 43 43"]);
  const foreign = new LinkTokens(["another secret"]).sign(claims).split(".")[1] ?? "";
  for (const wrong of [...wrongOnes(signature), foreign])
    expect(
      traceOf(() => tokens.read(`${payload}.${wrong}`)),
      wrong,
    ).toEqual(right);
  // The contents of one execution with the signature of another one.
  const elsewhere = tokens.sign({ ...claims, executionId: "two" }).split(".")[0] ?? "";
  expect(traceOf(() => tokens.read(`${elsewhere}.${signature}`))).toEqual(right);
  expect(tokens.read(`${elsewhere}.${signature}`)).toBeUndefined();
});
