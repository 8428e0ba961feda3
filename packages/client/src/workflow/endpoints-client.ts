// Endpoints that receive events of executions, and the deliveries to them.
import { type Connection, part } from "../connection/connection.ts";
import { type Listing, listing } from "../connection/listing.ts";
import type { CallOptions, PageOptions } from "../connection/options.ts";
import type {
  Delivery,
  DeliveryDetail,
  DeliveryPage,
  Endpoint,
  EndpointList,
  EndpointTest,
  RotatedEndpoint,
  SetEndpoint,
} from "../responses/wire.ts";

export interface EndpointOptions {
  /** Where events are posted; https. */
  readonly url: string;
  /** `whsec_` and base64. Default: one is made, or the present one stays. */
  readonly secret?: string | undefined;
  /** The types of events. Default: all. */
  readonly on?: Endpoint["on"] | undefined;
  /** Only events of these workflows. Default: all. */
  readonly workflows?: readonly string[] | undefined;
  /** `full`: with results, errors and data. Default: `thin`. */
  readonly content?: Endpoint["content"] | undefined;
}

export interface DeliveryFilter extends PageOptions {
  readonly endpointId?: string | undefined;
  readonly state?: Delivery["state"] | undefined;
}

export class EndpointsClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async list({ signal }: CallOptions = {}): Promise<EndpointList["endpoints"]> {
    return (await this.#connection.repeat<EndpointList>({ path: "/api/endpoints", signal })).endpoints;
  }

  get(endpointId: string, { signal }: CallOptions = {}): Promise<Endpoint> {
    return this.#connection.repeat({ path: pathOf(endpointId), signal });
  }

  /** Creates or replaces it. A secret is returned only where it was made now. */
  set(endpointId: string, options: EndpointOptions, { signal }: CallOptions = {}): Promise<SetEndpoint> {
    return this.#connection.send({ method: "PUT", path: pathOf(endpointId), body: options, signal });
  }

  /** Its deliveries that were not sent fail. */
  async remove(endpointId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf(endpointId), signal });
  }

  /** A new secret; the one before signs too for a day. */
  rotate(endpointId: string, { signal }: CallOptions = {}): Promise<RotatedEndpoint> {
    return this.#connection.send({ method: "POST", path: `${pathOf(endpointId)}/rotate`, signal });
  }

  /** Lets one that was disabled receive events again, from now on. */
  enable(endpointId: string, { signal }: CallOptions = {}): Promise<Endpoint> {
    return this.#connection.send({ method: "POST", path: `${pathOf(endpointId)}/enable`, signal });
  }

  /** Sends an event of the type `endpoint.test`. */
  test(endpointId: string, { signal }: CallOptions = {}): Promise<EndpointTest> {
    return this.#connection.send({ method: "POST", path: `${pathOf(endpointId)}/test`, signal });
  }
}

export class DeliveriesClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Those of the newest executions first. */
  list(filter: DeliveryFilter = {}): Listing<DeliveryPage, Delivery> {
    return listing(this.#connection, "/api/deliveries", filter, ({ deliveries }) => deliveries);
  }

  /** With its body and its attempts. */
  get(deliveryId: string, { signal }: CallOptions = {}): Promise<DeliveryDetail> {
    return this.#connection.repeat({ path: `/api/deliveries/${part(deliveryId)}`, signal });
  }

  /** Sends one again, with the same id. */
  redeliver(deliveryId: string, { signal }: CallOptions = {}): Promise<Delivery> {
    const path = `/api/deliveries/${part(deliveryId)}/redeliver`;
    return this.#connection.send({ method: "POST", path, signal });
  }
}

function pathOf(endpointId: string): string {
  return `/api/endpoints/${part(endpointId)}`;
}
