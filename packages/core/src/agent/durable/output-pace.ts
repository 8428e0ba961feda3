// How fast a model's output came, for calls whose output the AI SDK has not seen piece by piece.
import type { ModelPart } from "./model-parts.ts";

/** The times between two pieces of output, in milliseconds, as the AI SDK tells of them. */
interface Gaps {
  readonly min: number;
  readonly p10: number;
  readonly median: number;
  readonly avg: number;
  readonly p90: number;
  readonly max: number;
}

/** Of what the AI SDK measures of a call, the part that depends on how many pieces it has seen. */
export interface ModelPace {
  readonly timeBetweenOutputChunksMs?: Gaps | undefined;
}

export class OutputPace {
  readonly #gaps: number[] = [];
  #last: number | undefined;

  note(part: ModelPart): void {
    if (!isOutput(part)) return;
    const now = performance.now();
    if (this.#last !== undefined) this.#gaps.push(now - this.#last);
    this.#last = now;
  }

  /** In place: everybody who is told of the call, a span or a hook, is given what is made of this object. */
  correct(measured: ModelPace): void {
    if (this.#gaps.length > 0) Object.assign(measured, { timeBetweenOutputChunksMs: gapsOf(this.#gaps) });
  }
}

function gapsOf(times: readonly number[]): Gaps {
  const sorted = Float64Array.from(times).sort();
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const sum = times.reduce((total, time) => total + time, 0);
  return {
    min: rank(0),
    p10: rank(0.1),
    median: rank(0.5),
    avg: sum / times.length,
    p90: rank(0.9),
    max: rank(1),
  };
}

/** What the AI SDK counts as output. */
function isOutput(part: ModelPart): boolean {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return part.delta.length > 0;
    case "file":
    case "reasoning-file":
    case "tool-call":
      return true;
    default:
      return false;
  }
}
