// Reads HTTP responses out of a stream of bytes: as little as the fuzzer needs, and strict about the server's syntax.

export interface HttpResponse {
  readonly status: number;
  /** By name in lower case; of a name that comes twice, the last value. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The connection can take another request. */
  readonly reusable: boolean;
}

/** The progress so far: nothing whole, a head whose body is still coming, or a response. */
export type Progress =
  | { readonly kind: "nothing" }
  | { readonly kind: "head"; readonly status: number; readonly headers: ReadonlyMap<string, string> }
  | { readonly kind: "response"; readonly response: HttpResponse };

const headEnd = Buffer.from("\r\n\r\n");

/** Reads the response to a request of this method. `ended`: no more bytes will come. */
export function readResponse(bytes: Buffer, method: string, ended: boolean): Progress {
  const end = bytes.indexOf(headEnd);
  if (end === -1) return { kind: "nothing" };
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const [, text] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine) ?? [];
  if (text === undefined) throw new Error(`not a status line: ${statusLine.slice(0, 100)}`);
  const status = Number(text);
  const headers = new Map(lines.map(parseHeader));
  const rest = bytes.subarray(end + headEnd.length);
  // An interim response means only that the request may go on.
  if (status < 200 && status !== 101) return readResponse(rest, method, ended);
  const body = bodyOf(rest, method, status, headers, ended);
  if (body === undefined) return { kind: "head", status, headers };
  const stays = headers.get("connection")?.toLowerCase() !== "close" && !ended;
  return { kind: "response", response: { status, headers, body, reusable: stays } };
}

function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 1) throw new Error(`not a header: ${line.slice(0, 100)}`);
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Undefined while it is not whole. */
function bodyOf(
  rest: Buffer,
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
  ended: boolean,
): Buffer | undefined {
  if (method === "HEAD" || status === 204 || status === 304 || status === 101) return Buffer.alloc(0);
  if (headers.get("transfer-encoding") === "chunked") return dechunk(rest) ?? (ended ? rest : undefined);
  const length = headers.get("content-length");
  if (length === undefined) return ended ? rest : undefined;
  return rest.length >= Number(length) || ended ? rest.subarray(0, Number(length)) : undefined;
}

function dechunk(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("not a chunk");
    if (rest.length < lineEnd + 4 + size) return undefined;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
}
