// A turn from its first check to its end: how it is stopped, when it is over, and what readers attach to.
import type { UIMessageChunk } from "ai";
import { type AndanteError, ReplyStoppedError } from "../../errors/index.ts";
import type { RunningReply } from "../reply/running-reply.ts";

/** Reads a reply from its beginning, for someone who attaches. */
export type ReadReply = () => AsyncIterableIterator<UIMessageChunk>;

export class ActiveTurn {
  readonly agentId: string;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #ended: () => void;
  #attachable: { readonly reply: RunningReply; readonly read: ReadReply } | undefined;

  /** `ended` is called once, when the turn ends. */
  constructor(agentId: string, caller: AbortSignal | undefined, ended: (turn: ActiveTurn) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.agentId = agentId;
    this.over = promise;
    this.#ended = () => {
      ended(this);
      resolve();
    };
    this.#caller = caller;
    if (caller?.aborted) this.#callerLeft();
    else caller?.addEventListener("abort", this.#callerLeft, { once: true });
  }

  readonly #callerLeft = () => this.stop();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True when readers other than the caller may attach. */
  get isAttachable(): boolean {
    return this.#attachable !== undefined;
  }

  stop(reason: AndanteError = new ReplyStoppedError()): void {
    this.#controller.abort(reason);
  }

  /** Stops the reply as soon as nobody reads it, which may be now. */
  stopWhenUnread(): void {
    this.#attachable?.reply.whenUnread(() => this.stop());
  }

  /** From now on the caller may leave without stopping the reply. */
  allowAttach(reply: RunningReply, read: ReadReply): void {
    this.#attachable = { reply, read };
    this.#detach();
  }

  /** The reply from its beginning; undefined when it cannot be read from there. */
  attach(): AsyncIterableIterator<UIMessageChunk> | undefined {
    return this.#attachable?.reply.isWhole ? this.#attachable.read() : undefined;
  }

  end(): void {
    this.#detach();
    this.#ended();
  }

  #detach(): void {
    this.#caller?.removeEventListener("abort", this.#callerLeft);
  }
}
