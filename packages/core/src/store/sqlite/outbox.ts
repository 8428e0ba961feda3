// The calls that wait to be sent to a database thread, and how they become messages.
import type { OperationName } from "./operations/index.ts";
import { maxMessageLength, pack, packGroup } from "./thread-messages.ts";

export interface OutgoingCall {
  readonly id: number;
  readonly operation: OperationName;
  readonly argument: unknown;
  /** How often it was sent to a thread. */
  sent: number;
}

export class Outbox<Item extends OutgoingCall> {
  #calls: Item[] = [];

  get length(): number {
    return this.#calls.length;
  }

  get calls(): readonly Item[] {
    return this.#calls;
  }

  add(call: Item): void {
    this.#calls.push(call);
  }

  /** These go out before all others. */
  putFirst(calls: readonly Item[]): void {
    this.#calls = [...calls, ...this.#calls];
  }

  clear(): void {
    this.#calls = [];
  }

  /**
   * A message with as many calls as it may carry; undefined when none can be sent. Each call is packed by itself, so that
   * one that is too long for a string fails alone: `refuse` gets it.
   */
  take(refuse: (call: Item, cause: unknown) => void): string | undefined {
    const group: string[] = [];
    let taken = 0;
    for (let length = 0; length < maxMessageLength; taken++) {
      const call = this.#calls[taken];
      if (call === undefined) break;
      try {
        const { id, operation, argument } = call;
        const text = pack([id, operation, argument]);
        call.sent++;
        group.push(text);
        length += text.length;
      } catch (cause) {
        refuse(call, cause);
      }
    }
    this.#calls = this.#calls.slice(taken);
    return group.length === 0 ? undefined : packGroup(group);
  }
}
