// Receivers: webhooks of other services, which become events.
import { OptionError } from "@andante/core/errors";
import { checkKnownOptions, type EventToSend, type KnownOptions } from "@andante/core/internal";
import type { Verifier } from "./verifiers.ts";

/** A verified webhook. */
export interface ReceivedWebhook {
  /** The body as JSON; as text where it is none. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
  readonly headers: Headers;
  /** The id that the verifier has found. */
  readonly id: string | undefined;
}

type Made<T> = T | Promise<T>;

export interface Receiver {
  /** Throws or rejects unless the sender has signed the request: `stripeSignature(secret)` and the like, or your own. */
  readonly verify: Verifier;
  /** The event or events that it means; undefined for a webhook that means none. */
  event(webhook: ReceivedWebhook): Made<EventToSend | readonly EventToSend[] | undefined>;
  /** The id of the sender: one that is known is not sent again. Default: that of the verifier, else a hash of the body. */
  id?(webhook: ReceivedWebhook): string | undefined;
}

export type Receivers = Readonly<Record<string, Receiver>>;

const known: KnownOptions<Receiver> = { verify: true, event: true, id: true };

export function checkReceivers(receivers: Receivers | undefined): void {
  for (const [name, receiver] of Object.entries(receivers ?? {})) {
    const option = `receivers.${name}`;
    if (!/^[\w-]{1,100}$/.test(name))
      throw new OptionError({ option, problem: "expected 1 to 100 letters, digits, _ and - as its name" });
    checkKnownOptions(option, receiver, known);
    for (const [field, value] of [
      ["verify", receiver?.verify],
      ["event", receiver?.event],
    ] as const)
      if (typeof value !== "function")
        throw new OptionError({ option: `${option}.${field}`, problem: "expected a function" });
  }
}
