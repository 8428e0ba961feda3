// A lean load generator: raw sockets that stay open, so that the client costs little beside the server it measures.
import { connect, type Socket } from "node:net";
import { percentile } from "../measure.ts";

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly body: string;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
}

/** The next request of one connection, as its bytes, after the last answer, if there was one. */
export type NextRequest = (last: string | undefined) => string;

export function requestText({ path, body }: Pick<Load, "path" | "body">): string {
  const headers = `Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n${body}`;
}

/** Where the first whole answer in the text ends; -1 while it is not whole. */
function endOfAnswer(text: string): number {
  const head = text.indexOf("\r\n\r\n");
  if (head === -1) return -1;
  const headers = text.slice(0, head).toLowerCase();
  const length = /content-length: (\d+)/.exec(headers)?.[1];
  if (length !== undefined) return text.length >= head + 4 + Number(length) ? head + 4 + Number(length) : -1;
  const last = text.indexOf("\r\n0\r\n\r\n", head);
  return last === -1 ? -1 : last + 7;
}

/** Keeps `connections` requests under way until `count` are answered or the time is over. Any answer but 200 throws. */
export function runLoad(
  load: Load,
  connections: number,
  count: number,
  seconds: number,
): Promise<LoadResult> {
  const request = requestText(load);
  return runRequests(load.port, () => () => request, connections, count, seconds);
}

/** The same with requests that may follow from the answers before them; `connection` is called once for each. */
export async function runRequests(
  port: number,
  connection: () => NextRequest,
  connections: number,
  count: number,
  seconds: number,
): Promise<LoadResult> {
  const times: number[] = [];
  let left = count;
  const start = performance.now();
  const lane = () =>
    new Promise<void>((resolve, reject) => {
      const socket: Socket = connect(port, "127.0.0.1");
      const nextRequest = connection();
      socket.setNoDelay(true);
      let last: string | undefined;
      let text = "";
      let sent = 0;
      const next = () => {
        if (left-- <= 0 || performance.now() - start > seconds * 1000) {
          socket.end(resolve);
          return;
        }
        sent = performance.now();
        socket.write(nextRequest(last));
      };
      socket.setEncoding("latin1");
      socket.on("connect", next);
      socket.on("error", reject);
      socket.on("data", (chunk: string) => {
        text += chunk;
        const end = endOfAnswer(text);
        if (end === -1) return;
        if (!text.startsWith("HTTP/1.1 200")) {
          reject(new Error(text.slice(0, 500)));
          return;
        }
        last = text.slice(0, end);
        text = text.slice(end);
        times.push(performance.now() - sent);
        next();
      });
    });
  await Promise.all(Array.from({ length: connections }, lane));
  const duration = (performance.now() - start) / 1000;
  return {
    perSecond: times.length / duration,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    requests: times.length,
  };
}

/** Milliseconds from sending the request to the first `data:` line. */
export function firstEvent(load: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(load.port, "127.0.0.1");
    let text = "";
    let sent = 0;
    socket.setEncoding("latin1");
    socket.on("connect", () => {
      sent = performance.now();
      socket.write(requestText(load));
    });
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (!text.includes("data: ")) return;
      socket.destroy();
      resolve(performance.now() - sent);
    });
  });
}
