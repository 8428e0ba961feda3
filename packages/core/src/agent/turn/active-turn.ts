// A turn from its first check to its end: how it is stopped, when it ends, and the reply that readers attach to.
import type { UIMessageChunk } from "ai";
import { type AndanteError, ReplyStoppedError } from "../../errors/index.ts";
import type { RunningReply } from "../reply/running-reply.ts";
import type { TextReply } from "../reply/text-reply.ts";

/** Reads a reply from its beginning, for a reader that attaches. */
export type ReadReply = () => AsyncIterableIterator<UIMessageChunk>;

/** How a reply is asked for. */
export type TurnMode = "chat" | "text" | "stream" | "object";

/** The message that a turn of a conversation replies to. A caller that sends the same again gets the running reply. */
export interface Question {
  readonly agentId: string;
  readonly mode: TurnMode;
  readonly messageId: string;
  /** The message as JSON; undefined while it is being read. */
  readonly body: string | undefined;
}

/** The reason for which a caller waits no more: a reply that runs already has its message. */
export class JoinsReply extends Error {
  readonly reply: SharedReply;
  constructor(reply: SharedReply) {
    super("a reply has the message already");
    this.reply = reply;
  }
}

/** A running reply, for a caller that sends the same message again. */
export type SharedReply =
  | { readonly mode: "chat"; readonly read: ReadReply }
  | { readonly mode: "text"; readonly reply: Promise<TextReply> };

export class ActiveTurn {
  readonly agentId: string;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #ended: () => void;
  readonly #begun = Promise.withResolvers<void>();
  readonly #shared = Promise.withResolvers<SharedReply | undefined>();
  /** The message that it replies to, in a conversation. */
  question: Question | undefined;
  /** Whether another process continues it when this one stops. */
  isDurable = false;
  /** Messages wait that may reach the reply while it is made. */
  isSteered = false;
  /** Whether another process began it. */
  isRecovered = false;
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

  stop(reason: AndanteError | JoinsReply = new ReplyStoppedError()): void {
    this.#controller.abort(reason);
  }

  /** Stops the reply as soon as it has no reader, which may be now. After a restart its readers may still come back. */
  stopWhenUnread(): void {
    if (this.isRecovered) return;
    this.#attachable?.reply.whenUnread(() => this.stop());
  }

  /** From now on the caller may leave without stopping the reply. */
  allowAttach(reply: RunningReply, read: ReadReply): void {
    this.#attachable = { reply, read };
    this.#shared.resolve({ mode: "chat", read });
    this.#detach();
  }

  /** The reply from its beginning; undefined when it cannot be read from there. */
  attach(): AsyncIterableIterator<UIMessageChunk> | undefined {
    return this.#attachable?.reply.isWhole ? this.#attachable.read() : undefined;
  }

  /** Its message is kept. */
  begun(): void {
    this.#begun.resolve();
  }

  /** Resolves when its message is kept, or it is over. */
  get hasBegun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Callers that send the same message again get this text. */
  shareText(reply: Promise<TextReply>): void {
    this.#shared.resolve({ mode: "text", reply });
  }

  /** Resolves as soon as the reply can be shared; undefined when it cannot. */
  shared(): Promise<SharedReply | undefined> {
    return this.#shared.promise;
  }

  end(): void {
    this.#begun.resolve();
    this.#shared.resolve(undefined);
    this.#detach();
    this.#ended();
  }

  #detach(): void {
    this.#caller?.removeEventListener("abort", this.#callerLeft);
  }
}
