// One stream of the changes of all executions, for pages that show many of them.
//
// Changes are sent in batches, only the newest of each execution: a thousand commits a second are a few events a second
// for the reader, and a reader that stalls costs a bounded list.
import type { Andante } from "@andante/core";
import type { ChangeFollower, ExecutionChange } from "@andante/core/internal";
import { entryIds } from "../auth/entry-ids.ts";
import type { Permission } from "../auth/permission.ts";
import type { Value } from "../schemas/component.ts";
import type { changeEvent } from "../schemas/overview-schemas.ts";

type ChangeEvent = Value<typeof changeEvent>;
type SeenChange = Extract<ChangeEvent, { type: "changes" }>["executions"][number];
/** The conversation is for calls of `authorize`; it is not sent. */
type KnownChange = SeenChange & { readonly conversationId: string | null };

/** Milliseconds between two events. */
const period = 200;
/** Maximum executions in one event. */
const most = 500;

/** `sees` filters executions by user, `permission` by workflow and conversation too. */
export class ChangeStream implements AsyncIterableIterator<ChangeEvent>, ChangeFollower {
  readonly #sees: (userId: string | null) => boolean;
  readonly #permission: Permission;
  readonly #leave: () => void;
  #changed = new Map<string, KnownChange>();
  #missed = 0;
  #opened = false;
  #closed = false;
  #wake: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(andante: Andante, sees: (userId: string | null) => boolean, permission: Permission) {
    this.#sees = sees;
    this.#permission = permission;
    this.#leave = andante.live.changes.follow(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  receive({ status, stepPath, timestamp, ...change }: ExecutionChange): void {
    const { executionId, userId } = change;
    if (!this.#sees(userId)) return;
    const before = this.#changed.get(executionId);
    if (before === undefined && this.#changed.size >= most) this.#missed += 1;
    else {
      const known = {
        ...(before?.status !== undefined && { status: before.status }),
        ...(before?.stepPath !== undefined && { stepPath: before.stepPath }),
        ...(status !== undefined && { status }),
        ...(stepPath !== undefined && { stepPath }),
      };
      const time = new Date(timestamp).toISOString();
      this.#changed.set(executionId, { ...change, ...known, timestamp: time });
    }
    this.#timer ??= setTimeout(() => this.#notify(), period);
  }

  stop(): void {
    this.#closed = true;
    this.#notify();
  }

  async next(): Promise<IteratorResult<ChangeEvent, undefined>> {
    if (!this.#opened) {
      this.#opened = true;
      return { done: false, value: { type: "open" } };
    }
    for (;;) {
      while (!this.#closed && (this.#changed.size === 0 || this.#timer !== undefined))
        await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#closed) return this.return();
      const [changed, missed] = [[...this.#changed.values()], this.#missed];
      this.#changed = new Map();
      this.#missed = 0;
      const visible = await this.#permission.visible(changed, entryIds);
      if (visible.length === 0 && missed === 0) continue;
      const executions = visible.map(({ conversationId: _, ...change }) => change);
      return { done: false, value: { type: "changes", executions, missed } };
    }
  }

  async return(): Promise<IteratorResult<ChangeEvent, undefined>> {
    this.#closed = true;
    this.#leave();
    this.#changed.clear();
    this.#notify();
    return { done: true, value: undefined };
  }

  #notify(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wake?.();
    this.#wake = undefined;
  }
}
