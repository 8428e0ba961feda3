// Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over the id, the time and the bytes of the body.
import { createHmac, randomBytes } from "node:crypto";

/** The beginning of a secret as text; base64 follows. */
const prefix = "whsec_";

/** Undefined for a text that is no secret: it has 24 to 64 bytes. */
export function readSecret(secret: unknown): Buffer | undefined {
  if (typeof secret !== "string" || !secret.startsWith(prefix)) return undefined;
  const text = secret.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
}

export function newSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
}

export function signatureOf({ id, timestamp, body }: SignedMessage, secret: Buffer): string {
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return `v1,${signature}`;
}

/** The headers of a message. With several secrets it has a signature of each. */
export function webhookHeaders(
  message: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = secrets.flatMap((secret) => {
    const bytes = readSecret(secret);
    return bytes === undefined ? [] : [signatureOf(message, bytes)];
  });
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
