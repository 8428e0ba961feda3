// Records a request in the metrics and the log.
import type { Andante, Logger } from "@andante/core";

// A client may send any method; labels of metrics must be a closed set.
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** `start` is by the monotonic clock. Reports the route's pattern, since a URL may contain a token. */
export function report(
  { andante, logger }: { readonly andante: Andante; readonly logger: Logger },
  method: string,
  route: string,
  status: number,
  start: number,
): void {
  const milliseconds = performance.now() - start;
  andante.metrics.request(knownMethods.has(method) ? method : "other", route, status, milliseconds / 1000);
  if (logger.isLevelEnabled?.("debug") === false) return;
  logger.debug({ method, route, status, milliseconds: Math.round(milliseconds * 10) / 10 }, "request");
}
