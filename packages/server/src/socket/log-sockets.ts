// /ws/logs: the stored lines, then the live ones, by each client's filter.
import { type Andante, AndanteError } from "@andante/core";
import {
  type LogFilter,
  type LogFollowing,
  type LogLine,
  matchesLog,
  redactText,
} from "@andante/core/internal";
import type { WebSocket } from "ws";
import { z } from "zod";
import { entryIds, recordIds } from "../auth/entry-ids.ts";
import { givenIds, type Ids, type Permission } from "../auth/permission.ts";
import { type View, visibleLine, visibleLines, visibleRecord } from "../auth/view.ts";
import { parse } from "../request/parse.ts";
import { shape } from "../schemas/component.ts";
import { logQuery } from "../schemas/log-schemas.ts";
import { PermittedFeed } from "./permitted-feed.ts";
import { type ClientHandler, failClient, guardClient, sendBounded } from "./serve-client.ts";

interface Client {
  readonly view: View;
  /** The client's filter, narrowed to its view; undefined where it may see nothing. */
  readonly filter: LogFilter | undefined;
  /** Clients with the same filter and view share one encoded text. */
  key: string;
  /** The id of the last line at the start. */
  readonly after: number;
  /** Whether the first message contains the line; false for all until it is sent. */
  isKept(line: LogLine): boolean;
  /** Lines that arrive before the first message is sent; undefined afterwards. */
  early: LogLine[] | undefined;
  readonly permission: Permission;
  /** Filters new lines by the host's `authorize`; undefined without one. */
  readonly feed: PermittedFeed<LogLine> | undefined;
}

/** A client's new filter. */
interface Change {
  readonly socket: WebSocket;
  readonly filter: LogFilter;
}

// Milliseconds between batches: a thousand lines a second to a hundred clients are a thousand messages a second instead
// of a hundred thousand.
const period = 100;
const maxBatch = 1000;

/**
 * Maximum invalid messages of one client: describing a mistake costs the server more than sending it costs a client.
 */
const maxMistakes = 100;
/** RFC 6455's code for a client that violates the protocol. */
const policyViolation = 1008;

const filterMessage = shape(() => z.object({ type: z.literal("updateFilter"), filter: logQuery() }));

