// The event that has started an execution, and those that cancel it, as the links of the execution hold them.
import { Fields } from "../values/fields.ts";
import type { EventPlace } from "./awaits.ts";

export interface EventCause {
  readonly eventId: string;
  readonly name: string;
  /** The number and the time of the event. */
  readonly seq: number;
  readonly sentAt: number;
}

/** The events that cancel an execution. */
export interface CancelledBy {
  readonly target: string;
  readonly keys: readonly EventPlace[];
}

export function linkToEvents(links: {
  readonly event?: EventCause | undefined;
  readonly cancelOn?: CancelledBy | undefined;
}): string {
  return JSON.stringify(links);
}

/** Undefined for an execution that no event has started. */
export function eventIn(links: string | null): EventCause | undefined {
  if (links === null) return undefined;
  const fields = Fields.parse(links, (problem) => new TypeError(`The links of an execution: ${problem}`));
  const event = fields.object("event");
  return (
    event && {
      eventId: event.text("eventId"),
      name: event.text("name"),
      seq: event.number("seq"),
      sentAt: event.number("sentAt"),
    }
  );
}

/** The places of the events that cancel an execution; null where none does. */
export function cancelledBy(links: string | null): CancelledBy | null {
  if (links === null || !links.includes('"cancelOn"')) return null;
  const { cancelOn }: { readonly cancelOn?: CancelledBy } = JSON.parse(links);
  return cancelOn ?? null;
}
