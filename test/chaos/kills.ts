// Chooses how lives end: every boundary of a journal in turn, or at random.

import type { Random } from "../../packages/core/test/support/random.ts";
import type { Kill } from "./instructions.ts";

/** The length of an undisturbed life, within which kills fall. */
export interface Span {
  /** Writes to journals. */
  readonly writes: number;
  /** Moments inside bodies. */
  readonly moments: number;
  /** Milliseconds from the open store to the end. */
  readonly milliseconds: number;
}

/** Milliseconds within which a life has opened its store and continued the executions there. */
const recovery = 300;

/** Each boundary of a journal: before and after every write. */
export function everyBoundary(writes: number): Kill[] {
  const numbers = Array.from({ length: writes }, (_, index) => index + 1);
  return numbers.flatMap((number): Kill[] => [
    { kind: "write", number, phase: "before" },
    { kind: "write", number, phase: "after" },
  ]);
}

/** A row of kills for one trial, each so early in its life that there is something left for the next. */
export function randomKills(random: Random, span: Span, count: number): Kill[] {
  const share: Span = {
    writes: Math.ceil((span.writes / count) * 1.5),
    moments: Math.ceil((span.moments / count) * 1.5),
    milliseconds: Math.ceil((span.milliseconds / count) * 1.5),
  };
  return Array.from({ length: count }, (_, index) => randomKill(random, share, index === 0));
}

/** A kill on the way, and more of them in the lives after it while they recover. */
export function recoveryKills(random: Random, span: Span, count: number): Kill[] {
  const recovering = Array.from(
    { length: count },
    (): Kill => ({ kind: "outside", since: "opening", milliseconds: random.integer(0, recovery * 4) / 4 }),
  );
  return [randomKill(random, span, true), ...recovering];
}

function randomKill(random: Random, span: Span, isFirst: boolean): Kill {
  const write = (): Kill => ({
    kind: "write",
    number: random.integer(1, span.writes),
    phase: random.pick(["before", "during", "during", "after"]),
  });
  const body = (): Kill => ({ kind: "body", number: random.integer(1, span.moments) });
  const outside = (): Kill => ({
    kind: "outside",
    since: "ready",
    milliseconds: random.integer(0, span.milliseconds * 4) / 4,
  });
  const opening = (): Kill => ({ kind: "outside", since: "spawn", milliseconds: random.integer(80, 400) });
  // Before the first claim there is nothing to claim.
  const claim = (): Kill => ({ kind: "claim", phase: random.pick(["before", "during", "after"]) });
  return random.pick([
    write,
    body,
    body,
    outside,
    outside,
    isFirst ? write : claim,
    isFirst ? body : opening,
  ])();
}
