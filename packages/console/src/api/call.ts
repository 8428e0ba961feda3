// Calls the server beside which the console stands, and opens its envelope.
import { currentToken } from "./token.ts";

/** Where the server's routes are: one level above the console's root, whatever stands before it. */
export const serverRoot = new URL("..", document.baseURI).href;

/** The path that the console's own addresses begin with. Read once: a relative base moves with the address. */
export const consoleRoot = new URL(document.baseURI).pathname;

export class ApiError extends Error {
  readonly status: number;
  /** The execution that the error is about. */
  readonly executionId: string | undefined;
  constructor(message: string, status: number, executionId?: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.executionId = executionId;
  }
}

export function headers(): Record<string, string> {
  const token = currentToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** The address of a path such as `/api/executions`, with what is defined of a query. */
export function address(path: string, query: Readonly<Record<string, unknown>> = {}): string {
  const url = new URL(path.replace(/^\//, ""), serverRoot);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  return url.href;
}

interface CallOptions {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** The `data` of the response. `T` is the shape that the API description promises for this path. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { query, method = "GET", body, signal } = options;
  const response = await fetch(address(path, query), {
    method,
    headers: {
      ...headers(),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ApiError("The server cannot be reached", 0);
  });
  const envelope = await response.json().catch(() => undefined);
  if (isSuccess<T>(envelope)) return envelope.data;
  const message = isFailure(envelope) ? envelope.error : `The server responded with ${response.status}`;
  throw new ApiError(message, response.status, response.headers.get("x-execution-id") ?? undefined);
}

function isSuccess<T>(value: unknown): value is { success: true; data: T } {
  return typeof value === "object" && value !== null && "success" in value && value.success === true;
}

function isFailure(value: unknown): value is { error: string } {
  return typeof value === "object" && value !== null && "error" in value && typeof value.error === "string";
}

/** An id as a part of a path. */
export const part = encodeURIComponent;
