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
