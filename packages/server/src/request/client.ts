// The client that a share belongs to: a user, or without one the address of the request.
import { isIPv6 } from "node:net";
import { OptionError } from "@andante/core/errors";
import type { Context } from "hono";
import { headerOf, incomingOf } from "./node-request.ts";

/** The address of a connection, and the header `X-Forwarded-For` of a request on it. */
export interface Origin {
  readonly address: string | undefined;
  readonly forwarded: string | undefined;
}

/** The origin of a request; the address is unknown behind a listener other than Node's. */
export function originOf({ req, env }: Context): Origin {
  return { address: incomingOf(env)?.socket.remoteAddress, forwarded: headerOf(req, "x-forwarded-for") };
}

/** Names the client of a request, for shares. */
export type ClientOf = (userId: string | undefined, origin: Origin) => string;

/** `trustProxy`: the number of proxies in front of the server that append to `X-Forwarded-For`. */
export function clientReader(trustProxy = 0): ClientOf {
  if (!Number.isInteger(trustProxy) || trustProxy < 0)
    throw new OptionError({ option: "trustProxy", problem: "expected a number of proxies, or 0" });
  return (userId, { address, forwarded }) => {
    if (userId !== undefined) return `user ${userId}`;
    // Counted from the right: entries to the left of the proxies' come from the client and prove nothing.
    const added = trustProxy === 0 ? undefined : forwarded?.split(",").at(-trustProxy)?.trim();
    return `address ${networkOf(added || address || "")}`;
  };
}

/** The address, of IPv6 the first 64 bits: one host can use any address of its network. */
function networkOf(address: string): string {
  const plain = address
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/^([\d.]+):\d+$/, "$1");
  if (!isIPv6(plain)) return plain;
  const [start = "", end] = plain.split("::");
  const groups = start === "" ? [] : start.split(":");
  if (end !== undefined) {
    const last = end === "" ? [] : end.split(":");
    while (groups.length + last.length < 8) groups.push("0");
  }
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, "").toLowerCase())
    .join(":");
}
