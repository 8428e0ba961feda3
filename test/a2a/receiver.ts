// A receiver of push notifications.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cleanup } from "../support/cleanup.ts";

interface Received {
  readonly state: string;
  readonly taskId: string;
  readonly id: string | undefined;
  readonly headers: Record<string, unknown>;
}

/** Responds with these statuses, then with 204. */
export async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { statusUpdate } = JSON.parse(Buffer.concat(parts).toString());
      const { "webhook-id": id, ...headers } = request.headers;
      received.push({
        state: statusUpdate.status.state,
        taskId: statusUpdate.taskId,
        id: String(id),
        headers,
      });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const states = () => received.map(({ state }) => state);
  return { url: `http://127.0.0.1:${port}/pushes`, received, states };
}
