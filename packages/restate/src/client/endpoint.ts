// The port on which Restate calls this process.
import { createServer, type ServerHttp2Session } from "node:http2";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { services } from "../engine/objects.ts";

/** Listens until the returned function is called. */
export async function listen(port: number, identityKeys: readonly string[]): Promise<() => Promise<void>> {
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
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of sessions) session.destroy();
    await closed;
  };
}
