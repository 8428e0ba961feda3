// andForEach: the step for each item, at most `concurrency` at once; the outputs as an array in order.
import { StepSchemaError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { fromJson, type JsonText } from "../../values/json.ts";
import { iterationPath } from "../../values/step-path.ts";
import type { ForEachStep } from "../../workflow/step.ts";
import { outputsOf } from "./and-all.ts";
import { evaluate } from "./body.ts";
import { firstOf, type Interpretation, type Place, type Sequence, together } from "./commands.ts";
import { container } from "./container.ts";

export function forEach(place: Place, step: ForEachStep, sequence: Sequence): Interpretation {
  const { path, scope } = place;
  return container(place, function* (data) {
    const list = step.items === undefined ? data : yield* evaluate({ ...place, data }, "items");
    if (typeof list === "object" && list.kind !== "output") return list;
    const items = fromJson(typeof list === "object" ? list.value : list);
    if (!Array.isArray(items)) {
      const error = new StepSchemaError({ path, subject: "items", detail: "expected an array" });
      return { kind: "error", error: toFailure(error, path) };
    }
    if (items.length === 0) return { kind: "output", value: "[]" };
    const open = (index: number) =>
      sequence(step.steps, iterationPath(path, index), textOf(items[index]), scope);
    const firstPath = (index: number) => firstOf(step.steps, iterationPath(path, index));
    const { concurrency: limit } = step;
    const joined = yield* together({ kind: "all", count: items.length, limit, open, firstPath });
    return outputsOf(joined, path);
  });
}

// Written again item by item when its turn comes: the list is held once, not twice.
function textOf(item: unknown): JsonText {
  return JSON.stringify(item);
}
