// The options of a client, and of each of its calls.

export interface ClientOptions {
  /** The URL of the server, such as `https://example.com` or `https://example.com/ai`. */
  readonly baseUrl: string | URL;
  /** The bearer token, or a function that returns it, which is called for every request. Default: none. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Milliseconds for which requests that are safe to repeat are retried, and streams are reconnected, while the server
   * cannot be reached. 0 for no retries. Default: 30 000.
   */
  readonly retryFor?: number | undefined;
}

export interface CallOptions {
  /** Aborts the call and its retries. Executions on the server continue. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Items per page; at most 500. Default: 50. */
  readonly limit?: number | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | Date | undefined>>;
