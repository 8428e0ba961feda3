// The signatures of senders of webhooks: over the bytes of the body, compared in constant time.
import { createHmac, timingSafeEqual } from "node:crypto";
import { OptionError } from "@andante/core/errors";
import { WebhookSignatureError } from "../errors/request-errors.ts";
import { isObject } from "../is-object.ts";

export interface WebhookToVerify {
  readonly bytes: Uint8Array;
  readonly headers: Headers;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface VerifiedWebhook {
  /** The id of the sender, the same for each attempt. Default: none. */
  readonly id?: string | undefined;
  /** The request only asks whether the receiver is there: it is answered with this text. Default: it is an event. */
  readonly challenge?: string | undefined;
}

export type Verifier = (webhook: WebhookToVerify) => VerifiedWebhook | Promise<VerifiedWebhook>;

export interface SignatureOptions {
  /** Seconds that the time of the sender may differ from the time here. Default: 300. */
  readonly tolerance?: number;
}

type Secrets = string | readonly string[];

/** Signatures in one header that are compared. */
const maxSignatures = 10;

/** Verifies webhooks that are signed by Standard Webhooks, as those of Andante are. */
export function standardSignature(secret: Secrets, options: SignatureOptions = {}): Verifier {
  const keys = keysOf(secret).map((each) => {
    const bytes = Buffer.from(each.replace(/^whsec_/, ""), "base64");
    if (!each.startsWith("whsec_") || bytes.length < 24 || bytes.length > 64)
      throw new OptionError({ option: "secret", problem: 'expected "whsec_" and 24 to 64 bytes in base64' });
    return bytes;
  });
  return ({ bytes, headers, now }) => {
    const id = headerIn(headers, "webhook-id");
    const time = headerIn(headers, "webhook-timestamp");
    checkTime(time, now, options);
    const given = headerIn(headers, "webhook-signature").split(" ");
    const signatures = given.filter((each) => each.startsWith("v1,")).map((each) => each.slice(3));
    compare(keys, [`${id}.${time}.`, bytes], signatures, "base64");
    return { id };
  };
}

/** Verifies webhooks of Stripe; the id is that of the event. */
export function stripeSignature(secret: Secrets, options: SignatureOptions = {}): Verifier {
  const keys = keysOf(secret);
  return ({ bytes, headers, now }) => {
    const parts = headerIn(headers, "stripe-signature")
      .split(",")
      .map((part) => part.trim().split("=", 2));
    const time = parts.find(([name]) => name === "t")?.[1] ?? "";
    checkTime(time, now, options);
    const signatures = parts.flatMap(([name, value = ""]) => (name === "v1" ? [value] : []));
    compare(keys, [`${time}.`, bytes], signatures, "hex");
    return { id: textIn(bytes, "id") };
  };
}

/** Verifies webhooks of GitHub; the id is that of the delivery. Their signature has no time. */
export function githubSignature(secret: Secrets): Verifier {
  const keys = keysOf(secret);
  return ({ bytes, headers }) => {
    const [scheme, signature = ""] = headerIn(headers, "x-hub-signature-256").split("=", 2);
    compare(keys, [bytes], scheme === "sha256" ? [signature] : [], "hex");
    return { id: headers.get("x-github-delivery") ?? undefined };
  };
}

/** Verifies webhooks of Slack, and answers their challenge; the id is that of the event. */
export function slackSignature(secret: Secrets, options: SignatureOptions = {}): Verifier {
  const keys = keysOf(secret);
  return ({ bytes, headers, now }) => {
    const time = headerIn(headers, "x-slack-request-timestamp");
    checkTime(time, now, options);
    const [version, signature = ""] = headerIn(headers, "x-slack-signature").split("=", 2);
    compare(keys, [`v0:${time}:`, bytes], version === "v0" ? [signature] : [], "hex");
    const challenge = textIn(bytes, "type") === "url_verification" ? textIn(bytes, "challenge") : undefined;
    return { id: textIn(bytes, "event_id"), challenge };
  };
}

function keysOf(secret: Secrets): readonly string[] {
  const keys = [secret].flat();
  const isText = (key: unknown) => typeof key === "string" && key !== "";
  if (keys.length === 0 || keys.length > 10 || !keys.every(isText))
    throw new OptionError({
      option: "secret",
      problem: "expected a text that is not empty, or a list of 1 to 10",
    });
  return keys;
}

function headerIn(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (value === null || value === "" || value.length > 2_000)
    throw new WebhookSignatureError({ problem: `the header ${name} is missing` });
  return value;
}

function checkTime(seconds: string, now: number, { tolerance = 300 }: SignatureOptions): void {
  const time = /^\d{1,12}$/.test(seconds) ? Number(seconds) : Number.NaN;
  if (!(Math.abs(now / 1000 - time) <= tolerance))
    throw new WebhookSignatureError({ problem: "its time differs from the time here" });
}

/** Each key with each signature, so that the time does not depend on which of them fit. */
function compare(
  keys: readonly (string | Buffer)[],
  signed: readonly (string | Uint8Array)[],
  given: readonly string[],
  encoding: "hex" | "base64",
): void {
  const signatures = given.slice(0, maxSignatures).map((each) => Buffer.from(each, encoding));
  let fits = false;
  for (const key of keys) {
    const hmac = createHmac("sha256", key);
    for (const part of signed) hmac.update(part);
    const expected = hmac.digest();
    for (const signature of signatures) {
      const isWhole = signature.length === expected.length;
      if (timingSafeEqual(expected, isWhole ? signature : Buffer.alloc(expected.length)) && isWhole)
        fits = true;
    }
  }
  if (!fits) throw new WebhookSignatureError({ problem: "no signature fits" });
}

/** A text of the body; undefined where the body is no JSON or has none of this name. */
function textIn(bytes: Uint8Array, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const text = isObject(value) ? value[name] : undefined;
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
