// A fiber, the branches that it opens, and which of their outcomes decides.
import { causeOf } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { BranchesCommand, Interpretation } from "../interpreter/commands.ts";

export interface Fiber {
  readonly interpretation: Interpretation;
  readonly scope: AbortScope;
  /** The branches it is one of; undefined for the whole workflow. */
  readonly join: Join | undefined;
  readonly index: number;
  /** The highest number of an outcome it has consumed: decides which of two branches ended first. */
  sequence: number;
}

/** Branches that run at once, and how far they have come. */
export interface Join {
  readonly command: BranchesCommand;
  readonly parent: Fiber;
  /** How many joins it is inside. */
  readonly depth: number;
  /** The branches under way, by their number. */
  readonly open: Map<number, Fiber>;
  readonly outcomes: (Outcome | undefined)[];
  /** How many branches have been opened, how many have ended, and how many of those did not decide. */
  opened: number;
  ended: number;
  passed: number;
  /**
   * The earliest outcome that decides (all: a failure or a bail; race: a success; first: any), and the earliest of any
   * kind.
   */
  decisive: Ended | undefined;
  first: Ended | undefined;
  /** Branches are being opened: nothing is decided before each has gone as far as the journal reaches. */
  opening: boolean;
  decided: boolean;
}

/** How a branch ended, and when. */
interface Ended {
  readonly outcome: Outcome;
  readonly sequence: number;
}

export function decides(kind: BranchesCommand["kind"], outcome: Outcome): boolean {
  if (kind === "first") return true;
  if (kind === "race") return outcome.kind !== "error";
  return outcome.kind === "error" || outcome.kind === "bailed";
}

/** The reason for which the remaining branches are stopped; a timeout is its own reason. */
export function abortReason(kind: BranchesCommand["kind"], outcome: Outcome): Error {
  if (kind !== "first" || outcome.kind !== "error") return new Error("Another branch has decided");
  const cause = causeOf(outcome.error);
  return cause instanceof Error ? cause : new Error(outcome.error.message);
}

export function earlier(known: Ended | undefined, ended: Ended): Ended {
  return known !== undefined && known.sequence <= ended.sequence ? known : ended;
}
