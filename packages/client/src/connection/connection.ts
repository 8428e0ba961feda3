// Requests to one server: addresses, token, envelope, errors, and the attempts of what is safe to repeat.
import { AndanteApiError } from "../api-error.ts";
import { Backoff } from "./backoff.ts";
import type { CallOptions, ClientOptions, Query } from "./options.ts";

export interface Sending extends CallOptions {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the base address, with a slash in front. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds at once with 202 to what would wait for an execution. */
export const respondAsync = { prefer: "respond-async" };

export class Connection {
  readonly #options: ClientOptions;
  readonly #root: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#root = String(options.baseUrl).replace(/\/+$/, "");
  }

  /** The payload of the response, read once. `T` is what the API description promises for this path. */
  async send<T>(sending: Sending): Promise<T> {
    const response = await this.open(sending);
    const envelope = await readJson(response, sending.signal);
    if (isSuccess<T>(envelope)) return envelope.data;
    throw new AndanteApiError("The response is not one of Andante's", { status: response.status });
  }

  /** The same, tried again while the server cannot be reached: for reads, and for what has an id of its own. */
  repeat<T>(sending: Sending): Promise<T> {
    return this.attempt(sending, () => this.send<T>(sending));
  }

  async attempt<T>({ signal }: CallOptions, action: () => Promise<T>): Promise<T> {
    const backoff = this.backoff(signal);
    for (;;) {
      const since = Date.now();
      try {
        return await action();
      } catch (error) {
        await backoff.failed(error, since);
      }
    }
  }

  backoff(signal: AbortSignal | undefined): Backoff {
    return new Backoff(this.#options.retryFor ?? 30_000, signal);
  }

  /** One request. Throws when the response is an error, or does not come. */
  async open({ method = "GET", path, query, body, headers, signal }: Sending): Promise<Response> {
    const { token, fetch: given = fetch } = this.#options;
    const bearer = typeof token === "function" ? await token() : token;
    const init = {
      method,
      headers: {
        ...this.#options.headers,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    const response = await given(this.#root + path + search(query), init).catch((cause: unknown) => {
      throw unreachable(cause, signal);
    });
    if (response.ok) return response;
    throw await refusal(response, signal);
  }
}

/** An id as a part of a path. */
export const part = encodeURIComponent;

/** What a broken connection becomes; an abort stays what it is. */
export function unreachable(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  return new AndanteApiError("The server cannot be reached", { status: 0, code: "unreachable", cause });
}

function search(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) given.set(name, value instanceof Date ? value.toISOString() : String(value));
  const text = String(given);
  return text && `?${text}`;
}

async function refusal(response: Response, signal: AbortSignal | undefined): Promise<AndanteApiError> {
  const { status, headers } = response;
  const envelope = await readJson(response, signal);
  const executionId = headers.get("x-execution-id");
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return new AndanteApiError(isFailure(envelope) ? envelope.error : `The server responded with ${status}`, {
    status,
    code: headers.get("x-error-code") ?? undefined,
    executionId: executionId === null ? undefined : decodeURIComponent(executionId),
    // A date, which HTTP allows too, is not a number.
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

/** Undefined for a body that is not JSON. Throws when the connection breaks before its end. */
async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw unreachable(cause, signal);
  });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSuccess<T>(value: unknown): value is { readonly data: T } {
  return typeof value === "object" && value !== null && "success" in value && value.success === true;
}

function isFailure(value: unknown): value is { readonly error: string } {
  return typeof value === "object" && value !== null && "error" in value && typeof value.error === "string";
}
