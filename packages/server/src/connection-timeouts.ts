// The time limits of a connection: for sending a request, and for being idle between two requests.
import type { ServerOptions } from "node:http";
import { OptionError } from "@andante/core/errors";
import { checkOptionGroup, type KnownOptions } from "@andante/core/internal";

/** All in milliseconds; 0 for no limit. */
export interface ConnectionTimeouts {
  /**
   * How long an idle connection stays open. Set it longer than the idle timeout of a proxy, so that the proxy never
   * sends a request on a connection that the server is closing. Default: 75 000.
   */
  readonly keepAlive?: number;
  /** From the beginning of a request to the end of its headers; a 408 after that. Default: 60 000. */
  readonly headers?: number;
  /** From the beginning of a request to the end of its body; a 408 after that. Default: 300 000. */
  readonly request?: number;
}

const known: KnownOptions<ConnectionTimeouts> = { keepAlive: true, headers: true, request: true };

/** Maximum milliseconds between two checks of the connections; Node's default. */
const longestInterval = 30_000;

/** The timeouts as Node's server takes them. */
export function timeoutsOf(given: ConnectionTimeouts = {}): ServerOptions {
  checkOptionGroup("timeouts", given, known);
  const keepAliveTimeout = milliseconds("keepAlive", given.keepAlive ?? 75_000);
  const requestTimeout = milliseconds("request", given.request ?? 300_000);
  // The headers are part of the request: a shorter limit for the request applies to them too.
  const headers = given.headers ?? Math.min(60_000, requestTimeout || 60_000);
  const headersTimeout = milliseconds("headers", headers);
  if (requestTimeout > 0 && headersTimeout > requestTimeout) {
    const problem = `expected at most timeouts.request (${requestTimeout})`;
    throw new OptionError({ option: "timeouts.headers", problem });
  }
  const shortest = Math.min(headersTimeout || longestInterval, requestTimeout || longestInterval);
  // Node checks its connections periodically: often enough for the shortest timeout.
  const connectionsCheckingInterval = Math.min(longestInterval, Math.max(20, Math.ceil(shortest / 4)));
  return { keepAliveTimeout, headersTimeout, requestTimeout, connectionsCheckingInterval };
}

function milliseconds(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 31) return value;
  throw new OptionError({ option: `timeouts.${name}`, problem: "expected milliseconds, or 0 for no limit" });
}
