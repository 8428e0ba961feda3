// /ws/logs: the lines that are kept, then those that come, as each client's filter wants them.
import { type Andante, AndanteError } from "@andante/core";
import { type LogFilter, type LogFollowing, type LogLine, matchesLog } from "@andante/core/internal";
import type { WebSocket } from "ws";
import { z } from "zod";
import { parse } from "../request/parse.ts";
import { logQuery } from "../schemas/log-schemas.ts";
import { sendBounded } from "./send-bounded.ts";
import { type ClientHandler, guardClients } from "./serve-client.ts";

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
const maxBatch = 1000;

/** Messages of one client that are not a filter: saying what is wrong with each costs more than sending it. */
const maxMistakes = 100;
/** RFC 6455's code for a client that violates the protocol. */
const policyViolation = 1008;

const filterMessage = z.object({ type: z.literal("updateFilter"), filter: logQuery });

export class LogSockets {
  readonly #andante: Andante;
  readonly #shown: (record: string) => string;
  readonly #clients = new Map<WebSocket, Client>();
  /** Clients whose kept lines are being read. */
  readonly #reading = new Set<WebSocket>();
  readonly #mistakes = new Map<WebSocket, number>();
  #following: LogFollowing | undefined;
  #lines: LogLine[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `shown` says how much of a record is sent. */
  constructor(andante: Andante, shown: (record: string) => string) {
    this.#andante = andante;
    this.#shown = shown;
  }

  /** Reads the filter; a bad one is refused before the client is connected. */
  prepare(query: URLSearchParams): ClientHandler {
    const filter = parse(logQuery, Object.fromEntries(query), "query");
    return {
      open: (socket) => {
        this.#following ??= this.#andante.logs.follow((line) => this.#add(line));
        this.#begin(socket, filter);
      },
      message: (socket, text) => this.#receive(socket, text),
      close: (socket) => this.#leave(socket),
    };
  }

  #leave(socket: WebSocket): void {
    this.#clients.delete(socket);
    this.#mistakes.delete(socket);
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
      const mistakes = (this.#mistakes.get(socket) ?? 0) + 1;
      this.#mistakes.set(socket, mistakes);
      if (mistakes > maxMistakes) return socket.close(policyViolation, "Too many messages were not a filter");
      sendBounded(socket, problemOf(error, "expected JSON"));
    }
  }

  /** Sends what is kept; from then on what comes. */
  #begin(socket: WebSocket, filter: LogFilter): void {
    const after = this.#andante.logs.last;
    this.#clients.set(socket, { filter, key: JSON.stringify(filter), after, early: [] });
    if (!this.#reading.has(socket)) void this.#read(socket);
  }

  /** One reading at a time: a client that changes its filter faster than that gets the lines of its last one. */
  async #read(socket: WebSocket): Promise<void> {
    this.#reading.add(socket);
    for (;;) {
      const client = this.#clients.get(socket);
      if (client?.early === undefined) break;
      const lines = await this.#andante.logs
        .list(client.filter, client.after)
        .catch((error: unknown) => error);
      // It may have left, or sent another filter meanwhile.
      if (this.#clients.get(socket) !== client) continue;
      guardClients([socket], this.#andante.logger, () => this.#open(socket, client, lines));
    }
    this.#reading.delete(socket);
  }

  #open(socket: WebSocket, client: Client, logs: unknown): void {
    const early = (client.early ?? []).filter((line) => matchesLog(client.filter, line));
    client.early = undefined;
    const timestamp = new Date().toISOString();
    if (!Array.isArray(logs)) sendBounded(socket, problemOf(logs, "the lines could not be read"));
    else
      sendBounded(
        socket,
        Buffer.from(this.#shown(JSON.stringify({ type: "initial", success: true, logs, timestamp }))),
      );
    if (early.length > 0) sendBounded(socket, updateOf(early));
  }

  #add(line: LogLine): void {
    const record = this.#shown(line.record);
    this.#lines.push(record === line.record ? line : { ...line, record });
    if (this.#lines.length >= maxBatch) return this.#send();
    this.#timer ??= setTimeout(() => this.#send(), period).unref();
  }

  /** Called by a timer, or from whatever wrote the last line: no caller could handle a failure. */
  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = [];
    const encoded = new Map<string, Buffer | undefined>();
    for (const [socket, client] of this.#clients) {
      if (socket.readyState !== socket.OPEN) continue;
      guardClients([socket], this.#andante.logger, () => this.#sendTo(socket, client, lines, encoded));
    }
  }

  #sendTo(
    socket: WebSocket,
    client: Client,
    lines: readonly LogLine[],
    encoded: Map<string, Buffer | undefined>,
  ): void {
    const fresh = client.after < (lines[0]?.id ?? 0) ? lines : lines.filter(({ id }) => id > client.after);
    if (client.early !== undefined) {
      // More than a first message can hold: the oldest are left out.
      client.early = [...client.early, ...fresh].slice(-maxBatch);
      return;
    }
    const text = fresh === lines ? textFor(encoded, client, lines) : makeText(client, fresh);
    if (text !== undefined) sendBounded(socket, text);
  }
}

/** Only our own messages are shown. */
function problemOf(error: unknown, otherwise: string): object {
  const problem = error instanceof AndanteError ? error.message : otherwise;
  return { type: "error", success: false, error: problem };
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
