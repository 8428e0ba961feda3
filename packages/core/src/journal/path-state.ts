// The state of one path in a fold.
import type { JsonText } from "../values/json.ts";
import type { Outcome } from "./outcome.ts";

/** The resume of a suspension. */
export interface Resumption {
  /** JSON text, "null" for none. */
  readonly data: string;
  /** Its deadline has passed and fails the step. */
  readonly expired: boolean;
}

/** The round that a loop is in; everything in the rounds before it is over. */
export interface LoopRound {
  /** 0 is the first. */
  readonly number: number;
  /** The data that the round began with; the first round begins with the loop's own data. */
  readonly data: JsonText;
}

/** The state of one path. */
export interface PathState {
  readonly stepIndex: number;
  /** Its start is in the journal, with this input. */
  started: boolean;
  /** When that was, in milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds that pauses have lasted since then. */
  pausedFor: number;
  input: JsonText;
  outcome: Outcome | undefined;
  /** The number of the outcome's event: the first outcome wins. Before there is one, that of its start; 0 before that. */
  sequence: number;
  /** The newest suspension of this step. */
  suspension: { readonly suspensionId: string; readonly data: JsonText } | undefined;
  /** The resume of that suspension, if there is one. */
  resumption: Resumption | undefined;
  /** Attempts that failed and are followed by another, which starts no earlier than `retryAt`. */
  failures: number;
  retryAt: number;
  /** Where a loop stands. */
  round: LoopRound | undefined;
}

/** Nothing is known of it yet. */
export function newPathState(stepIndex: number): PathState {
  return {
    stepIndex,
    started: false,
    startedAt: 0,
    pausedFor: 0,
    input: undefined,
    outcome: undefined,
    sequence: 0,
    suspension: undefined,
    resumption: undefined,
    failures: 0,
    retryAt: 0,
    round: undefined,
  };
}

/** The length of its texts: about the memory that it takes. */
export function stateLength({ input, outcome, suspension, resumption, round }: PathState): number {
  const output = outcome !== undefined && "value" in outcome ? (outcome.value?.length ?? 0) : 0;
  const waiting =
    (suspension?.data?.length ?? 0) + (resumption?.data.length ?? 0) + (round?.data?.length ?? 0);
  return (input?.length ?? 0) + output + waiting;
}
