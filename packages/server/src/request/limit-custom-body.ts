// The limit on bodies of requests to routes of the host, and to unknown routes.
import type { Context, MiddlewareHandler } from "hono";
import { BodyTooLargeError } from "../errors/request-errors.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { outgoingOf } from "./node-request.ts";
import { announcedLength, type CountedBody, collectBody, countBody, isShort } from "./request-body.ts";

/**
 * Refuses larger bodies, and counts the bytes of the others while they are held. A body of unknown length is received
 * before the route runs; when its client disconnects before the end, the error is the client's. Errors of the route go
 * to the host's error handler.
 */
export function limitCustomBody(
  limit: number,
  bodies: HeldBytes,
  clientOf: (http: Context) => string,
  refuse: (error: unknown) => Response,
): MiddlewareHandler {
  const bound = { limit, option: "limits.customBody" };
  return async (http, next) => {
    const { req } = http;
    if (isShort(limit, req)) return next();
    // The length does not count beside a transfer encoding.
    const length = req.raw.headers.has("transfer-encoding") ? Number.NaN : announcedLength(req);
    if (length > limit) return refuse(new BodyTooLargeError(bound));
    if (req.raw.body === null) return next();
    let counted: CountedBody;
    try {
      const client = clientOf(http);
      counted = Number.isNaN(length)
        ? await collectBody(req.raw, bodies, bound, client)
        : countBody(req.raw, bodies, client);
    } catch (error) {
      return refuse(error);
    }
    req.raw = counted.request;
    outgoingOf(http.env)?.once("close", counted.responded);
    return next().finally(counted.end);
  };
}
