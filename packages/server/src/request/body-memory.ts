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
/** Fields up to which objects of the same fields share their description. Larger ones are hash tables. */
const narrow = 1000;
const [quote, backslash, comma, colon, brace, bracket, endBrace] = Buffer.from('"\\,:{[}');

export interface JsonShape {
  /**
   * The bytes of memory that the value takes, estimated: 4 MB of `[{},{},…` took 85 MB, of `[[[…` 116, of one string 8.
   */
  readonly size: number;
  /** The fields of all objects with more than 1 000 fields. To parse, copy and write one takes 3 µs. */
  readonly wideFields: number;
}

/** Scans a JSON text without parsing it. */
export function shapeOf(json: Uint8Array): JsonShape {
  let size = character * json.byteLength;
  let wideFields = 0;
  let fields = 0;
  /** The fields of the objects around this one, so far. */
  const outer: number[] = [];
  for (let index = 0; index < json.length; index++)
    switch (json[index]) {
      case quote:
        index = endOfText(json, index);
        break;
      case brace:
        outer.push(fields);
        fields = 0;
        size += container;
        break;
      case endBrace:
        fields = outer.pop() ?? 0;
        break;
      case bracket:
        size += container;
        break;
      case colon:
        fields += 1;
        if (fields > narrow) wideFields += fields === narrow + 1 ? fields : 1;
        size += part;
        break;
      case comma:
        size += part;
        break;
    }
  return { size, wideFields };
}

/** The index of the quote that ends the text, or the length. */
function endOfText(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== quote) index += json[index] === backslash ? 2 : 1;
  return index;
}
