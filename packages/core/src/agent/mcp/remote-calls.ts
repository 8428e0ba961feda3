// Messages of the protocol of 2026-07-28 to a server over HTTP, for calls that wait: the AI SDK's client holds a question or a
// task in the memory of the process.
import { isRecord } from "../../values/fields.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Sends a message and returns its result. Rejects with an error that has the code of the protocol for a refusal. */
export type Ask = (method: string, params: Fields, signal: AbortSignal) => Promise<Fields>;

export const modernVersion = "2026-07-28";

const meta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientInfo": { name: "andante", version: "0.1.0" },
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
};

/** `fetch` adds the headers of the host to each request, such as a token. */
export function remoteCalls(
  url: string,
  headers: Readonly<Record<string, string>>,
  fetch: typeof globalThis.fetch,
): Ask {
  let lastId = 0;
  return async (method, params, signal) => {
    lastId += 1;
    const id = lastId;
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
      method: "POST",
      signal,
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": modernVersion,
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": headerText(name) }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } }),
    });
    const body = response.body?.pipeThrough(boundedBytes());
    return resultIn(await new Response(body).text(), id, response);
  };
}

/** Bytes that a server may respond with: everything is held in memory, and strangers write it. */
export const maxResponse = 32 * 1024 * 1024;

/** Passes the bytes of a response, and fails when there are too many. */
export function boundedBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxResponse) throw new Error(`the server responded with more than ${maxResponse} bytes`);
      controller.enqueue(chunk);
    },
  });
}

/** An error of the protocol, which the server has responded with. */
class RemoteError extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.name = "RemoteError";
    this.code = code;
  }
}

function resultIn(text: string, id: number, { status, headers }: Response): Fields {
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const messages = isStream ? messagesOf(text) : [parsed(text)];
  const found = messages.find((message) => isRecord(message) && (message.id === id || "error" in message));
  if (isRecord(found) && isRecord(found.result)) return found.result;
  const error = isRecord(found) && isRecord(found.error) ? found.error : {};
  if (typeof error.code === "number") throw new RemoteError(String(error.message), error.code);
  throw new Error(`the server responded with HTTP ${status} and no result`);
}

/** The messages of server-sent events. */
function messagesOf(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((event) => [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n"))
    .flatMap((data) => (data === "" ? [] : [parsed(data)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Text beyond printable ASCII in the form that the protocol has for headers. */
function headerText(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
