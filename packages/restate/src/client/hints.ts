// The other nodes of a namespace: notifies them of the writes of this one a few times a second, and waits for theirs.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { withTimeout } from "@andante/core/internal";
import type { ClusterListener } from "@andante/core/store";
import { type Hint, hintsName, type News, type Waiting } from "../engine/hints.ts";
import type { Ingress } from "./ingress.ts";

/** Milliseconds between two hints of this node, and between two calls that wait for those of others. */
const period = 100;

/** More executions than these are not named in a hint: the others look at all that concerns them. */
export const maxNamed = 64;

/** Milliseconds between two attempts to wait while Restate does not respond. */
const failurePause = 1_000;

/** Milliseconds that the last hint may take. */
const closingTime = 1_000;

export class Hints {
  readonly #ingress: Ingress;
  readonly #path: string;
  readonly #listeners: ReadonlySet<ClusterListener>;
  /** Names this process. */
  readonly #node = randomUUID();
  readonly #closing = new AbortController();
  readonly #wrote = new Set<string>();
  readonly #stop = new Set<string>();
  #offered = false;
  #sending: Promise<void> | undefined;

  constructor(ingress: Ingress, namespace: string, listeners: ReadonlySet<ClusterListener>) {
    this.#ingress = ingress;
    this.#path = `/${hintsName}/${namespace}`;
    this.#listeners = listeners;
    void this.#wait();
  }

  wrote(executionId: string): void {
    if (this.#wrote.size <= maxNamed) this.#wrote.add(executionId);
    this.#send();
  }

  /** This node has left work to the others. */
  offered(): void {
    this.#offered = true;
    this.#send();
  }

  /** Beyond the bound a request is dropped: the caller repeats it until the turn has ended. */
  askToStop(executionId: string): void {
    if (this.#stop.size < maxNamed) this.#stop.add(executionId);
    this.#send();
  }

  /** Sends the last hint: this node leaves, and the others take over its timers. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#offered = true;
    await withTimeout(Promise.all([this.#sending, this.#put()]), closingTime);
  }

  #send(): void {
    if (this.#closing.signal.aborted) return;
    this.#sending ??= this.#round();
  }

  /** The first hint after a while is sent at once, later ones together. */
  async #round(): Promise<void> {
    const { signal } = this.#closing;
    while ((this.#wrote.size > 0 || this.#stop.size > 0 || this.#offered) && !signal.aborted) {
      await Promise.all([
        this.#put(),
        pause(period, undefined, { signal, ref: false }).catch(() => undefined),
      ]);
    }
    this.#sending = undefined;
  }

  /** A hint that cannot be sent is lost: it only saves the others time. */
  async #put(): Promise<void> {
    const hint: Hint = {
      sender: this.#node,
      wrote: this.#wrote.size > maxNamed ? null : [...this.#wrote],
      stop: [...this.#stop],
      offered: this.#offered,
    };
    this.#wrote.clear();
    this.#stop.clear();
    this.#offered = false;
    const call = this.#ingress.call(`${this.#path}/put`, JSON.stringify(hint), randomUUID());
    await call.catch(() => undefined);
  }

  async #wait(): Promise<void> {
    const { signal } = this.#closing;
    let after = -1;
    while (!signal.aborted) {
      const body = JSON.stringify({ node: this.#node, after } satisfies Waiting);
      const call = this.#ingress.call<News>(`${this.#path}/wait`, body, undefined, signal);
      const news = await call.catch(() => undefined);
      if (signal.aborted) return;
      after = news?.last ?? after;
      for (const hint of news?.hints ?? []) this.#receive(hint);
      const time = news === undefined ? failurePause : period;
      await pause(time, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #receive({ wrote, stop, offered }: Hint): void {
    for (const listener of this.#listeners) {
      if (wrote?.length !== 0) listener.wrote(wrote === null ? undefined : new Set(wrote));
      for (const executionId of stop) listener.stop(executionId);
      if (offered) listener.offered();
    }
  }
}
