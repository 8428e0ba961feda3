// Errors that the sender of an event can meet.
import { AndanteError } from "./andante-error.ts";

export class EventNotFoundError extends AndanteError {
  constructor({ name }: { name: string }) {
    super(`Event ${name} not found`, { code: "event-not-found", status: 404 });
  }
}

/** The data of an event does not fit its schema, or has no key. */
export class EventDataError extends AndanteError {
  constructor({ name, detail }: { name: string; detail: string }) {
    super(`Event ${name}: ${detail}`, { code: "event-data", status: 400 });
  }
}

/** An event with this id was sent before, with another name, key or data. */
export class EventIdConflictError extends AndanteError {
  constructor({ eventId }: { eventId: string }) {
    super(`Event id ${eventId} was used for another event`, { code: "event-id-conflict", status: 409 });
  }
}