export class LogSockets {
  readonly #andante: Andante;
  readonly #clients = new Map<WebSocket, Client>();
  /** Clients whose stored lines are being read. */
  readonly #reading = new Set<WebSocket>();
  readonly #mistakes = new WeakMap<WebSocket, number>();
  /** The encoded message of an array of lines. Only clients with the same filter and view share an array. */
  readonly #texts = new WeakMap<readonly LogLine[], Buffer>();
  #following: LogFollowing | undefined;
  #lines: LogLine[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(andante: Andante) {
    this.#andante = andante;
  }

  /** Reads the filter; an invalid or forbidden filter is refused before the client is connected. */
  async prepare(query: URLSearchParams, permission: Permission): Promise<ClientHandler> {
    const filter = parse(logQuery(), Object.fromEntries(query), "query");
    const view = await permission.look(idsIn(filter));
    const change = latestOnly((next: Change) => this.#change(next, permission));
    return {
      open: (socket) => {
        this.#following ??= this.#andante.logs.follow((line) => this.#add(line));
        this.#begin(socket, filter, view, permission);
      },
      message: (socket, text) => {
        const next = this.#receive(socket, text);
        if (next !== undefined) change({ socket, filter: next });
      },
      close: (socket) => this.#leave(socket),
    };
  }

  #leave(socket: WebSocket): void {
    this.#clients.delete(socket);
    if (this.#clients.size > 0) return;
    this.#following?.stop();
    this.#following = undefined;
  }

  /** The filter in a message; undefined for an invalid one, for which the client receives an error. */
  #receive(socket: WebSocket, text: string): LogFilter | undefined {
    try {
      return parse(filterMessage(), JSON.parse(text), "message").filter;
    } catch (error) {
      this.#refuse(socket, error, "expected JSON");
      return undefined;
    }
  }

  #refuse(socket: WebSocket, error: unknown, otherwise: string): void {
    const mistakes = (this.#mistakes.get(socket) ?? 0) + 1;
    this.#mistakes.set(socket, mistakes);
    if (mistakes > maxMistakes) return socket.close(policyViolation, "Too many messages were not a filter");
    sendBounded(socket, problemOf(error, otherwise));
  }

  /** Applies a new filter, after another call of the host's `authorize`. */
  async #change({ socket, filter }: Change, permission: Permission): Promise<void> {
    const { logger } = this.#andante;
    const view = await permission.look(idsIn(filter)).catch((error: unknown) => {
      if (!(error instanceof AndanteError)) logger.error({ err: error }, "a filter could not be judged");
      guardClient(socket, logger, () => this.#refuse(socket, error, "the filter could not be judged"));
      return undefined;
    });
    if (view === undefined || !this.#clients.has(socket)) return;
    guardClient(socket, logger, () => this.#begin(socket, filter, view, permission));
  }

  /** Sends the stored lines, then the new ones. */
  #begin(socket: WebSocket, asked: LogFilter, view: View, permission: Permission): void {
    const after = this.#andante.logs.last;
    const filter = visibleLines(view, asked);
    const key = JSON.stringify([view, filter]);
    const feed = permission.asks ? this.#feedOf(socket, permission) : undefined;
    this.#clients.set(socket, {
      ...{ view, filter, key, after, permission, feed },
      isKept: () => false,
      early: [],
    });
    if (!this.#reading.has(socket)) void this.#read(socket);
  }

  #feedOf(socket: WebSocket, permission: Permission): PermittedFeed<LogLine> {
    const { logger } = this.#andante;
    const feed: PermittedFeed<LogLine> = new PermittedFeed<LogLine>({
      permission,
      idsOf: entryIds,
      send: (lines) => {
        const client = this.#clients.get(socket);
        // The client may have disconnected or sent another filter meanwhile.
        if (client?.feed === feed) guardClient(socket, logger, () => this.#sendLines(socket, client, lines));
      },
      failed: (error) => failClient(socket, logger, error),
    });
    return feed;
  }

  /** One read at a time: a client that changes its filter faster gets only the lines of its last one. */
  async #read(socket: WebSocket): Promise<void> {
    this.#reading.add(socket);
    for (;;) {
      const client = this.#clients.get(socket);
      if (client?.early === undefined) break;
      const lines = await this.#readKept(client).catch((error: unknown) => error);
      // The client may have disconnected or sent another filter meanwhile.
      if (this.#clients.get(socket) !== client) continue;
      guardClient(socket, this.#andante.logger, () => this.#open(socket, client, lines));
    }
    this.#reading.delete(socket);
  }

  async #readKept(client: Client) {
    const { filter, after, permission } = client;
    if (filter === undefined) return [];
    const { records, includes } = await this.#andante.logs.kept(filter, after);
    client.isKept = includes;
    return permission.visible(records, recordIds);
  }

  #open(socket: WebSocket, client: Client, logs: unknown): void {
    const { early: held = [] } = client;
    client.early = undefined;
    const timestamp = new Date().toISOString();
    if (!Array.isArray(logs)) sendBounded(socket, problemOf(logs, "the lines could not be read"));
    else {
      const shown = logs.map((record) => visibleRecord(client.view, record));
      sendBounded(socket, { type: "initial", success: true, logs: shown, timestamp });
    }
    const fresh = held.filter((line) => !client.isKept(line));
    this.#pass(socket, client, wantedOf(client, fresh));
  }

  #add(line: LogLine): void {
    this.#lines.push(line);
    if (this.#lines.length >= maxBatch) return this.#send();
    this.#timer ??= setTimeout(() => this.#send(), period).unref();
  }

  /** Called by a timer or by a logging call: no caller could handle a failure. */
  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = [];
    const wanted = new Map<string, readonly LogLine[]>();
    for (const [socket, client] of this.#clients)
      guardClient(socket, this.#andante.logger, () => this.#sendTo(socket, client, lines, wanted));
  }

  #sendTo(
    socket: WebSocket,
    client: Client,
    lines: readonly LogLine[],
    wantedBy: Map<string, readonly LogLine[]>,
  ): void {
    const fresh = lines.filter((line) => !client.isKept(line));
    if (client.early !== undefined) {
      // Limited to the size of a first message: the oldest lines are dropped.
      client.early = [...client.early, ...fresh].slice(-maxBatch);
      return;
    }
    if (fresh.length < lines.length) return this.#pass(socket, client, wantedOf(client, fresh));
    const wanted = wantedBy.get(client.key) ?? wantedOf(client, lines);
    wantedBy.set(client.key, wanted);
    this.#pass(socket, client, wanted);
  }

  #pass(socket: WebSocket, client: Client, lines: readonly LogLine[]): void {
    if (client.feed === undefined) this.#sendLines(socket, client, lines);
    else client.feed.add(lines);
  }

  #sendLines(socket: WebSocket, { view }: Client, lines: readonly LogLine[]): void {
    if (lines.length === 0) return;
    const text = this.#texts.get(lines) ?? makeText(view, lines);
    this.#texts.set(lines, text);
    sendBounded(socket, text);
  }
}

/** The ids of a filter, for `authorize`. */
function idsIn({ workflowId, executionId, agentId, conversationId }: LogFilter): Ids {
  return givenIds({ workflowId, executionId, agentId, conversationId });
}

/** Sends only messages of AndanteErrors. */
function problemOf(error: unknown, otherwise: string): object {
  const problem = error instanceof AndanteError ? redactText(error.message) : otherwise;
  return { type: "error", success: false, error: problem };
}

function wantedOf({ filter }: Client, lines: readonly LogLine[]): readonly LogLine[] {
  return filter === undefined ? [] : lines.filter((line) => matchesLog(filter, line));
}

/** The lines are JSON already. */
function makeText(view: View, lines: readonly LogLine[]): Buffer {
  const logs = lines.map((line) => visibleLine(view, line)).join(",");
  return Buffer.from(
    `{"type":"update","success":true,"logs":[${logs}],"timestamp":"${new Date().toISOString()}"}`,
  );
}

/** Returns a function that passes its argument to `work`, one at a time, of those that wait only the latest. `work` must not reject. */
function latestOnly<T extends object>(work: (given: T) => Promise<void>): (given: T) => void {
  let waiting: T | undefined;
  let working = false;
  const run = async () => {
    working = true;
    while (waiting !== undefined) {
      const given = waiting;
      waiting = undefined;
      await work(given);
    }
    working = false;
  };
  return (given) => {
    waiting = given;
    if (!working) void run();
  };
}
