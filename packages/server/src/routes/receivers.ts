// Receivers: the requests of services that send webhooks.
import { createHash } from "node:crypto";
import { AndanteError } from "@andante/core";
import { type EventToSend, isNoted } from "@andante/core/internal";
import { ReceiverNotFoundError, WebhookSignatureError } from "../errors/request-errors.ts";
import type { ReceivedWebhook } from "../receivers/receiver.ts";
import { parseJson } from "../request/request-body.ts";
import { success } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type RouteContext, route } from "../route.ts";
import { receivedWebhook } from "../schemas/event-schemas.ts";

/** Bytes of a webhook. */
const maxBody = 1024 * 1024;

export const receiverRoutes = [
  route<Uint8Array>({
    method: "POST",
    path: "/receive/:receiver",
    access: "signed",
    action: "receivers.receive",
    resource: [],
    tag: "Webhooks",
    operationId: "receiveWebhook",
    summary: "Receive a webhook of another service, which becomes an event",
    raw: { limit: maxBody, contentType: "application/json" },
    response: {
      kind: "json",
      description: "It was received before, or means no event",
      data: receivedWebhook,
      accepted: "Its events are kept",
    },
    errors: [400, 401, 404, 409, 413, 503],
    handle: receive,
  }),
];

async function receive({ andante, logger, params, body: bytes, http, receivers }: RouteContext<Uint8Array>) {
  const { receiver: name = "" } = params;
  const receiver = Object.hasOwn(receivers, name) ? receivers[name] : undefined;
  if (receiver === undefined) throw new ReceiverNotFoundError({ receiver: name });
  const { headers } = http.req.raw;
  const { id, challenge } = await verified(
    () => receiver.verify({ bytes, headers, now: Date.now() }),
    (err) => logger.warn({ err, receiver: name }, "the verifier of a receiver has failed"),
  );
  if (challenge !== undefined)
    return new RouteResponse(challenge, { headers: { "content-type": "text/plain; charset=utf-8" } });
  const webhook: ReceivedWebhook = { body: bodyIn(bytes), bytes, headers, id };
  const given = await receiver.event(webhook);
  const events: readonly EventToSend[] = given === undefined ? [] : [given].flat();
  if (events.length === 0) return { duplicate: false, eventIds: [] };
  const sender = receiver.id?.(webhook) ?? id ?? createHash("sha256").update(bytes).digest("hex");
  const receipts = await andante.sendAll(
    events.map((event, index) => ({ ...event, id: event.id ?? idOf(name, sender, index) })),
  );
  const duplicate = receipts.every((receipt) => receipt.duplicate);
  return success({ duplicate, eventIds: receipts.map(({ eventId }) => eventId) }, duplicate ? 200 : 202);
}

/** An error of a verifier of the host is a refusal too, whose reason is for the log. */
async function verified<T>(verify: () => T | Promise<T>, log: (error: unknown) => void): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof AndanteError) throw error;
    if (!isNoted(error)) log(error);
    throw new WebhookSignatureError({ problem: "the verifier refuses it" });
  }
}

function bodyIn(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The same for each attempt of the sender, within the length of ids. */
function idOf(receiver: string, sender: string, index: number): string {
  const id = `${receiver}:${sender}${index === 0 ? "" : `#${index}`}`;
  const isPlain = id.length <= 200 && id.isWellFormed() && !/\p{Cc}/u.test(id);
  return isPlain ? id : `${receiver}:${createHash("sha256").update(id).digest("hex")}`;
}
