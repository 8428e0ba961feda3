// A real Restate server of its own for the tests of one file, on free ports of this machine.
import { existsSync } from "node:fs";
import path from "node:path";
import type { RestateStoreOptions } from "@andante/restate";
import { freePorts } from "../../../examples/cluster/src/free-ports.ts";
import { startServers } from "../../../examples/cluster/src/restate.ts";

/** Waits as long as in operation, and bounds as short, on a quiet machine (`ANDANTE_LONG=1`). */
export const isLong = process.env.ANDANTE_LONG === "1";

export type RestateServer = Awaited<ReturnType<typeof startRestate>>;

export async function startRestate() {
  const [endpointPort = 0, otherPort = 0, thirdPort = 0] = await freePorts(3);
  const ports = [endpointPort, otherPort, thirdPort] as const;
  const { servers, ingressUrls, adminUrl, remove } = await startServers(ports, 1);
  const [ingressUrl = ""] = ingressUrls;
  return {
    ingressUrl,
    adminUrl,
    /** A free port for the endpoint of a store. */
    endpointPort,
    /** Free ports for the endpoints of several processes, that one first. */
    ports,
    /** Of a store whose endpoint is at `port`; Restate calls the one at `endpointPort`. */
    options: (namespace: string, port = endpointPort): RestateStoreOptions => ({
      ingressUrl,
      adminUrl,
      endpoint: { port, url: `http://127.0.0.1:${endpointPort}` },
      namespace,
    }),
    /** The rows that Restate's SQL finds. */
    rowsOf: async (query: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
      const headers = { "content-type": "application/json", accept: "application/json" };
      const request = { method: "POST", headers, body: JSON.stringify({ query }) };
      const reply = await (await fetch(`${adminUrl}/query`, request)).text();
      const { rows }: { rows: Record<string, unknown>[] } = JSON.parse(reply);
      return rows;
    },
    /** Ends it with SIGKILL, as a crash would. */
    kill: async () => await servers[0]?.kill(),
    /** Starts it again on the same ports and files. */
    start: async () => await servers[0]?.start(),
    /** Ends it and removes its files. */
    remove,
  };
}

/** The server comes as a package for each platform; there is none for Windows. */
export const hasRestate = existsSync(
  path.join(
    import.meta.dirname,
    `../../../node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  ),
);
