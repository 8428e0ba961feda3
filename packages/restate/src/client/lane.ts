// The calls of one kind to one shard: those made at the same time are a group, and all that arrive meanwhile the next.
import { randomUUID } from "node:crypto";
import { StoreBusyError, StoreRefusedError, StoreUnavailableError } from "@andante/core/errors";
import { steadyTime, withTimeout } from "@andante/core/internal";
import type { ItemResult } from "../engine/objects.ts";
import { FailedCallError, type Ingress } from "./ingress.ts";

/** Bounds of a group: its items, and the characters of their arguments. */
const maxItems = 200;
const maxLength = 8_000_000;

/** Items that may wait. */
const maxWaiting = 20_000;

interface Waiting {
  readonly name: string;
  /** The argument as JSON: it is sent as it was when the call was made. */
  readonly argument: string;
  resolve(result: ItemResult): void;
  reject(error: unknown): void;
}

export class Lane {
  readonly #ingress: Ingress;
  readonly #path: string;
  /** Calls that may be under way at once. */
  readonly #width: number;
  #waiting: Waiting[] = [];
  /** The groups under way, with the times when they were sent. */
  readonly #underWay = new Map<Promise<void>, number>();

  constructor(ingress: Ingress, path: string, width: number) {
    this.#ingress = ingress;
    this.#path = path;
    this.#width = width;
  }

  /** The result of one operation: a value, or the number of the shard that holds the execution. */
  async call(name: string, argument: unknown): Promise<ItemResult> {
    if (this.#waiting.length >= maxWaiting) throw new StoreBusyError({ limit: maxWaiting });
    const text = JSON.stringify(argument) ?? "null";
    const result = await new Promise<ItemResult>((resolve, reject) => {
      this.#waiting.push({ name, argument: text, resolve, reject });
      queueMicrotask(() => this.#send());
    });
    if (result.error !== undefined)
      throw new StoreRefusedError({ operation: name, cause: new Error(result.error) });
    return result;
  }

  /** Milliseconds for which the oldest call has been under way. */
  get waitingTime(): number {
    return performance.now() - Math.min(performance.now(), ...this.#underWay.values());
  }

  /** Waits for the calls under way and those that wait, then refuses the rest. */
  async close(milliseconds: number): Promise<void> {
    const drain = async () => {
      do await Promise.all(this.#underWay.keys());
      while (this.#underWay.size > 0);
    };
    await withTimeout(drain(), milliseconds);
    const error = new StoreUnavailableError({ cause: new Error("the store is closed") });
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #send(): void {
    if (this.#underWay.size >= this.#width || this.#waiting.length === 0) return;
    let length = 0;
    let count = 0;
    for (const { argument } of this.#waiting) {
      length += argument.length;
      if (count > 0 && (count === maxItems || length > maxLength)) break;
      count += 1;
    }
    const group = this.#waiting.splice(0, count);
    const call = this.#perform(group).finally(() => {
      this.#underWay.delete(call);
      this.#send();
    });
    this.#underWay.set(call, performance.now());
  }

  async #perform(group: readonly Waiting[]): Promise<void> {
    try {
      const items = group.map(({ name, argument }) => `{"name":"${name}","argument":${argument}}`);
      const at = Math.floor(steadyTime() + this.#ingress.clockOffset);
      const body = `{"at":${at},"items":[${items.join(",")}]}`;
      const results = await this.#ingress.call<ItemResult[]>(this.#path, body, randomUUID());
      for (const [index, { resolve }] of group.entries()) resolve(results[index] ?? {});
    } catch (error) {
      if (error instanceof FailedCallError && group.length > 1) {
        // One of them cannot be handled: the others are.
        for (const each of group) await this.#perform([each]);
        return;
      }
      for (const { name, reject } of group) reject(errorOf(error, name));
    }
  }
}

/** A call that was killed says nothing about its argument: no process may have been there to handle it. */
function errorOf(error: unknown, operation: string): unknown {
  if (!(error instanceof FailedCallError)) return error;
  return error.isRefused
    ? new StoreRefusedError({ operation, cause: error })
    : new StoreUnavailableError({ cause: error });
}
