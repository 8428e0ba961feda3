// andRace: all branches at once; the first success wins, and only when all fail does it fail.
import type { RaceStep } from "../../workflow/step.ts";
import { firstOf, type Interpretation, type Place, type Sequence, together } from "./commands.ts";
import { container } from "./container.ts";

export function race(place: Place, step: RaceStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    const { branches } = step;
    const count = branches.length;
    const open = (index: number) => sequence(branches[index] ?? [], place.path, data, place.scope);
    const firstPath = (index: number) => firstOf(branches[index] ?? [], place.path);
    return (yield* together({ kind: "race", count, limit: count, open, firstPath })).decisive;
  });
}
