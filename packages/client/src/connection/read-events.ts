// Server-sent events of a response, as JSON.
import { createParser } from "eventsource-parser";
import { AndanteApiError } from "../api-error.ts";
import { type Connection, foreign, jsonIn, type Sending, unreachable } from "./connection.ts";
import type { CallOptions } from "./options.ts";

/** Milliseconds without a byte after which a connection counts as lost: the server sends a comment every 15 seconds. */
const longestSilence = 45_000;

/** Maximum milliseconds until the headers of a stream: the server sends them before the first event. */
const longestOpening = 15_000;

/** The type of the event for the last line of a chat; nothing follows it. */
export const done = "[DONE]";
const lastLine = JSON.stringify({ type: done });

/** Opens a stream that can be reopened. */
export function attach(connection: Connection, sending: Sending): Promise<Response> {
  return connection.open({ ...sending, patience: longestOpening });
}

/**
 * The events until the stream ends. A connection that breaks or falls silent throws. `T` is the type that the API
 * description promises for this path.
 */
export async function* readEvents<T>(response: Response, { signal }: CallOptions): AsyncGenerator<T, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  const arrived: T[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = jsonIn(data === done ? lastLine : data);
      if (!isEvent<T>(event)) throw foreign(response);
      arrived.push(event);
    },
  });
  try {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) throw foreign(response);
    for (;;) {
      const chunk = await withinSilence(reader.read());
      if (chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      yield* arrived.splice(0);
    }
  } catch (error) {
    throw error instanceof AndanteApiError ? error : unreachable(error, signal);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function isEvent<T>(value: unknown): value is T {
  return typeof value === "object" && value !== null;
}

/** The error for a stream that ended before its last event. */
export function cutOff(): AndanteApiError {
  return new AndanteApiError("The connection was lost", { status: 0, code: "unreachable" });
}

async function withinSilence<T>(reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(cutOff()), longestSilence);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
