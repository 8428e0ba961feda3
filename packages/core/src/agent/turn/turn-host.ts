// Interfaces between agents and the engine for turns of kept conversations, which are executions.
import type { StoredUsage } from "../../store/conversation-store.ts";
import type { BeginTurnResult, EndTurn, TurnMessage } from "../../store/store.ts";
import type { CallDeferral, CallRecorder } from "../durable/recorder.ts";

/** A turn that is about to begin. */
export interface TurnToBegin {
  readonly executionId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  /** What the turn needs to be continued by another process; JSON. */
  readonly input: string;
  /** The caller's context, a JSON object. */
  readonly context: string;
  readonly message: TurnMessage;
  /** How many of the messages before it are read with it. */
  readonly before: number;
}

/** What the conversation keeps of a turn. */
export type TurnReply = EndTurn["reply"];

export interface TurnEnding {
  readonly reply: TurnReply;
  /** What was used beside the calls that are recorded; null when nothing was. */
  readonly usage: StoredUsage | null;
}

/** Runs turns as executions. */
export interface TurnExecutions {
  /** Keeps message and turn in one write; one that has begun is run: the host is asked for its reply. */
  begin(turn: TurnToBegin): Promise<BeginTurnResult>;
  /** Absent where one process has the store to itself. */
  readonly others?: OtherTurns | undefined;
}

/** The turns of all processes that share the store. */
export interface OtherTurns {
  /** The turn that is live in a conversation, wherever it runs. */
  live(conversationId: string): Promise<LiveTurn | undefined>;
  /** Resolves when the turn has ended; rejects when the signal is aborted, or this process stops. */
  ended(executionId: string, signal: AbortSignal): Promise<void>;
  /** Asks whichever process runs the turn to stop it. It may be lost. */
  askToStop(executionId: string): void;
}

export interface LiveTurn {
  readonly executionId: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  /** What it was begun with. */
  readonly input: unknown;
}

/** A turn that is run, now or again after a crash. */
export interface RunningTurn {
  readonly executionId: string;
  /** What it was begun with. */
  readonly input: unknown;
  readonly context: ReadonlyMap<string, unknown>;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** Aborted when the turn is not this process's any more. */
  readonly signal: AbortSignal;
  /** It must not do anything that is not recorded: it ends with what it has. */
  readonly onlyRecorded: boolean;
  /** Where the calls of its agent are recorded. */
  readonly recorder: CallRecorder;
  /** For the last of them. */
  readonly deferral: CallDeferral;
  /** The process stops: nothing new begins, and the turn is left to the next one. */
  readonly interrupted: boolean;
  readonly settled: Promise<TurnEnd>;
}

/**
 * - `ended`: the end is committed.
 * - `elsewhere`: it was removed, or another process runs it.
 * - `stopped`: this process stops, and the next one continues it.
 * - `failed`: a write failed; it is continued later.
 * - a refusal: it ended in error, with what it had said before or without it.
 */
export type TurnEnd = "ended" | "elsewhere" | "stopped" | "failed" | TurnRefusal;

/** The store has refused a write of the turn for good, or its journal is full. */
export interface TurnRefusal {
  readonly reason: unknown;
}

/** Makes the replies of turns. */
export interface TurnHost {
  /** The agents whose turns can be run here. */
  readonly agentIds: readonly string[];
  /** Resolves when the reply is made, as far as it goes: then the turn ends. */
  run(turn: RunningTurn): Promise<void>;
  /** What is written with the end of a turn that ends now. */
  endingOf(executionId: string): Promise<TurnEnding>;
}
