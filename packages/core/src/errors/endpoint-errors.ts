// Errors of endpoints and deliveries.
import { AndanteError } from "./andante-error.ts";

export class EndpointNotFoundError extends AndanteError {
  constructor({ endpointId }: { endpointId: string }) {
    super(`Endpoint ${endpointId} not found`, { code: "endpoint-not-found", status: 404 });
  }
}

/** The endpoint is declared in code, or changes too often. */
export class EndpointConflictError extends AndanteError {
  constructor({ endpointId, problem }: { endpointId: string; problem: string }) {
    super(`Endpoint ${endpointId} ${problem}`, { code: "endpoint-conflict", status: 409 });
  }
}

export class DeliveryNotFoundError extends AndanteError {
  constructor({ deliveryId }: { deliveryId: string }) {
    super(`Delivery ${deliveryId} not found`, { code: "delivery-not-found", status: 404 });
  }
}

/** The delivery is under way. */
export class DeliveryConflictError extends AndanteError {
  constructor({ deliveryId, problem }: { deliveryId: string; problem: string }) {
    super(`Delivery ${deliveryId} ${problem}`, { code: "delivery-conflict", status: 409 });
  }
}

/** The host has no option `endpoints`. */
export class EndpointsOffError extends AndanteError {
  constructor() {
    super("Endpoints are off: set endpoints: {} in the options of serve or createAndante", {
      code: "endpoints-off",
      status: 409,
    });
  }
}
