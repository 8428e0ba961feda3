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

/** So many calls are packed together, unless one of the last groups held a call of this length. */
const fewCalls = 64;
const longCall = 32_768;
const groupsRemembered = 16;

export class Outbox<Item extends OutgoingCall> {
  #calls: Item[] = [];
  /** For how many groups the calls are expected to be long. */
  #longLately = 0;

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

  /** A message with as many calls as it may carry; undefined when none can be sent. `refuse` gets those that never can. */
  take(refuse: (call: Item, cause: unknown) => void): string | undefined {
    return this.#takeShort() ?? this.#takeOneByOne(refuse);
  }

  /** All of them, in one go, when they are few and were short lately: packing each by itself costs a tenth more. */
  #takeShort(): string | undefined {
    const calls = this.#calls;
    if (calls.length > fewCalls || this.#longLately > 0) return undefined;
    try {
      const message = pack(calls.map(({ id, operation, argument }) => [id, operation, argument] as const));
      // One alone cannot be divided; packing it again would hold its text twice.
      if (message.length > maxMessageLength && calls.length > 1) throw new RangeError("the calls are long");
      for (const call of calls) call.sent++;
      this.#calls = [];
      return message;
    } catch {
      this.#longLately = groupsRemembered;
      return undefined;
    }
  }

  /** One that is too long to be sent fails alone. */
  #takeOneByOne(refuse: (call: Item, cause: unknown) => void): string | undefined {
    const group: string[] = [];
    this.#longLately = Math.max(0, this.#longLately - 1);
    let taken = 0;
    for (let length = 0; taken < this.#calls.length && length < maxMessageLength; taken++) {
      const call = this.#calls[taken];
      if (call === undefined) break;
      try {
        const { id, operation, argument } = call;
        const text = pack([id, operation, argument]);
        call.sent++;
        group.push(text);
        length += text.length;
        if (text.length > longCall) this.#longLately = groupsRemembered;
      } catch (cause) {
        refuse(call, cause);
      }
    }
    this.#calls = taken === this.#calls.length ? [] : this.#calls.slice(taken);
    return group.length === 0 ? undefined : packGroup(group);
  }
}
