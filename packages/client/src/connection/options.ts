// The options of a client, and of each of its calls.

export interface ClientOptions {
  /** Where the server is, such as `https://example.com` or `https://example.com/ai`. */
  readonly baseUrl: string | URL;
  /** The bearer token, or a function that returns it; it is called for every request. Default: none is sent. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Sent with every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Milliseconds for which a request that is safe to repeat is repeated, and a stream re-attached, while the server
   * cannot be reached. 0 for never. Default: 30 000.
   */
  readonly retryFor?: number | undefined;
}

export interface CallOptions {
  /** Ends the call, and the wait before the next attempt. Executions at the server continue. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | number | Date | undefined>>;
