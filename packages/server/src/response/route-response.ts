// A response before it is sent. It becomes a Response once, at the end, with every header: a header set on a finished
// Response makes the listener copy it, which cost a fifth of the throughput.

export type HeaderFields = Readonly<Record<string, string>>;

/** Default headers: a response is for one caller at one time, so no cache stores it; no browser guesses its type. */
const safeHeaders: HeaderFields = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export class RouteResponse {
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  readonly status: number;
  readonly headers: HeaderFields;

  constructor(
    body: RouteResponse["body"],
    options: { readonly status?: number; readonly headers?: HeaderFields } = {},
  ) {
    this.body = body;
    this.status = options.status ?? 200;
    this.headers = { ...safeHeaders, ...options.headers };
  }

  toResponse(further: HeaderFields = {}): Response {
    const headers = { ...this.headers, ...further };
    if (this.headers.vary && further.vary) headers.vary = `${this.headers.vary}, ${further.vary}`;
    return new Response(this.body, { status: this.status, headers });
  }

  /** The response without its body, for HEAD. Cancels a stream. */
  async withoutBody(): Promise<RouteResponse> {
    if (this.body instanceof ReadableStream) await this.body.cancel();
    return new RouteResponse(null, this);
  }
}

/** A finished response of a library, passed on uncompressed: reading its body would take longer than making it. */
export class FinishedResponse extends RouteResponse {
  readonly #response: Response;

  constructor(response: Response) {
    super(null, { status: response.status, headers: Object.fromEntries(response.headers) });
    this.#response = response;
  }

  override toResponse(further: HeaderFields = {}): Response {
    const { headers } = this.#response;
    for (const [name, value] of Object.entries({ ...this.headers, ...further })) headers.set(name, value);
    return this.#response;
  }
}
