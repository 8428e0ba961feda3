// The body limit of custom routes and of requests without a route.
import type { MiddlewareHandler } from "hono";
import { BodyTooLargeError } from "../errors/request-errors.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { countBody, isShort, problemOfBody } from "./request-body.ts";

/**
 * Refuses larger bodies and counts the bytes of the others while they are read. Accessing the body would create the
 * full Request, which most routes do not need. A body of unknown length is read here; a truncated one is the client's
 * error.
 */
export function limitCustomBody(
  limit: number,
  bodies: HeldBytes,
  refuse: (error: unknown) => Response,
): MiddlewareHandler {
  const onError = () => refuse(new BodyTooLargeError({ limit, option: "limits.customBody" }));
  return async (http, next) => {
    if (isShort(limit, http.req)) return next();
    const { bodyLimit } = await import("hono/body-limit");
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
