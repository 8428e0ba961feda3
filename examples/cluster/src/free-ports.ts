// Ports of this machine for servers that start a little later, or again.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/**
 * Consecutive free ports, none of `except`, below those that systems give to connections (from 32 768 on): a server that is
 * down for a while finds its port free again.
 */
export async function freePorts(count: number, except: readonly number[] = []): Promise<number[]> {
  const first = randomInt(10_000, 32_000);
  const ports = Array.from({ length: count }, (_, index) => first + index);
  const areFree = await Promise.all(ports.map((port) => !except.includes(port) && isFree(port)));
  return areFree.every(Boolean) ? ports : freePorts(count, except);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
