// /ws/logs: the lines that are kept, then those that come, as each client's filter wants them.
import type { Andante } from "@andante/core";
import { type LogFilter, type LogFollowing, type LogLine, matchesLog } from "@andante/core/internal";
import type { RawData, WebSocket } from "ws";
import { z } from "zod";
import { parse } from "../request/parse.ts";
import { logQuery } from "../schemas/log-schemas.ts";
import { sendBounded } from "./send-bounded.ts";

interface Client {
  filter: LogFilter;
  /** Clients with the same filter get the same text, which is made once. */
  key: string;
  /** Lines up to this id are in the first message. */
  after: number;
  /** What comes before the first message is sent; undefined once it is. */
  early: LogLine[] | undefined;
}

// Lines are sent together this often: a thousand lines a second to a hundred clients are a thousand messages a second
// instead of a hundred thousand.
const period = 100;
const mostTogether = 1000;

const filterMessage = z.object({ type: z.literal("updateFilter"), filter: logQuery });

export class LogSockets {
  readonly #andante: Andante;
  readonly #shown: (record: string) => string;
  readonly #clients = new Map<WebSocket, Client>();
  #following: LogFollowing | undefined;
  #lines: LogLine[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `shown` says how much of a record is sent. */
  constructor(andante: Andante, shown: (record: string) => string) {
    this.#andante = andante;
    this.#shown = shown;
  }

  /** Reads the filter; a bad one is refused before the client is connected. */
  prepare(query: URLSearchParams): (socket: WebSocket) => void {
    const filter = parse(logQuery, Object.fromEntries(query), "query");
    return (socket) => this.#connect(socket, filter);
  }

  #connect(socket: WebSocket, filter: LogFilter): void {
    this.#following ??= this.#andante.logs.follow((line) => this.#add(line));
    socket.on("message", (raw: RawData) => this.#receive(socket, raw.toString()));
    socket.on("close", () => this.#leave(socket));
    this.#begin(socket, filter);
  }

  #leave(socket: WebSocket): void {
    this.#clients.delete(socket);
    if (this.#clients.size > 0) return;
    this.#following?.stop();
    this.#following = undefined;
    this.#lines = [];
  }

  #receive(socket: WebSocket, text: string): void {
    try {
      const { filter } = parse(filterMessage, JSON.parse(text), "message");
      this.#begin(socket, filter);
    } catch (error) {
      const problem =
        error instanceof Error && !(error instanceof SyntaxError) ? error.message : "expected JSON";
      sendBounded(socket, { type: "error", success: false, error: problem });
    }
  }

  /** Sends what is kept; from then on what comes. */
  #begin(socket: WebSocket, filter: LogFilter): void {
    const { logs } = this.#andante;
    const client: Client = { filter, key: JSON.stringify(filter), after: logs.last, early: [] };
    this.#clients.set(socket, client);
    logs.list(filter, client.after).then(
      (lines) => this.#open(socket, client, lines),
      (error) => this.#open(socket, client, error),
    );
  }

  #open(socket: WebSocket, client: Client, logs: readonly object[] | Error): void {
    // The client has left, or sent another filter meanwhile.
    if (this.#clients.get(socket) !== client) return;
    const timestamp = new Date().toISOString();
    if (logs instanceof Error) sendBounded(socket, { type: "error", success: false, error: logs.message });
    else
      sendBounded(
        socket,
        Buffer.from(this.#shown(JSON.stringify({ type: "initial", success: true, logs, timestamp }))),
      );
    const early = (client.early ?? []).filter((line) => matchesLog(client.filter, line));
    client.early = undefined;
    if (early.length > 0) sendBounded(socket, updateOf(early));
  }

  #add(line: LogLine): void {
    const record = this.#shown(line.record);
    this.#lines.push(record === line.record ? line : { ...line, record });
    if (this.#lines.length >= mostTogether) return this.#send();
    this.#timer ??= setTimeout(() => this.#send(), period).unref();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = [];
    const encoded = new Map<string, Buffer | undefined>();
    for (const [socket, client] of this.#clients) {
      const fresh = client.after < (lines[0]?.id ?? 0) ? lines : lines.filter(({ id }) => id > client.after);
      if (client.early !== undefined) {
        // More than a first message can hold: the oldest are left out.
        client.early = [...client.early, ...fresh].slice(-mostTogether);
        continue;
      }
      const text = fresh === lines ? textFor(encoded, client, lines) : makeText(client, fresh);
      if (text !== undefined) sendBounded(socket, text);
    }
  }
}

function textFor(encoded: Map<string, Buffer | undefined>, client: Client, lines: readonly LogLine[]) {
  if (!encoded.has(client.key)) encoded.set(client.key, makeText(client, lines));
  return encoded.get(client.key);
}

function makeText({ filter }: Client, lines: readonly LogLine[]): Buffer | undefined {
  const wanted = lines.filter((line) => matchesLog(filter, line));
  return wanted.length === 0 ? undefined : updateOf(wanted);
}

/** The lines are JSON already. */
function updateOf(lines: readonly LogLine[]): Buffer {
  const logs = lines.map(({ record }) => record).join(",");
  return Buffer.from(
    `{"type":"update","success":true,"logs":[${logs}],"timestamp":"${new Date().toISOString()}"}`,
  );
}
