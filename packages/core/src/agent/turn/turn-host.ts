// A turn of a kept conversation is an execution: the interfaces between the agents and the engine.

import type { StoredUsage } from "../../store/conversation-store.ts";
import type { BeginTurnResult, EndTurn, Suspension, TurnMessage } from "../../store/store.ts";
import type { CallDeferral, CallRecorder } from "../durable/recorder.ts";
import type { SchemaChecker } from "../schema/schema-checker.ts";

/** A turn that is about to begin. */
export interface TurnToBegin {
  readonly executionId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  /** The input, from which another process can continue the turn; JSON. */
  readonly input: string;
  /** The caller's context, a JSON object. */
  readonly context: string;
  readonly message: TurnMessage;
  /** How many of the messages before it are read with it. */
  readonly before: number;
}

/** The changes of the conversation at the end of a turn. */
export type TurnReply = EndTurn["reply"];

export interface TurnEnding {
  readonly reply: TurnReply;
  /** The usage beside recorded calls; null when there is none. */
  readonly usage: StoredUsage | null;
  readonly agentId: string;
  /** The calls that wait for a person; the turn is suspended there. */
  readonly open: readonly Suspension[];
}

/** Runs turns as executions. */
export interface TurnExecutions {
  /** Keeps message and turn in one write; one that has begun is run: the host is asked for its reply. */
  begin(turn: TurnToBegin): Promise<BeginTurnResult>;
  /** The turn that runs or waits in a conversation, in this process or another. */
  live(conversationId: string): Promise<LiveTurn | undefined>;
  /** Ends a turn that waits; its message stays as it is. False when it has continued or ended already. */
  endWait(turn: LiveTurn): Promise<boolean>;
  /** Continues the turn of a tool that waits. */
  resume(tool: ResumedTool): Promise<void>;
  /** Absent where one process has the store to itself. */
  readonly others?: OtherTurns | undefined;
}

/** A tool of a reply whose wait is over. */
export interface ResumedTool {
  readonly conversationId: string;
  readonly suspensionId: string;
  readonly data: unknown;
  /** The person who resumes it. */
  readonly by: string | undefined;
  readonly schemas: SchemaChecker;
}

/** The turns of all processes that share the store. */
export interface OtherTurns {
  /** The turn that runs in a conversation, in this process or another. */
  running(conversationId: string): Promise<LiveTurn | undefined>;
  /** Resolves when the turn has ended; rejects when the signal is aborted, or this process stops. */
  ended(executionId: string, signal: AbortSignal): Promise<void>;
  /** Asks whichever process runs the turn to stop it. It may be lost. */
  askToStop(executionId: string): void;
}

export interface LiveTurn {
  readonly executionId: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  /** Its input. */
  readonly input: unknown;
  /** The caller's context, a JSON object. */
  readonly context: string;
  /** Since when its reply waits for a person, in milliseconds since 1970; undefined while it runs. */
  readonly waitsSince: number | undefined;
  /** It waits for its tools alone, not for a decision. */
  readonly waitsForTools: boolean;
  /** What a person can answer meanwhile. */
  readonly questions: readonly ReplyQuestion[];
}

/** A call of a tool that waits for a person. */
export interface ReplyQuestion {
  readonly suspensionId: string;
  /** Of an approval; null for a tool that waits in its own code. */
  readonly approvalId: string | null;
  readonly reason: string;
  readonly data?: unknown;
  readonly resumeSchema?: Readonly<Record<string, unknown>>;
}

/** A turn that is run, now or again after a crash. */
export interface RunningTurn {
  readonly executionId: string;
  /** Its input. */
  readonly input: unknown;
  readonly context: ReadonlyMap<string, unknown>;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** Aborted when the turn is not this process's any more. */
  readonly signal: AbortSignal;
  /** It may make no new calls: it ends with the reply so far. */
  readonly onlyRecorded: boolean;
  /** Where the calls of its agent are recorded. */
  readonly recorder: CallRecorder;
  /** For the last of them. */
  readonly deferral: CallDeferral;
  /** When the turn last made progress, in milliseconds since 1970. */
  readonly activeAt: number;
  /** True when the process stops: nothing new begins, and the turn is left to the next one. */
  isInterrupted(): boolean;
  readonly settled: Promise<TurnEnd>;
}

/**
 * - `ended`: the end is committed.
 * - `waits`: a tool of it waits; that is committed, and the turn is released until the wait has ended.
 * - `elsewhere`: it was removed, or another process runs it.
 * - `stopped`: this process stops, and the next one continues it.
 * - `failed`: a write failed; it is continued later.
 * - a refusal: it ended in error, with or without the text before it.
 */
export type TurnEnd = "ended" | "waits" | "elsewhere" | "stopped" | "failed" | TurnRefusal;

/** The store has refused a write of the turn for good, or its journal is full. */
export interface TurnRefusal {
  readonly reason: unknown;
}

/** The call of a reply that no person has decided before its deadline. */
export interface ExpiredApproval {
  readonly conversationId: string;
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

/** True when it is decided now, false when it was before. `cancel`: the conversation has no reply any more. */
export type ExpiredWait = boolean | "cancel";

/** Why a turn continues later. */
export interface TurnWait {
  readonly reason: unknown;
}

/** Makes the replies of turns. */
export interface TurnHost {
  /** The agents whose turns can be run here. */
  readonly agentIds: readonly string[];
  /**
   * Resolves when the reply is made, as far as it goes: then the turn ends. Or to the reason for which its tools wait: then it
   * is run again later.
   */
  run(turn: RunningTurn): Promise<TurnWait | undefined>;
  /** The write at the end of a turn that ends now. */
  endingOf(executionId: string): Promise<TurnEnding>;
  /** Begins the replies to messages that processes which are gone have left in queues. */
  look(): Promise<void>;
  /** Decides the call, and continues the reply. */
  expire(call: ExpiredApproval): Promise<ExpiredWait>;
}
