// Requests to one server: addresses, token, envelope, errors, and the attempts of repeatable requests.
import { AndanteApiError } from "../api-error.ts";
import { Backoff } from "./backoff.ts";
import type { CallOptions, ClientOptions, Query } from "./options.ts";

export interface Sending extends CallOptions {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path below the base URL, with a leading slash. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum milliseconds until the headers of the response. Default: no limit. */
  readonly patience?: number;
}

/** Responds at once with 202 to requests that would wait for an execution. */
export const respondAsync = { prefer: "respond-async" };

export class Connection {
  readonly #options: ClientOptions;
  readonly #root: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#root = String(options.baseUrl).replace(/\/+$/, "");
  }

  /** Sends one request and returns the payload. `T` is the type of this path in the API description. */
  async send<T>(sending: Sending): Promise<T> {
    const response = await this.open(sending);
    const envelope = jsonIn(await readText(response, sending.signal));
    if (isSuccess<T>(envelope)) return envelope.data;
    throw foreign(response);
  }

  /** Retries while the server cannot be reached: for reads, and for requests with a client-chosen id. */
  repeat<T>(sending: Sending): Promise<T> {
    return this.attempt(sending, () => this.send<T>(sending));
  }

  async attempt<T>({ method, signal }: Partial<Sending>, action: () => Promise<T>): Promise<T> {
    const backoff = this.backoff(signal);
    for (;;) {
      try {
        return await action();
      } catch (error) {
        // A start waits for its execution, and a proxy may time out. Or the server cannot be reached.
        await backoff.failed(error, (isLong) => method === "POST" && isLong && this.#responds(signal));
      }
    }
  }

  backoff(signal: AbortSignal | undefined): Backoff {
    return new Backoff(this.#options.retryFor ?? 30_000, signal);
  }

  /** The text of a response without an envelope, with the retries of `repeat`. */
  text(sending: Sending): Promise<string> {
    return this.attempt(sending, async () => readText(await this.open(sending), sending.signal));
  }

  /** The JSON object of a response without an envelope, with the retries of `repeat`. */
  document(sending: Sending): Promise<Readonly<Record<string, unknown>>> {
    return this.attempt(sending, async () => {
      const response = await this.open(sending);
      const found = jsonIn(await readText(response, sending.signal));
      if (isObject(found)) return found;
      throw foreign(response);
    });
  }

  /** Sends one request. Throws when the response is an error, or there is none. */
  async open({ method = "GET", path, query, body, headers, signal, patience }: Sending): Promise<Response> {
    const { token, fetch: given = fetch } = this.#options;
    const bearer = typeof token === "function" ? await unlessAborted(token(), signal) : token;
    const init: RequestInit = {
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
    const late = new AbortController();
    // Not earlier: the user may have to enter a token first.
    const timer = patience && setTimeout(() => late.abort(), patience);
    if (patience) init.signal = AbortSignal.any(signal ? [signal, late.signal] : [late.signal]);
    const response = await given(this.#root + path + search(query), init)
      .catch((cause: unknown) => {
        throw unreachable(cause, signal);
      })
      .finally(() => clearTimeout(timer));
    if (response.ok) return response;
    throw await refusal(response, signal);
  }

  /** Whether the server responds, even with an error. */
  #responds(signal: AbortSignal | undefined): Promise<boolean> {
    return this.open({ path: "/health", signal }).then(
      () => true,
      (error: unknown) => error instanceof AndanteApiError && !error.isPassing,
    );
  }
}

/** Encodes an id for a path. */
export const part = encodeURIComponent;

/** The error of a broken connection; an abort stays an abort. */
export function unreachable(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  return new AndanteApiError("The server cannot be reached", { status: 0, code: "unreachable", cause });
}

/** Rejects with the signal's reason when it aborts first. */
function unlessAborted<T>(value: T | Promise<T>, signal: AbortSignal | undefined): T | Promise<T> {
  if (!signal) return value;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
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
  const envelope = jsonIn(await readText(response, signal));
  const executionId = headers.get("x-execution-id");
  return new AndanteApiError(isFailure(envelope) ? envelope.error : `The server responded with ${status}`, {
    status,
    code: headers.get("x-error-code") ?? undefined,
    executionId: executionId === null ? undefined : decoded(executionId),
    retryAfter: secondsUntil(headers.get("retry-after"), headers.get("date")),
  });
}

/** The seconds of `Retry-After`: a number, or a date by the sender's clock. */
function secondsUntil(retryAfter: string | null, date: string | null): number | undefined {
  const given = retryAfter || "?";
  const seconds = Number(given);
  const until = Number.isNaN(seconds)
    ? (Date.parse(given) - (Date.parse(date ?? "") || Date.now())) / 1000
    : seconds;
  return Number.isFinite(until) ? Math.max(0, until) : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Throws when the connection breaks before the end of the text. */
function readText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return response.text().catch((cause: unknown) => {
    throw unreachable(cause, signal);
  });
}

/** Undefined for a text that is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for a response that is not from Andante, such as a proxy's page. */
export function foreign({ status }: Response): AndanteApiError {
  return new AndanteApiError("The response is not one of Andante's", { status });
}

function isSuccess<T>(value: unknown): value is { readonly data: T } {
  return isObject(value) && value.success === true;
}

function isFailure(value: unknown): value is { readonly error: string } {
  return isObject(value) && typeof value.error === "string";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
