// Verifies webhooks of Andante, and of every sender that signs by Standard Webhooks, with the web's own cryptography.

/** A verified event. */
export interface WebhookEvent {
  /** The same on every attempt: ignore one that you have seen. */
  readonly id: string;
  /** The time of this attempt. */
  readonly timestamp: Date;
  /** Such as `execution.ended`. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The request was not signed with one of the secrets, is too old, or is no event. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

export interface VerifyWebhookOptions {
  /** Seconds that the time of the attempt may differ from the time here. Default: 300. */
  readonly tolerance?: number | undefined;
  /** Bytes of a body; larger ones are refused. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** The time, in milliseconds since 1970. Default: now. */
  readonly now?: number | undefined;
}

/** Signatures and secrets that are compared. */
const maxCompared = 10;

/**
 * Reads and verifies the request of a webhook.
 *
 * @param secrets The secret of the endpoint, `whsec_…`; of a list one has to fit.
 * @throws WebhookVerificationError Respond with 401 then.
 * @example
 * ```ts
 * import { verifyWebhook } from "@andante/client/webhooks";
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const { id, type, data } = await verifyWebhook(request, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
 *   console.log(id, type, data);
 *   return new Response(null, { status: 204 });
 * }
 * ```
 */
export async function verifyWebhook(
  request: Request,
  secrets: string | readonly string[],
  options: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const { tolerance = 300, maxBytes = 1024 * 1024, now = Date.now() } = options;
  const id = headerOf(request, "webhook-id");
  const time = headerOf(request, "webhook-timestamp");
  const given = headerOf(request, "webhook-signature").split(" ").slice(0, maxCompared);
  const seconds = /^\d{1,12}$/.test(time) ? Number(time) : Number.NaN;
  if (!(Math.abs(now / 1000 - seconds) <= tolerance)) throw refusal("its time differs from the time here");
  const body = await readBody(request, maxBytes);
  const signed = join(new TextEncoder().encode(`${id}.${time}.`), body);
  const signatures = given.filter((each) => each.startsWith("v1,")).map((each) => bytesOf(each.slice(3)));
  let fits = false;
  for (const secret of [secrets].flat().slice(0, maxCompared)) {
    const key = await keyOf(secret);
    for (const signature of signatures)
      if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed)))
        fits = true;
  }
  if (!fits) throw refusal("no signature fits");
  return { id, timestamp: new Date(seconds * 1000), ...eventIn(new TextDecoder().decode(body)) };
}

function refusal(problem: string): WebhookVerificationError {
  return new WebhookVerificationError(`The webhook is not verified: ${problem}`);
}

function headerOf({ headers }: Request, name: string): string {
  const value = headers.get(name);
  if (value === null || value === "" || value.length > 2_000) throw refusal(`the header ${name} is missing`);
  return value;
}

async function readBody(request: Request, most: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.bodyUsed)
    throw new TypeError("the body of the webhook was read before: pass the request as it came");
  let bytes = new Uint8Array(0);
  const reader = request.body?.getReader();
  for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
    bytes = join(bytes, next.value);
    if (bytes.byteLength <= most) continue;
    await reader?.cancel();
    throw refusal(`its body is larger than ${most} bytes`);
  }
  return bytes;
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.byteLength + other.byteLength);
  both.set(one);
  both.set(other, one.byteLength);
  return both;
}

async function keyOf(secret: string) {
  const bytes = secret.startsWith("whsec_") ? bytesOf(secret.slice("whsec_".length)) : undefined;
  if (bytes === undefined) throw new TypeError('a secret of webhooks is "whsec_" and base64');
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Undefined for a text that is not base64. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function eventIn(text: string): Pick<WebhookEvent, "type" | "data"> {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw refusal("its body is not JSON");
  }
  if (typeof event !== "object" || event === null || !("type" in event) || typeof event.type !== "string")
    throw refusal("its body has no type");
  const data = "data" in event && typeof event.data === "object" && event.data !== null ? event.data : {};
  return { type: event.type, data: { ...data } };
}
