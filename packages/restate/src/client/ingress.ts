// Calls to Restate over HTTP: its ingress, one address after the other, and its administration.
import { StoreUnavailableError } from "@andante/core/errors";
import { steadyTime } from "@andante/core/internal";
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

/** Milliseconds after its first failure for which a call is attempted again. */
const patience = 5_000;

/** Milliseconds after its last response for which the ingress counts as healthy. */
const healthyTime = 2_500;

/** One of the two interfaces of Restate. */
interface Interface {
  /** Its option. */
  readonly name: string;
  readonly urls: readonly string[];
  /** Whether a status ends the call: another attempt would have the same one. */
  isFinal(status: number): boolean;
}

export class Ingress {
  readonly #ingress: Interface;
  readonly #administration: Interface;
  readonly #headers: Readonly<Record<string, string>>;
  /** The address that responded last. */
  #current = 0;
  #healthyUntil = 0;
  /** Milliseconds that Restate's clock is ahead of the steady time of this process, as far as its responses show. */
  clockOffset = 0;

  constructor({ ingressUrls: urls, adminUrl, token }: Settings) {
    this.#ingress = { name: "ingressUrl", urls, isFinal: (status) => [400, 409, 413, 500].includes(status) };
    this.#administration = { name: "adminUrl", urls: [adminUrl], isFinal: (status) => status < 500 };
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  /** Calls a handler with JSON. `key` names the call: an attempt whose response was lost is attached to, not repeated. */
  async call<Result>(path: string, body: string, key?: string, signal?: AbortSignal): Promise<Result> {
    const headers = { ...this.#headers, ...(key !== undefined && { "idempotency-key": key }) };
    return await this.#attempt<Result>(this.#ingress, path, { method: "POST", headers, body }, signal);
  }

  async #attempt<Reply>(to: Interface, path: string, request: RequestInit, signal?: AbortSignal) {
    let failedAt: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const timeout = AbortSignal.timeout(attemptTime);
      const sent = steadyTime();
      let problem: unknown;
      try {
        const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
        const url = to.urls[this.#current % to.urls.length];
        const response = await fetch(`${url}${path}`, { ...request, signal: ending });
        this.#adjustClock(Date.parse(response.headers.get("date") ?? ""), sent);
        const text = await response.text();
        if (response.ok) {
          if (to === this.#ingress) this.#healthyUntil = performance.now() + healthyTime;
          const reply: Reply = text === "" ? undefined : JSON.parse(text);
          return reply;
        }
        const { status } = response;
        const message = `${to.name} responded with ${status}: ${text.slice(0, 500)}`;
        if (to.isFinal(status)) throw new FailedCallError(message, status === 400 || status === 413);
        problem = new Error(message);
      } catch (error) {
        if (error instanceof FailedCallError || signal?.aborted) throw error;
        problem = new Error(`${to.name} does not respond: ${reasonOf(error)}`, { cause: error });
      }
      if (to === this.#ingress) this.#current += 1;
      failedAt ??= performance.now();
      if (timeout.aborted || performance.now() - failedAt > patience)
        throw new StoreUnavailableError({ cause: problem });
      await new Promise((resolve) => setTimeout(resolve, Math.min(20 * 2 ** attempt, 500)));
    }
  }

  /** A response to a request of the time `sent` has come with the time of its server, which is in whole seconds. */
  #adjustClock(date: number, sent: number): void {
    const [least, most] = [date - steadyTime(), date + 1_000 - sent];
    if (!Number.isNaN(date)) this.clockOffset = Math.max(least, Math.min(most, this.clockOffset));
  }

  /** Calls the administration: without `body` it only reads. */
  async administrate<Reply>(path: string, body?: unknown, signal?: AbortSignal): Promise<Reply> {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const request = { ...sent, headers: this.#headers };
    return await this.#attempt<Reply>(this.#administration, path, request, signal);
  }

  /** Why it cannot be called; null when it can. */
  async problem(): Promise<string | null> {
    const check = async (url: string, name: string) => {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      return response?.ok ? null : `${name} of Restate does not respond`;
    };
    const { urls } = this.#ingress;
    const isHealthy = performance.now() < this.#healthyUntil;
    return (
      (isHealthy
        ? null
        : await check(`${urls[this.#current % urls.length]}/restate/health`, "the ingress")) ??
      (await check(`${this.#administration.urls[0]}/health`, "the administration"))
    );
  }

  /** Searches the state of objects by SQL. */
  async query(sql: string): Promise<readonly Found[]> {
    return (await this.administrate<{ rows: Found[] }>("/query", { query: sql })).rows;
  }
}

/** The reason behind "fetch failed". */
function reasonOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : error;
}
