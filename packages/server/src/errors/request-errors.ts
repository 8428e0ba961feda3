// Errors of an HTTP request before it reaches an agent or a workflow.
import { AndanteError } from "@andante/core";

export class RouteNotFoundError extends AndanteError {
  constructor({ method, path }: { method: string; path: string }) {
    super(`No route for ${method} ${path}`, { code: "route-not-found", status: 404 });
  }
}

/** The console's package is installed, but not built. */
export class ConsoleNotBuiltError extends AndanteError {
  constructor() {
    super("The console is not built here: run `npm run build`", { code: "console-not-built", status: 404 });
  }
}

/** A page of another site sent the request, and `cors` does not allow that site. */
export class ForeignOriginError extends AndanteError {
  constructor({ origin }: { origin: string | null }) {
    super(`Requests from the origin ${origin} are not allowed`, { code: "foreign-origin", status: 403 });
  }
}

/** The request names a host that `allowedHosts` does not list. */
export class HostNotAllowedError extends AndanteError {
  constructor({ host }: { host: string }) {
    super(`Requests to the host ${JSON.stringify(host)} are not allowed`, {
      code: "host-not-allowed",
      status: 403,
    });
  }
}

/** The body is not JSON, or does not match the route's schema. */
export class BadRequestError extends AndanteError {
  constructor({ problem }: { problem: string }) {
    super(problem, { code: "bad-request", status: 400 });
  }
}

export class BodyTooLargeError extends AndanteError {
  constructor({ limit, option = "limits.body" }: { limit: number; option?: string }) {
    super(`The request body is larger than ${limit} bytes (${option})`, {
      code: "body-too-large",
      status: 413,
    });
  }
}

export class TooManyFieldsError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(
      `The objects of the request body have more than ${limit} different sequences of field names: send a list of pairs in place of a large map, or raise limits.body`,
      { code: "too-many-fields", status: 413 },
    );
  }
}

/** The bodies of all requests together take the memory that there is for them. */
export class BodiesLimitError extends AndanteError {
  constructor() {
    super("The requests that are being received are too large together, try again later", {
      code: "bodies-limit",
      status: 503,
      retryAfter: 1,
    });
  }
}

export class UnsupportedMediaTypeError extends AndanteError {
  constructor() {
    super("The request body must be JSON with Content-Type application/json", {
      code: "unsupported-media-type",
      status: 415,
    });
  }
}

/** The client has disconnected. No client receives this error; metrics count the request with its status. */
export class ClientGoneError extends AndanteError {
  constructor() {
    super("The client closed the connection before it had its response", {
      code: "client-gone",
      status: 499,
    });
  }
}

export class ReadLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many reads are under way (limit ${limit}), try again later`, {
      code: "read-limit",
      status: 503,
      retryAfter: 1,
    });
  }
}

export class ExportLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many exports are under way (limit ${limit}), try again later`, {
      code: "export-limit",
      status: 503,
      retryAfter: 5,
    });
  }
}

export class SocketLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many sockets are open (limit ${limit}), try again later`, {
      code: "socket-limit",
      status: 503,
      retryAfter: 1,
    });
  }
}

export class StreamLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many event streams are open (limit ${limit}), try again later`, {
      code: "stream-limit",
      status: 503,
      retryAfter: 1,
    });
  }
}

export class ReceiverNotFoundError extends AndanteError {
  constructor({ receiver }: { receiver: string }) {
    super(`Receiver ${receiver} not found`, { code: "receiver-not-found", status: 404 });
  }
}

/** The webhook is not signed by its sender, or too old. */
export class WebhookSignatureError extends AndanteError {
  constructor({ problem }: { problem: string }) {
    super(`The webhook is not verified: ${problem}`, { code: "webhook-signature", status: 401 });
  }
}
