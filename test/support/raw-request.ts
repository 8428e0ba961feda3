// Requests that no client library normalises.
import { once } from "node:events";
import { connect } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends exactly these lines; `fetch` would tidy the path first. */
export async function rawRequest(url: string, lines: readonly string[], body = ""): Promise<RawResponse> {
  const { hostname, port, host } = new URL(url);
  const [target = "", ...headers] = lines;
  const hosts = headers.some((line) => /^host:/i.test(line)) ? [] : [`host: ${host}`];
  const length =
    body === "" ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  const socket = connect(Number(port), hostname);
  socket.end(
    [`${target} HTTP/1.1`, ...hosts, "connection: close", ...headers, ...length, "", body].join("\r\n"),
  );
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: rest.join("\r\n\r\n") };
}
