// A small round-robin proxy in front of the nodes, for HTTP, server-sent events and WebSocket. It skips a node that
// cannot be reached; in production this is the job of your load balancer.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface Proxy {
  readonly url: string;
  close(): Promise<void>;
}

/** `targets` returns the URLs of the nodes that are up. */
export async function startProxy(targets: () => readonly string[]): Promise<Proxy> {
  let turn = 0;
  /** Every node once, starting with the next in turn. */
  const inOrder = (): readonly URL[] => {
    const up = targets();
    const first = turn++ % Math.max(1, up.length);
    return [...up.slice(first), ...up.slice(0, first)].map((target) => new URL(target));
  };
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => pass(incoming, response, inOrder()));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head: Buffer) =>
    upgrade(incoming, socket, head, inOrder()),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

function pass(incoming: IncomingMessage, response: ServerResponse, targets: readonly URL[]): void {
  const [target, ...others] = targets;
  if (target === undefined) {
    response.writeHead(503, { "retry-after": "1" }).end();
    return;
  }
  const { method, url, headers } = incoming;
  const outgoing = request({ host: target.hostname, port: target.port, method, path: url, headers });
  let reached = false;
  outgoing.once("socket", (socket: Socket) => {
    // Nothing is sent before a node is connected: until then the request can still go to another node.
    const send = () => {
      reached = true;
      incoming.pipe(outgoing);
    };
    if (socket.connecting) socket.once("connect", send);
    else send();
  });
  outgoing.once("response", (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    // Server-sent events: each chunk of the node is sent to the caller at once.
    response.flushHeaders();
    answered.pipe(response);
    answered.once("error", () => response.destroy());
  });
  outgoing.once("error", () => {
    if (!reached) return pass(incoming, response, others);
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { "retry-after": "1" }).end();
  });
  response.once("close", () => outgoing.destroy());
}

function upgrade(
  incoming: IncomingMessage,
  client: Socket,
  head: Buffer,
  [target, ...others]: readonly URL[],
): void {
  if (target === undefined) {
    client.end("HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n");
    return;
  }
  const node = connect(Number(target.port), target.hostname);
  let reached = false;
  node.once("connect", () => {
    reached = true;
    const { method, url, rawHeaders } = incoming;
    let lines = `${method} ${url} HTTP/1.1\r\n`;
    for (let index = 0; index < rawHeaders.length; index += 2)
      lines += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
    node.write(`${lines}\r\n`);
    node.write(head);
    node.pipe(client);
    client.pipe(node);
  });
  node.once("error", () => {
    if (reached) client.destroy();
    else upgrade(incoming, client, head, others);
  });
  client.on("error", () => node.destroy());
  client.once("close", () => node.destroy());
}
