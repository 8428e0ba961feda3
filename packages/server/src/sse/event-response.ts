// Server-sent events: one `data:` line and a blank line for each event, pulled as fast as the client reads.

export interface EventResponseOptions {
  readonly headers: Record<string, string>;
  /** Adds an `id:` line from this field, so that a browser re-attaches by itself. Default: none. */
  readonly withIds?: boolean;
  /** Milliseconds of silence after which a comment is sent. Default: 15 000. */
  readonly heartbeat?: number;
}

const encoder = new TextEncoder();
const heartbeatComment = encoder.encode(": heartbeat\n\n");

/** Answers with the events of an iterator. A client that goes away ends the iterator, one that stalls is not read for. */
export function eventResponse(
  events: AsyncIterableIterator<{ readonly sequence?: number }>,
  options: EventResponseOptions,
): Response {
  const { headers, withIds = false, heartbeat = 15_000 } = options;
  let pending: Promise<IteratorResult<{ readonly sequence?: number }>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= events.next();
        const result = await beforeSilence(pending, heartbeat);
        if (result === undefined) return controller.enqueue(heartbeatComment);
        pending = undefined;
        if (result.done === true) controller.close();
        else controller.enqueue(encoder.encode(frame(result.value, withIds)));
      },
      async cancel() {
        await events.return?.();
      },
    },
    // Nothing is fetched before the client has taken what was sent.
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Proxies that buffer would hold events back.
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}

function frame(event: { readonly sequence?: number }, withIds: boolean): string {
  const id = withIds && event.sequence !== undefined ? `id: ${event.sequence}\n` : "";
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}

/** The next event, or undefined when it is silent for too long. */
async function beforeSilence<T>(next: Promise<T>, heartbeat: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, heartbeat, undefined);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}
