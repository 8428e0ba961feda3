// Calls to Restate over HTTP: its ingress, one address after the other, and its administration.
import { StoreUnavailableError } from "@andante/core/errors";
import type { Settings } from "../options.ts";

/** A row that SQL returned. */
export type Found = Readonly<Record<string, unknown>>;

/** Restate has ended a call without a result. */
export class FailedCallError extends Error {
  /** Restate does not take the message; else the call was killed, or had failed too often. */
  readonly isRefused: boolean;
  constructor(message: string, isRefused: boolean) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** Milliseconds that one attempt may take: a call that waits for its turn is attached to by the next attempt. */
const attemptTime = 20_000;

/** Milliseconds for which a call is attempted again while no server responds. */
const patience = 5_000;

export class Ingress {
  readonly #urls: readonly string[];
  readonly #adminUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** The address that responded last. */
  #current = 0;

  constructor({ ingressUrls, adminUrl, token }: Settings) {
    this.#urls = ingressUrls;
    this.#adminUrl = adminUrl;
    this.#headers = {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  /** Calls a handler with JSON. `key` names the call: an attempt whose response was lost is attached to, not repeated. */
  async call<Result>(path: string, body: string, key?: string, signal?: AbortSignal): Promise<Result> {
    const headers = { ...this.#headers, ...(key !== undefined && { "idempotency-key": key }) };
    const text = await this.#attempt(path, { method: "POST", headers, body }, signal);
    const result: Result = text === "" ? undefined : JSON.parse(text);
    return result;
  }

  async #attempt(path: string, request: RequestInit, signal?: AbortSignal): Promise<string> {
    const start = performance.now();
    for (let attempt = 0; ; attempt++) {
      const url = this.#urls[this.#current % this.#urls.length];
      let problem: unknown;
      try {
        const timeout = AbortSignal.timeout(attemptTime);
        const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
        const response = await fetch(`${url}${path}`, { ...request, signal: ending });
        const text = await response.text();
        if (response.ok) return text;
        problem = new Error(`Restate responded with ${response.status}: ${text.slice(0, 500)}`);
        const isRefused = response.status === 400 || response.status === 413;
        const isKilled = response.status === 409 || response.status === 500;
        if (isRefused || isKilled) throw new FailedCallError(String(problem), isRefused);
      } catch (error) {
        if (error instanceof FailedCallError || signal?.aborted) throw error;
        problem = error;
      }
      this.#current += 1;
      if (performance.now() - start > patience) throw new StoreUnavailableError({ cause: problem });
      await new Promise((resolve) => setTimeout(resolve, Math.min(20 * 2 ** attempt, 500)));
    }
  }

  /** Calls the administration once, without patience. */
  async administrate(path: string, body?: unknown): Promise<Response> {
    const headers = { ...this.#headers, accept: "application/json" };
    const request =
      body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    return await fetch(`${this.#adminUrl}${path}`, { ...request, signal: AbortSignal.timeout(attemptTime) });
  }

  /** Why it cannot be called; null when it can. */
  async problem(): Promise<string | null> {
    const check = async (url: string, name: string) => {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      return response?.ok ? null : `${name} of Restate does not respond`;
    };
    const ingress = this.#urls[this.#current % this.#urls.length];
    return (
      (await check(`${ingress}/restate/health`, "the ingress")) ??
      (await check(`${this.#adminUrl}/health`, "the administration"))
    );
  }

  /** Searches the state of objects by SQL. */
  async query(sql: string): Promise<readonly Found[]> {
    let response: Response;
    try {
      response = await this.administrate("/query", { query: sql });
    } catch (cause) {
      throw new StoreUnavailableError({ cause });
    }
    const text = await response.text();
    if (!response.ok)
      throw new StoreUnavailableError({ cause: new Error(`Restate's SQL responded: ${text.slice(0, 500)}`) });
    const { rows }: { rows: Found[] } = JSON.parse(text);
    return rows;
  }
}
