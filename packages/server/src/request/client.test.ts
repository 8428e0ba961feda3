// The client for shares: a user, or an address reported by the trusted proxies.
import { expect, test } from "vitest";
import { clientReader } from "./client.ts";

test.each([
  ["a user counts as such, wherever it is", 1, "ann", "10.0.0.1", "1.2.3.4", "user ann"],
  ["the connection counts", 0, undefined, "10.0.0.1", undefined, "address 10.0.0.1"],
  ["a header counts for nothing without a proxy", 0, undefined, "10.0.0.1", "1.2.3.4", "address 10.0.0.1"],
  ["behind one proxy its own entry counts", 1, undefined, "10.0.0.1", "9.9.9.9, 1.2.3.4", "address 1.2.3.4"],
  ["behind two, that of the first", 2, undefined, "10.0.0.1", "9.9.9.9,1.2.3.4, 10.0.0.2", "address 1.2.3.4"],
  ["with fewer entries, the connection", 2, undefined, "10.0.0.1", "1.2.3.4", "address 10.0.0.1"],
  ["without the header, the connection", 1, undefined, "10.0.0.1", undefined, "address 10.0.0.1"],
  ["IPv4 in IPv6 is IPv4", 0, undefined, "::ffff:10.0.0.1", undefined, "address 10.0.0.1"],
  ["of IPv6 the network", 0, undefined, "2001:DB8:0:1:2:3:4:5", undefined, "address 2001:db8:0:1"],
  ["short IPv6", 0, undefined, "2001:db8::7", undefined, "address 2001:db8:0:0"],
  ["the IPv6 loopback", 0, undefined, "::1", undefined, "address 0:0:0:0"],
  ["IPv6 with a port", 1, undefined, "::1", "[2001:db8:0:1::7]:443", "address 2001:db8:0:1"],
  ["IPv4 with a port", 1, undefined, "::1", "1.2.3.4:5678", "address 1.2.3.4"],
  ["an unknown address", 0, undefined, undefined, undefined, "address "],
] as const)("%s", (_, trustProxy, userId, address, forwarded, expected) => {
  expect(clientReader(trustProxy)(userId, { address, forwarded })).toBe(expected);
});

test.each([-1, 0.5, Number.NaN])("%d proxies are refused at the start", (trustProxy) => {
  expect(() => clientReader(trustProxy)).toThrow("trustProxy: expected a number of proxies");
});
