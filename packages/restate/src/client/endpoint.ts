// The port on which Restate calls this process. Stores with the same port share it: the handlers know no store.
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { services } from "../engine/objects.ts";

interface Open {
  readonly server: Http2Server;
  readonly sessions: Set<ServerHttp2Session>;
  users: number;
}

const open = new Map<number, Promise<Open>>();

/** Listens until the returned function is called, and by every other user of the port. */
export async function listen(port: number, identityKeys: readonly string[]): Promise<() => Promise<void>> {
  const opening = open.get(port) ?? start(port, identityKeys);
  open.set(port, opening);
  let endpoint: Open;
  try {
    endpoint = await opening;
  } catch (error) {
    open.delete(port);
    throw error;
  }
  endpoint.users += 1;
  return async () => {
    endpoint.users -= 1;
    if (endpoint.users > 0) return;
    open.delete(port);
    const closed = new Promise((resolve) => endpoint.server.close(resolve));
    for (const session of endpoint.sessions) session.destroy();
    await closed;
  };
}

async function start(port: number, identityKeys: readonly string[]): Promise<Open> {
  const handler = createEndpointHandler({
    services,
    // It would print a line for each call.
    logger: () => undefined,
    ...(identityKeys.length > 0 && { identityKeys: [...identityKeys] }),
  });
  const server = createServer(handler);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => resolve());
  });
  return { server, sessions, users: 0 };
}
