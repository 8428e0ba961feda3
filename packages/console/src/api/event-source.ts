// Server-sent events over fetch, because a browser's EventSource cannot carry a token.

/**
 * Hands each event's data to `receive`, as JSON. Resolves when the stream ends, or when nothing has come for `silence`
 * milliseconds: a connection that is cut on the way does not say so.
 */
export async function readEventStream(
  response: Response,
  receive: (data: unknown) => void,
  silence: number,
): Promise<void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const giveUp = setTimeout(() => void reader.cancel().catch(() => undefined), silence);
    const { done, value } = await reader.read().finally(() => clearTimeout(giveUp));
    if (done) return;
    text += value;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice(6))
        .join("\n");
      if (data !== "") receive(JSON.parse(data));
    }
  }
}
