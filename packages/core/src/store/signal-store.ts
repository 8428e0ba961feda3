// Events from outside: the part of the store contract that keeps them, finds the waits that they end, and lists the work that
// they leave to do. Here and in tables an event from outside is a *signal*: an event is one of a journal.
//
// Waits are rows of open suspensions with `awaits`, and of executions whose links name events that cancel them: they come and
// go in the same writes. A suspension that waits is work, too: after it is kept its process looks for signals that came before.
import type { EventPlace } from "../event/awaits.ts";

export interface NewSignal {
  readonly signalId: string;
  /** "" for a shared one, else a user. */
  readonly scope: string;
  readonly name: string;
  readonly key: string | null;
  /** JSON text. */
  readonly data: string;
  readonly userId: string | null;
  /** The execution that has sent it; null for a caller. */
  readonly sentBy: string | null;
  readonly sentAt: number;
}

export interface SendSignal extends NewSignal {
  /** The workflows that it may start, as targets (`targetOf`). */
  readonly starts: readonly string[];
  /** When another process does the work that the sender leaves undone. */
  readonly dueAt: number;
}

export type SignalEffectKind = "started" | "woken" | "cancelled" | "skipped";

/** Something that a signal has done, or has not done for a reason. */
export interface SignalEffect {
  readonly kind: SignalEffectKind;
  /** Of the execution; of a workflow for `skipped`. */
  readonly id: string;
  readonly reason?: string;
}

export interface SignalRow extends Omit<NewSignal, "data"> {
  /** 1, 2, 3 … in the order in which signals of one name and key were sent. */
  readonly seq: number;
  /** Null once it is too old to be found by later waits. */
  readonly data: string | null;
  /** A JSON object, see `SignalEffects`. */
  readonly effects: string;
  /** How much work is left to do. */
  readonly pending: number;
}

/** Work that a signal or a wait leaves: done by a process that has the target. */
export type SignalWork = { readonly workId: string; readonly target: string } & (
  | { readonly kind: "deliver"; readonly seq: number }
  | { readonly kind: "look"; readonly executionId: string; readonly suspensionId: string }
  /** A body has sent it: with the commit of its outcome. */
  | { readonly kind: "send"; readonly signal: NewSignal }
  /** An effect that was kept with the write that made it: it is to be added to those of the signal. */
  | { readonly kind: "note"; readonly seq: number; readonly effect: SignalEffect; readonly dueAt: number }
);

export type SendWork = Extract<SignalWork, { kind: "send" }>;
export type NoteWork = Extract<SignalWork, { kind: "note" }>;

/** `conflict`: its id was used for another. `duplicate`: it was sent before. */
export interface SentSignal {
  readonly kind: "sent" | "duplicate" | "conflict";
  readonly row: SignalRow;
  readonly work: readonly Extract<SignalWork, { kind: "deliver" }>[];
}

/** A wait. */
export interface SignalWait {
  /** The id of the suspension; for an execution that is cancelled, `x` and its id. */
  readonly waitId: string;
  readonly executionId: string;
  /** Null: the execution is cancelled. */
  readonly suspensionId: string | null;
}

export interface WaitsQuery {
  readonly scope: string;
  readonly name: string;
  readonly key: string | null;
  readonly target: string;
  /** The last one of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface FindSignals {
  readonly places: readonly EventPlace[];
  readonly since: number;
  readonly after: number;
  readonly limit: number;
  /** Of a wait that has just been kept: senders under way are waited for, whose signals have not found it. Default: false. */
  readonly isNew?: boolean | undefined;
}

export interface SignalsQuery {
  readonly scope?: string | undefined;
  readonly name?: string | undefined;
  readonly key?: string | undefined;
  readonly signalId?: string | undefined;
  /** Only those that have done nothing. */
  readonly unmatched?: boolean | undefined;
  /** Below this number. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** Characters; a page ends with the row that reaches it. Default: 8 000 000, which is also the most. */
  readonly length?: number | undefined;
}

/** Work that is done, with its effects. */
export interface DoneWork {
  readonly workId: string;
  /** Default: none. */
  readonly effects?: readonly SignalEffect[];
  /** Of a note that the caller has made: the execution whose write has kept it. */
  readonly keptBy?: string;
}

export interface SettleWork {
  /** The signal that has the effects; null for none. */
  readonly seq: number | null;
  readonly done: readonly DoneWork[];
}

export interface TrimSignals {
  /** Data of signals that were sent before this time goes. */
  readonly dataBefore: number;
  /** Signals that were sent before this time go. */
  readonly before: number;
  /** At most so many with data stay. */
  readonly keep: number;
  readonly limit: number;
}

export interface SignalStore {
  /** In order; all or none. A store with several writers keeps others of the same places waiting meanwhile. */
  send(signals: readonly SendSignal[]): Promise<readonly SentSignal[]>;
  /** Those of these places that a wait may take, the lowest numbers first; after all that were being sent. */
  find(query: FindSignals): Promise<readonly SignalRow[]>;
  /** The waits of this target that a signal ends, by their ids. */
  waits(query: WaitsQuery): Promise<readonly SignalWait[]>;
  work(workId: string): Promise<SignalWork | undefined>;
  /**
   * Removes work and adds its effects to the signal. Effects of work that was removed before do not count. Undefined where the
   * signal is gone, or there is none.
   */
  settle(settle: SettleWork): Promise<SignalRow | undefined>;
  read(query: { readonly scope: string; readonly signalId: string }): Promise<SignalRow | undefined>;
  bySeq(seq: number): Promise<SignalRow | undefined>;
  /** The newest first. */
  list(query: SignalsQuery): Promise<readonly SignalRow[]>;
  trim(trim: TrimSignals): Promise<{ readonly more: boolean }>;
}
