// Which addresses webhooks may be sent to: those of the public internet, decided on the address that the socket connects to.
import { BlockList, isIP, isIPv6 } from "node:net";

const notPublic = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  notPublic.addSubnet(address, bits, "ipv4");
// Within 2000::/3: protocol assignments with Teredo, documentation, and 6to4, which leads to any IPv4 address.
for (const [address, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  notPublic.addSubnet(address, bits, "ipv6");

/** Everything else of IPv6 is local, mapped from IPv4, translated, multicast or not assigned. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address is one of the public internet; false for any text that is no address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  // A zone names an interface of this machine.
  if (!isIPv6(address)) return !notPublic.check(address, "ipv4");
  return !address.includes("%") && globalUnicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}
