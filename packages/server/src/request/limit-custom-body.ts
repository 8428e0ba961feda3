// The limit on bodies of requests to routes of the host's own, and to none.
import type { MiddlewareHandler } from "hono";
import { BodyTooLargeError } from "../errors/request-errors.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { countBody, isShort, problemOfBody } from "./request-body.ts";

/**
 * Refuses larger bodies, and counts what is read of the others. Asking for a body makes the whole request of it, which most
 * routes need not have. One of unknown length is read here: one that its client left is that client's mistake.
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
