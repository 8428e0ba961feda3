// Of the branches of a race that ended well, the first one in the journal has won.
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { childPath } from "../../src/values/step-path.ts";
import { namedBranches, type Steps, treeAt } from "./tree.ts";

export function raceProblems(steps: Steps, events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ type, path, stepType, value }) => {
    if (type !== "step-complete" || stepType !== "andRace" || path === null) return [];
    const tree = treeAt(steps, path);
    if (tree?.kind !== "race") return [];
    const lasts = namedBranches(tree.branches).map((chain) => childPath(path, chain.at(-1)?.[0] ?? ""));
    const ends = events.filter(({ path: ended }) => ended !== null && lasts.includes(ended));
    // A branch whose last step was skipped, or a tap that failed, passes its input on: that is not in the event.
    const first = ends.find(
      (event) => ["step-complete", "step-skipped"].includes(event.type) || isTap(event),
    );
    if (first === undefined) return [`nothing has won the race ${path}`];
    if (first.type !== "step-complete" || first.value === value) return [];
    return [`${first.path} has won the race ${path}, but the race gave ${value}`];
  });
}

function isTap({ type, stepType }: StoredEvent): boolean {
  return type === "step-error" && stepType === "andTap";
}
