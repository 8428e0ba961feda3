// /ws/observability: live spans and log lines, of all traces or of those that one entity started.
import type { Andante } from "@andante/core";
import type { LogLine, SpanEvent } from "@andante/core/internal";
import type { WebSocket } from "ws";
import { z } from "zod";
import { entityIds, entryIds } from "../auth/entry-ids.ts";
import { type EntryIds, givenIds, type Ids, type Permission } from "../auth/permission.ts";
import { seesAnything, type View, visibleLine, visibleSpan } from "../auth/view.ts";
import { isObject } from "../is-object.ts";
import { parse } from "../request/parse.ts";
import { shape, type Value } from "../schemas/component.ts";
import { PermittedFeed } from "./permitted-feed.ts";
import { type ClientHandler, failClient, guardClient, sendBounded } from "./serve-client.ts";

const query = shape(() =>
  z.object({ entityType: z.enum(["agent", "workflow"]).optional(), entityId: z.string().optional() }),
);
type Filter = Value<typeof query>;

interface Client {
  readonly filter: Filter;
  readonly view: View;
  /** Filters entries by the host's `authorize`; undefined without one. */
  readonly feed: PermittedFeed<Entry> | undefined;
}

/** A log line or a span. */
interface Entry {
  readonly ids: EntryIds;
  /** The encoded message, shared by all clients with the same view. */
  text(view: View): Buffer;
}

/** The agent or workflow of a trace; lines of the server itself have none. */
interface RootEntity {
  readonly entityType: "agent" | "workflow" | undefined;
  readonly entityId: string | undefined;
}

export class ObservabilitySockets {
  readonly #andante: Andante;
  readonly #clients = new Map<WebSocket, Client>();
  #stop: (() => void) | undefined;

  constructor(andante: Andante) {
    this.#andante = andante;
  }

  /** Reads the filter; an invalid or forbidden filter is refused before the client is connected. */
  async prepare(given: URLSearchParams, permission: Permission): Promise<ClientHandler> {
    const filter = parse(query(), Object.fromEntries(given), "query");
    const view = await permission.look({ ...givenIds(filter), ...definitionIn(filter) });
    return {
      open: (socket) => {
        const feed = permission.asks ? this.#feedOf(socket, view, permission) : undefined;
        this.#clients.set(socket, { filter, view, feed });
        this.#stop ??= this.#follow();
      },
      message: (socket, text) => {
        if (isPing(text)) {
          sendBounded(socket, { type: "PONG", success: true, data: { timestamp: new Date().toISOString() } });
        }
      },
      close: (socket) => this.#leave(socket),
    };
  }

  #feedOf(socket: WebSocket, view: View, permission: Permission): PermittedFeed<Entry> {
    const { logger } = this.#andante;
    return new PermittedFeed({
      permission,
      idsOf: ({ ids }) => ids,
      send: (entries) =>
        guardClient(socket, logger, () => {
          for (const entry of entries) sendBounded(socket, entry.text(view));
        }),
      failed: (error) => failClient(socket, logger, error),
    });
  }

  #leave(socket: WebSocket): void {
    this.#clients.delete(socket);
    if (this.#clients.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #follow(): () => void {
    const { logs, traces } = this.#andante;
    const lines = logs.follow((line) => this.#sendLine(line));
    const stopSpans = traces.follow((event) => this.#sendSpan(event));
    return () => {
      lines.stop();
      stopSpans();
    };
  }

  #sendSpan(event: SpanEvent): void {
    const { span, userId, conversationId } = event;
    this.#send(
      span,
      entityIds({ ...span, conversationId, userId }),
      (view) =>
        `{"type":"OBSERVABILITY_EVENT","success":true,"data":${JSON.stringify(visibleSpan(view, event))}}`,
    );
  }

  #sendLine(line: LogLine): void {
    this.#send(
      entityOf(line),
      entryIds(line),
      (view) => `{"type":"OBSERVABILITY_LOG","success":true,"data":${visibleLine(view, line)}}`,
    );
  }

  /** Sends an entry of an entity: the same text to clients with the same view. */
  #send(entity: RootEntity, ids: EntryIds, make: (view: View) => string): void {
    const texts = new Map<boolean, Buffer>();
    const textOf = (view: View) => {
      const isOutline = view.kind === "outline";
      const text = texts.get(isOutline) ?? Buffer.from(make(view));
      texts.set(isOutline, text);
      return text;
    };
    const entries = [{ ids, text: textOf }];
    for (const [socket, { filter, view, feed }] of this.#clients) {
      if (!matches(filter, entity) || !seesAnything(view, ids.userId ?? null)) continue;
      // The caller is the code that logged the line or ended the span: it must not fail because of these clients.
      if (feed !== undefined) feed.add(entries);
      else guardClient(socket, this.#andante.logger, () => sendBounded(socket, textOf(view)));
    }
  }
}

/** An agent inside a workflow is part of the workflow's trace. */
function entityOf({ workflowId, agentId }: LogLine): RootEntity {
  if (workflowId !== null) return { entityType: "workflow", entityId: workflowId };
  if (agentId !== null) return { entityType: "agent", entityId: agentId };
  return { entityType: undefined, entityId: undefined };
}

/** The definition in a filter. */
function definitionIn({ entityType, entityId }: Filter): Ids {
  if (entityType === undefined || entityId === undefined) return {};
  return entityType === "workflow" ? { workflowId: entityId } : { agentId: entityId };
}

function matches(filter: Filter, entity: RootEntity): boolean {
  return (
    (filter.entityType === undefined || filter.entityType === entity.entityType) &&
    (filter.entityId === undefined || filter.entityId === entity.entityId)
  );
}

/** `{ "type": "PING" }`, or the bare word. */
function isPing(text: string): boolean {
  if (text === "PING") return true;
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) && message.type === "PING";
  } catch {
    return false;
  }
}
