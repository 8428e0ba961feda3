// A bound on the memory of the values of long request bodies until their handlers have them, such as during `authorize`.
import type { HonoRequest } from "hono";
import { BodiesLimitError } from "../errors/request-errors.ts";
import { ClientBytes } from "./client-bytes.ts";

export class BodyMemory {
  readonly #bytes: ClientBytes;
  readonly #waiting = new Map<HonoRequest, { readonly client: string; readonly bytes: number }>();

  constructor(maxBytes: number, share: number) {
    this.#bytes = new ClientBytes(maxBytes, share);
  }

  /** Counts the body of a request, or throws when it does not fit beside others. A single one always fits. */
  begin(request: HonoRequest, client: string, bytes: number): void {
    if (!this.#bytes.isEmpty && this.#bytes.isTooMuch(client, bytes)) throw new BodiesLimitError();
    this.#bytes.add(client, bytes);
    this.#waiting.set(request, { client, bytes });
  }

  /** The body does not wait any more. */
  end(request: HonoRequest): void {
    const waiting = this.#waiting.get(request);
    if (waiting === undefined) return;
    this.#bytes.add(waiting.client, -waiting.bytes);
    this.#waiting.delete(request);
  }
}

/** Bytes of an object or a list; of an element or a property; of a character. */
const [container, part, character] = [64, 24, 2];

/**
 * The bytes of memory that a JSON text takes when it is parsed, estimated without parsing it: 4 MB of `[{},{},…` took
 * 85 MB, of `[[[…` 116, of one string 8.
 */
export function parsedSize(json: Uint8Array): number {
  let size = character * json.byteLength;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (byte === 0x7b || byte === 0x5b) size += container;
    else if (byte === 0x2c || byte === 0x3a) size += part;
  }
  return size;
}
