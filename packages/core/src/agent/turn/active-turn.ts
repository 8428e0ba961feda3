// A turn from its first check to its end: how it is stopped, when it is over, and what readers attach to.
import type { UIMessage, UIMessageChunk } from "ai";
import { type AndanteError, ReplyStoppedError } from "../../errors/index.ts";
import { replay } from "../reply/replay-message.ts";
import type { RunningReply } from "../reply/running-reply.ts";

export class ActiveTurn {
  readonly agentId: string;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #ended: () => void;
  #attachable: { readonly reply: RunningReply; readonly continued: UIMessage | undefined } | undefined;

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

  /** From now on the caller may leave without stopping the reply; `continued` is the message that it continues. */
  allowAttach(reply: RunningReply, continued: UIMessage | undefined): void {
    this.#attachable = { reply, continued };
    this.#detach();
  }

  /** The reply from its beginning; undefined when it cannot be read from there. */
  attach(): AsyncIterableIterator<UIMessageChunk> | undefined {
    if (!this.#attachable?.reply.isWhole) return undefined;
    const { reply, continued } = this.#attachable;
    const chunks = reply.read();
    return continued === undefined ? chunks : replay(continued, chunks);
  }

  end(): void {
    this.#detach();
    this.#ended();
  }

  #detach(): void {
    this.#caller?.removeEventListener("abort", this.#callerLeft);
  }
}
