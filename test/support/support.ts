// What the contract tests share: a real listening server, JSON calls that check the envelope, and a strict SSE reader.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLogger, memoryStore, type Store, sqliteStore } from "@andante/core";
import { type RunningServer, type ServeOptions, serve } from "@andante/server";
import { expect } from "vitest";
import { z } from "zod";
import { agents } from "./agents.ts";
import { doors, workflows } from "./workflows.ts";

export type Fields = Record<string, unknown>;

const fields = z.record(z.string(), z.unknown());

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface TestServer extends RunningServer {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a JSON body; none when it is left out. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends with any method. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Opens a stream: by POST with a body, else by GET. */
  stream(path: string, body?: unknown, headers?: Record<string, string>): Promise<EventReader>;
}

const logger = createLogger({ level: "silent" });

/** Serves the workflows and agents of these tests, unless others are given, on any free port. */
export async function startServer(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await serve({
    workflows,
    agents,
    store: memoryStore(),
    port: 0,
    hostname: "127.0.0.1",
    handleSignals: false,
    grace: 100,
    logger,
    ...options,
  });
  const get = (where: string, headers: Record<string, string> = {}) => call(server.url + where, { headers });
  const post = (where: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(server.url + where, postOf(body, headers));
  const stream = async (where: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = body === undefined ? { headers } : postOf(body, headers);
    const response = await fetch(server.url + where, init);
    const framing = body === undefined ? "with-ids" : "plain";
    return new EventReader(response, where.includes("/chat") ? "chat" : framing);
  };
  const send = (method: string, where: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(server.url + where, { ...postOf(body, headers), method });
  return { ...server, get, post, send, stream };
}

function postOf(body: unknown, headers: Record<string, string>): RequestInit {
  if (body === undefined) return { method: "POST", headers };
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** A request whose answer is read to the end. */
export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The payload of a success, whatever its type; the envelope has exactly the contract's fields. */
export function payloadOf(answer: Answer, status = 200): unknown {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const envelope = fields.parse(JSON.parse(answer.text));
  expect(Object.keys(envelope).sort()).toEqual(["data", "success"]);
  expect(envelope.success).toBe(true);
  return envelope.data;
}

/** The payload of a success that is an object. */
export function dataOf(answer: Answer, status = 200): Fields {
  return fields.parse(payloadOf(answer, status));
}

/** The message of an error; the envelope has exactly the contract's fields. */
export function errorOf(answer: Answer, status: number): string {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const envelope = fields.parse(JSON.parse(answer.text));
  expect(Object.keys(envelope).sort()).toEqual(["error", "success"]);
  expect(envelope.success).toBe(false);
  return z.string().min(1).parse(envelope.error);
}

/** A field that must be a text. */
export function textOf(data: Fields, field: string): string {
  return z.string().parse(data[field]);
}

/** A field that must be an object. */
export function fieldsOf(data: Fields, field: string): Fields {
  return fields.parse(data[field]);
}

/** A field that must be a list of objects. */
export function listOf(data: Fields, field: string): Fields[] {
  return z.array(fields).parse(data[field]);
}

/** ISO 8601 in UTC with milliseconds. */
export const timestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** How many executions the server knows. */
export async function countExecutions(server: TestServer): Promise<number> {
  return listOf(dataOf(await server.get("/api/executions?limit=500")), "executions").length;
}

/** Starts an execution of the workflow `gated` and waits until its body is inside. */
export async function startGated(server: TestServer, door: string, options: Fields = {}): Promise<string> {
  const body = { input: { door }, options };
  const started = dataOf(
    await server.post("/workflows/gated/execute", body, { prefer: "respond-async" }),
    202,
  );
  await doors.arrival(door);
  return textOf(started, "executionId");
}

/** Starts an execution of the workflow `approval`, which waits for an answer. */
export async function startApproval(server: TestServer, options: Fields = {}): Promise<Fields> {
  const body = { input: { topic: "tests" }, options };
  const data = dataOf(await server.post("/workflows/approval/execute", body));
  expect(data.status).toBe("suspended");
  return data;
}

/** Resolves when the execution has ended. */
export async function ended(server: TestServer, workflow: string, executionId: string): Promise<Fields> {
  const stream = await server.stream(`/workflows/${workflow}/executions/${executionId}/stream`);
  if (stream.status !== 204) await stream.rest();
  return dataOf(await server.get(`/workflows/${workflow}/executions/${executionId}/state`));
}

/** A new SQLite file. `open` makes a store on it; several in turn see the same data. */
export function temporaryFile(): { open(): Store; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-contract-"));
  return {
    open: () => sqliteStore({ path: path.join(folder, "contract.db") }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type Framing = "plain" | "with-ids" | "chat";

/** Reads server-sent events and refuses everything that the contract does not allow, byte by byte. */
export class EventReader {
  readonly response: Response;
  readonly status: number;
  readonly headers: Headers;
  /** The `id:` of each event read so far; null where there was none. */
  readonly ids: (string | null)[] = [];
  readonly #framing: Framing;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #text = "";

  constructor(response: Response, framing: Framing) {
    this.response = response;
    this.status = response.status;
    this.headers = response.headers;
    this.#framing = framing;
    this.#reader = response.body?.getReader();
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<Fields | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end !== -1) {
        const frame = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return this.#parse(frame);
      }
      const chunk = await this.#reader?.read();
      if (chunk === undefined || chunk.done) {
        expect(this.#text, "nothing may follow the last blank line").toBe("");
        return undefined;
      }
      this.#text += this.#decoder.decode(chunk.value, { stream: true });
    }
  }

  /** All events up to the end of the stream. */
  async rest(): Promise<Fields[]> {
    const events: Fields[] = [];
    for (;;) {
      const event = await this.next();
      if (event === undefined) return events;
      events.push(event);
    }
  }

  /** Reads on to the first event of this type. */
  async until(type: string): Promise<Fields> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the stream ended before ${type}`);
      if (event.type === type) return event;
    }
  }

  /** Goes away without reading the rest. */
  async drop(): Promise<void> {
    await this.#reader?.cancel();
  }

  #parse(frame: string): Fields {
    // What ends a stream of chat chunks; nothing may follow it.
    if (this.#framing === "chat" && frame === "data: [DONE]") return { type: "[DONE]" };
    const shape = this.#framing !== "with-ids" ? /^data: ([^\n\r]+)$/ : /^(?:id: (\d+)\n)?data: ([^\n\r]+)$/;
    const match = shape.exec(frame);
    if (match === null) throw new Error(`not a frame: ${JSON.stringify(frame)}`);
    const json = match.at(-1) ?? "";
    this.ids.push(this.#framing !== "with-ids" ? null : (match[1] ?? null));
    const event = fields.parse(JSON.parse(json));
    expect(JSON.stringify(event), "the line is JSON and nothing else").toBe(json);
    return event;
  }
}

/** The types of events, in order. */
export function typesOf(events: readonly Fields[]): unknown[] {
  return events.map((event) => event.type);
}
