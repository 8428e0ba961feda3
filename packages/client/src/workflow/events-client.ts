// Events from outside: those that were sent, and the registered ones.
import type { Connection } from "../connection/connection.ts";
import { type Listing, listing } from "../connection/listing.ts";
import { newId } from "../connection/new-id.ts";
import type { CallOptions, PageOptions } from "../connection/options.ts";
import type { EventReceipts, EventTypes, SentEvent, SentEventPage } from "../responses/wire.ts";

export interface SendEventOptions extends CallOptions {
  /** An event with a known id is not sent again. Default: a new one. */
  readonly id?: string | undefined;
  /** Default: made by the definition of the event. */
  readonly key?: string | undefined;
  /** Whose event it is; with authentication the user of the token. */
  readonly userId?: string | undefined;
}

export interface EventToSend extends Omit<SendEventOptions, "signal"> {
  readonly name: string;
  readonly data: unknown;
}

export interface EventFilter extends PageOptions {
  readonly name?: string | undefined;
  readonly key?: string | undefined;
  readonly id?: string | undefined;
  /** Only those that have started, woken and cancelled nothing. */
  readonly unmatched?: boolean | undefined;
}

export class EventsClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Those that were sent, the newest first. */
  list(filter: EventFilter = {}): Listing<SentEventPage, SentEvent> {
    return listing(this.#connection, "/api/events", filter, ({ events }) => events);
  }

  /** Sends several in order: all are kept, or none. */
  async sendAll(
    events: readonly EventToSend[],
    { signal }: CallOptions = {},
  ): Promise<EventReceipts["receipts"]> {
    const body = { events: events.map((event) => ({ ...event, id: event.id ?? newId() })) };
    const sending = { method: "POST", path: "/api/events", body, signal } as const;
    return (await this.#connection.repeat<EventReceipts>(sending)).receipts;
  }

  /** The registered events with the schemas of their data. */
  async types({ signal }: CallOptions = {}): Promise<EventTypes["events"]> {
    return (await this.#connection.repeat<EventTypes>({ path: "/api/event-types", signal })).events;
  }
}
