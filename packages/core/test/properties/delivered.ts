// The receiver of the events of random executions, and the rules for the requests that it gets.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Andante } from "../../src/andante/andante.ts";
import { newSecret } from "../../src/delivery/webhook-signature.ts";
import type { TestClock } from "../../src/test-kit/test-clock.ts";

interface Request {
  readonly id: string;
  readonly type: string;
  readonly status: unknown;
}

/** By endpoint, in the order in which they came. */
const received = new Map<string, Request[]>();
let listening: Promise<string> | undefined;

/** One server for all trials of the process; it keeps no process alive. */
async function listen(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type, data } = JSON.parse(Buffer.concat(chunks).toString());
    const requests = received.get(request.url?.slice(1) ?? "");
    requests?.push({ id: String(request.headers["webhook-id"]), type, status: data.status });
    response.writeHead(204).end();
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** An endpoint that receives the events of one trial. */
export async function endpointOf(id: string) {
  listening ??= listen();
  received.set(id, []);
  return { [id]: { url: `${await listening}/${id}`, secret: newSecret(), allowPrivate: true } };
}

/** Lets the last process send everything, and returns what is wrong with the requests. */
export async function deliveryProblems(
  andante: Andante,
  clock: TestClock,
  { id, executionId, status }: { readonly id: string; readonly executionId: string; readonly status: string },
): Promise<readonly string[]> {
  const all = async () => (await andante.deliveries.list({ endpointId: id, limit: 100 })).deliveries;
  const own = async () => (await all()).filter((each) => each.executionId === executionId);
  let rows = await own();
  for (let minutes = 0; minutes < 30 && rows.some(({ state }) => state !== "delivered"); minutes++) {
    await andante.settled();
    // The attempt of a process that has died is due again after a minute.
    clock.advance("61s");
    rows = await own();
  }
  const requests = received.get(id) ?? [];
  received.delete(id);
  const ids = rows.map(({ messageId }) => messageId);
  const order = [...new Set(requests.map((request) => request.id))].filter((each) => ids.includes(each));
  const ended = rows.filter(({ type }) => type === "execution.ended");
  const ends = requests.filter((request) => request.id === ended[0]?.messageId);
  return [
    ...rows.flatMap(({ state, type }) => (state === "delivered" ? [] : [`the event ${type} is ${state}`])),
    ...(ended.length === 1 ? [] : [`${ended.length} events of its end`]),
    ...ends.flatMap((end) => (end.status === status ? [] : [`its end was delivered as ${end.status}`])),
    ...(order.join() === ids.join()
      ? []
      : [`events came as ${order.join()}, they were kept as ${ids.join()}`]),
  ];
}
