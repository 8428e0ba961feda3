// Reads server-sent events and refuses everything that the contract does not allow, byte by byte.
import { expect } from "vitest";
import { z } from "zod";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import { type Fields, responseTime } from "./responses.ts";

const fields = z.record(z.string(), z.unknown());

type Framing = "plain" | "with-ids" | "chat";

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
        // A stream that is silent for fifteen seconds sends a heartbeat.
        if (frame !== ": heartbeat") return this.#parse(frame);
        continue;
      }
      const chunk = this.#reader && (await inTime(this.#reader.read(), "the next event", responseTime));
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

  /** Reads to the first event of this type. */
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
    // The end of a stream of chat chunks; nothing may follow it.
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
