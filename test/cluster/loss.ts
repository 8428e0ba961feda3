// The commits lost by a fail-over to a lagging replica, found by comparing the journals of both servers.
import { outcomesIn } from "./checks.ts";
import type { Remains, Write } from "./remains.ts";

export interface Loss {
  /** Commits that the old primary had and the replica lacks. */
  readonly commits: number;
  /** Executions that the replica never heard of. */
  readonly unknown: ReadonlySet<string>;
  /** Executions that lack commits on the replica, without the unknown ones. */
  readonly setBack: ReadonlySet<string>;
  /** Of those: had ended, and did not on the replica. */
  readonly ended: number;
  /** The runs of bodies whose outcomes are lost. */
  readonly runs: ReadonlySet<string>;
}

/** Compares single commits, not their number: nodes may have written to the replica by now. */
export function lossBetween(before: ReadonlyMap<string, Remains>, after: ReadonlyMap<string, Remains>): Loss {
  let commits = 0;
  let ended = 0;
  const unknown = new Set<string>();
  const setBack = new Set<string>();
  const runs = new Set<string>();
  for (const [executionId, { execution, writes }] of before) {
    const left = after.get(executionId);
    const rest = new Set(left?.writes.map(textOf));
    const lost = writes.filter((write) => !rest.has(textOf(write))).length;
    // An end may change nothing but the row.
    const hadEnded = execution.status === "completed";
    if (left !== undefined && lost === 0 && (!hadEnded || left.execution.status === "completed")) continue;
    commits += lost;
    if (left === undefined) unknown.add(executionId);
    else setBack.add(executionId);
    if (hadEnded) ended++;
    const kept = new Set(outcomesIn(left?.writes ?? []).values());
    for (const run of outcomesIn(writes).values()) if (run !== undefined && !kept.has(run)) runs.add(run);
  }
  return { commits, unknown, setBack, ended, runs };
}

/** Equal only for the same commit: events have their times. */
function textOf({ events }: Write): string {
  return JSON.stringify(events);
}

/** All of them together. */
export function allLosses(losses: readonly Loss[]): Pick<Loss, "unknown" | "setBack" | "runs"> {
  const union = (of: (loss: Loss) => ReadonlySet<string>) => new Set(losses.flatMap((loss) => [...of(loss)]));
  return {
    unknown: union((loss) => loss.unknown),
    setBack: union((loss) => loss.setBack),
    runs: union((loss) => loss.runs),
  };
}
