// Customers who order one thing after the other through the proxy, and report missing orders.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { totalOf } from "./workflows.ts";

export interface Counters {
  /** Orders that the cluster has accepted. */
  started: number;
  /** Orders whose correct total has arrived. */
  ended: number;
  /** Orders that were accepted and then unknown, wrong, failed or late. */
  lost: number;
}

const reply = z.object({
  data: z.object({ status: z.string(), result: z.object({ total: z.number() }).nullish() }),
});

/** Maximum milliseconds of an accepted order: several leases, and the start of a node. */
const patience = 60_000;

export class Customers {
  readonly counters: Counters = { started: 0, ended: 0, lost: 0 };
  readonly #url: string;
  #ordering = true;
  #all: Promise<unknown> = Promise.resolve();
  #number = 0;

  constructor(proxyUrl: string) {
    this.#url = proxyUrl;
  }

  begin(customers: number): void {
    this.#all = Promise.all(Array.from({ length: customers }, () => this.#orderUntilStopped()));
  }

  /** Resolves when every accepted order has ended or counts as lost. */
  async stop(): Promise<void> {
    this.#ordering = false;
    await this.#all;
  }

  async #orderUntilStopped(): Promise<void> {
    while (this.#ordering) await this.#order(++this.#number);
  }

  async #order(number: number): Promise<void> {
    // The customer chooses the id: repeating the request gives the same order.
    const executionId = randomUUID();
    const body = JSON.stringify({ input: { number }, options: { executionId } });
    const headers = { "content-type": "application/json", prefer: "respond-async" };
    while (!(await this.#fetch("execute", { method: "POST", headers, body }))?.ok) {
      // It was not accepted, as far as the customer knows: giving up now loses nothing.
      if (!this.#ordering) return;
      await pause(50);
    }
    this.counters.started++;
    if ((await this.#totalOf(executionId)) === totalOf(number)) this.counters.ended++;
    else this.counters.lost++;
  }

  /** Follows an order to its end on any node; undefined when it is lost. Only reads: the order is never sent again. */
  async #totalOf(executionId: string): Promise<number | undefined> {
    const until = Date.now() + patience;
    while (Date.now() < until) {
      // Ends with the order, or when the node behind it is killed: then another one continues.
      await this.#fetch(`executions/${executionId}/stream`);
      const state = await this.#fetch(`executions/${executionId}/state`);
      if (state?.status === 404) return undefined;
      const read = reply.safeParse(state?.body).data?.data;
      if (read?.status === "completed") return read.result?.total;
      if (read?.status === "error" || read?.status === "cancelled") return undefined;
      await pause(50);
    }
    return undefined;
  }

  /** Undefined without a complete response: the node was killed, or is still starting. */
  async #fetch(path: string, request: RequestInit = {}) {
    try {
      const signal = AbortSignal.timeout(patience);
      const response = await fetch(`${this.#url}/workflows/order/${path}`, { ...request, signal });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      const body: unknown = isJson ? JSON.parse(text) : text;
      return { ok: response.ok, status: response.status, body };
    } catch {
      return undefined;
    }
  }
}
