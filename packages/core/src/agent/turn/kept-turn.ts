// A turn of a kept conversation: its input, the state of its execution, and the message that the conversation keeps.
import {
  AndanteError,
  ReplyStoppedError,
  ShuttingDownError,
  StoreRefusedError,
  StoreUnavailableError,
} from "../../errors/index.ts";
import type { Clock } from "../../values/clock.ts";
import type { JsonSchema } from "../../values/schema.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { AgentUsage } from "../call/operation.ts";
import type { PlaygroundSettings } from "../call/playground.ts";
import type { ActiveTurn, TurnMode } from "./active-turn.ts";
import { type ApprovalWait, suspensionsOf } from "./approval-waits.ts";
import type { RunningTurn, TurnEnd, TurnEnding, TurnReply, TurnWait } from "./turn-host.ts";

/** The input of a turn, from which another process can continue it; JSON. */
export interface TurnInput {
  readonly agentId: string;
  readonly mode: TurnMode;
  /** The id of the message that the reply becomes, or continues. */
  readonly messageId: string;
  /** The user's message that it replies to; null when it continues the assistant's. */
  readonly replyTo: string | null;
  readonly settings: CallSettings;
  /** How the reply differs from its agent. Default: not at all. */
  readonly playground?: PlaygroundSettings | undefined;
  /** Of an object; null for other replies. */
  readonly schema: JsonSchema | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly traceparent: string | null;
  /** Since when the calls wait that it leaves undecided, in milliseconds since 1970. Default: its end. */
  readonly waitsSince?: number | undefined;
}

export interface KeptTurnOptions {
  readonly executionId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly input: TurnInput;
  readonly active: ActiveTurn;
  readonly clock: Clock;
}

/** The results of a turn beside its reply. */
export interface BesideReply {
  /** The usage beside the calls that are recorded. */
  readonly usage?: AgentUsage | undefined;
  /** The calls that wait for a person. */
  readonly waits?: readonly ApprovalWait[];
  /** The summary of older messages. */
  readonly summary?: TurnReply["summary"];
}

export class KeptTurn {
  readonly #options: KeptTurnOptions;
  readonly #running = Promise.withResolvers<RunningTurn>();
  readonly #made = Promise.withResolvers<void>();
  readonly #again = Promise.withResolvers<"waits">();
  #message: TurnReply["message"] = null;
  #beside: BesideReply = {};
  #isMade = false;
  #wait: TurnWait | undefined;
  #soFar: () => Promise<TurnReply["message"]> = async () => null;
  /** True when the reply was made before the end was written last. */
  #endsMade = false;

  constructor(options: KeptTurnOptions) {
    this.#options = options;
    options.active.isDurable = true;
  }

  get executionId(): string {
    return this.#options.executionId;
  }

  get input(): TurnInput {
    return this.#options.input;
  }

  /** Its execution, once that runs. */
  get running(): Promise<RunningTurn> {
    return this.#running.promise;
  }

  /** A tool of it waits: the turn runs again when the wait has ended. */
  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  /** The execution runs. Resolves when the reply is made, as far as it goes. */
  async run(turn: RunningTurn): Promise<TurnWait | undefined> {
    const { active } = this.#options;
    const left = () => {
      void turn.settled.then((end) => active.stop(reasonOf(end)));
    };
    if (turn.signal.aborted) left();
    else turn.signal.addEventListener("abort", left, { once: true });
    this.#running.resolve(turn);
    await this.#made.promise;
    return this.#wait;
  }

  /** A tool waits: resolves when that is committed, with the reply so far. */
  async leaveWaiting(message: TurnReply["message"], reason: unknown): Promise<void> {
    this.#wait = { reason };
    await this.finish(message);
  }

  /** The wait has ended before it was committed: its execution runs again here, with another turn. */
  runsAgain(): void {
    this.#again.resolve("waits");
  }

  /** The reply is made: resolves when it is committed together with the end of the turn. */
  async finish(message: TurnReply["message"], beside: BesideReply = {}): Promise<void> {
    this.#message = message;
    this.#beside = beside;
    this.#isMade = true;
    this.#made.resolve();
    const running = await this.#running.promise;
    const end = await Promise.race([running.settled, this.#again.promise]);
    if (end !== "ended" && end !== "waits" && !this.#isKept(end)) throw reasonOf(end);
  }

  /** A journal that its end has filled holds the reply all the same. */
  #isKept(end: TurnEnd): boolean {
    return this.#endsMade && typeof end === "object" && !(end.reason instanceof StoreRefusedError);
  }

  /** The message of a turn that is ended before its reply is made, as by a full journal. */
  endsEarlyWith(soFar: () => Promise<TurnReply["message"]>): void {
    this.#soFar = soFar;
  }

  /** Stops it as its reader would. */
  stop(): void {
    this.#options.active.stop();
  }

  /** How the turn ends, if it ends now. */
  async ending(): Promise<TurnEnding> {
    this.#endsMade = this.#isMade;
    const message = this.#isMade ? this.#message : await this.#soFar();
    const { conversationId, userId, input, clock } = this.#options;
    const where = { conversationId, userId, replyTo: input.replyTo ?? undefined };
    const { usage: unrecorded, waits = [], summary } = this.#beside;
    const usage = unrecorded?.calls ? unrecorded : null;
    const at = clock.now();
    const of = { conversationId, messageId: input.messageId, at: input.waitsSince ?? at };
    const { agentId } = input;
    const reply = { ...where, message, ...(summary && { summary }), at };
    return { reply, usage, agentId, open: suspensionsOf(waits, of) };
  }
}

/** The reason why readers here do not get the rest of a reply. */
export function reasonOf(end: TurnEnd): AndanteError {
  if (typeof end === "object") {
    const { reason } = end;
    return reason instanceof AndanteError
      ? reason
      : new StoreRefusedError({ operation: "endTurn", cause: reason });
  }
  if (end === "stopped") return new ShuttingDownError();
  if (end === "failed")
    return new StoreUnavailableError({ cause: new Error("the turn could not be written") });
  return new ReplyStoppedError();
}

/** The stored input of a turn: we wrote it ourselves. */
export function readTurnInput(stored: unknown): TurnInput {
  if (!isTurnInput(stored)) throw new TypeError("The stored input of a turn has no agentId or no messageId");
  return stored;
}

function isTurnInput(stored: unknown): stored is TurnInput {
  return typeof stored === "object" && stored !== null && "agentId" in stored && "messageId" in stored;
}
