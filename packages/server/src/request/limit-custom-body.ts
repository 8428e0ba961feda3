// The limit on bodies of requests to routes of the host, and to unknown routes.
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BodyTooLargeError } from "../errors/request-errors.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { countBody, isShort, problemOfBody } from "./request-body.ts";

/**
 * Refuses larger bodies, and counts the bytes of the others while they are held. A body of unknown length is read here;
 * when its client disconnects before the end, the error is the client's.
 */
export function limitCustomBody(
  limit: number,
  bodies: HeldBytes,
  refuse: (error: unknown) => Response,
): MiddlewareHandler {
  const onError = () => refuse(new BodyTooLargeError({ limit, option: "limits.customBody" }));
  return async (http, next) => {
    if (isShort(limit, http.req)) return next();
    const { request, end } = countBody(http.req.raw, bodies);
    http.req.raw = request;
    let isRead = false;
    const route = () => {
      isRead = true;
      return next();
    };
    return bodyLimit({ maxSize: limit, onError })(http, route)
      .catch((error) => {
        // Errors of the route go to the host's error handler.
        if (isRead) throw error;
        return refuse(problemOfBody(error));
      })
      .finally(end);
  };
}
