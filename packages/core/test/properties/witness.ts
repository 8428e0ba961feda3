// Compares the view of the last body of a workflow with the journal.
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { stepIdOf } from "../../src/values/step-path.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { witnessId } from "./build.ts";
import { isOutcome } from "./mirror.ts";
import { type Steps, treeAt } from "./tree.ts";

/** A body's view of the steps before it. */
export interface Testimony {
  readonly state: unknown;
  readonly stepData: StepContext["getStepData"];
}

/** Everything in which the view differs from the journal. */
export function witnessProblems(
  steps: Steps,
  { state, stepData }: Testimony,
  events: readonly StoredEvent[],
): string[] {
  const end = events.findIndex(({ type, path }) => type === "step-start" && path === witnessId);
  const before = events.slice(0, end);
  return [...stateProblems(steps, state, before), ...stepDataProblems(stepData, before)];
}

/** Bodies that set state and ended well have set it, in the order of their outcomes. */
function stateProblems(steps: Steps, state: unknown, events: readonly StoredEvent[]): string[] {
  const expected: Record<string, unknown> = {};
  let count = 0;
  const attempts = new Map<string, number>();
  for (const { type, path, detail } of events) {
    if (path === null) continue;
    if (type === "step-retry") attempts.set(path, Number(JSON.parse(detail ?? "{}").attempt) + 1);
    if (type !== "step-complete" && type !== "step-bailed") continue;
    const tree = treeAt(steps, path);
    if (tree === undefined || !("body" in tree) || !tree.body.sets) continue;
    expected[path] = attempts.get(path) ?? 1;
    expected.last = path;
    expected.count = ++count;
  }
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  const seen = sorted(Object(state));
  return seen === sorted(expected) ? [] : [`the state is ${seen}, expected ${sorted(expected)}`];
}

/** Of the steps in rounds and items that are over as many are kept; more than these may be forgotten. */
const keptSteps = 100;

function stepDataProblems(stepData: Testimony["stepData"], events: readonly StoredEvent[]): string[] {
  const inputs = new Map(
    events.filter(({ type }) => type === "step-start").map(({ path, value }) => [path, value]),
  );
  const byPath = new Map<string, string>();
  const newest = new Map<string, string>();
  for (const event of events) {
    const { path, type, value } = event;
    if (path === null || path.includes("#") || !isOutcome(event)) continue;
    const output = type === "step-complete" && value !== null ? JSON.parse(value) : undefined;
    const data = JSON.stringify({ input: JSON.parse(inputs.get(path) ?? "null"), output });
    byPath.set(path, data);
    newest.set(stepIdOf(path), data);
  }
  const numbered = [...byPath.keys()].filter((path) => path.includes("["));
  const seenOf = numbered.filter((path) => stepData(path) !== undefined).length;
  const forgets = numbered.length > keptSteps && seenOf >= keptSteps;
  return [...inputs.keys()].flatMap((path) => {
    if (path === null || (forgets && path.includes("[") && stepData(path) === undefined)) return [];
    return [path, stepIdOf(path)].flatMap((asked) => {
      const seen = JSON.stringify(stepData(asked));
      // A path comes before an id.
      const expected = inputs.has(asked) ? byPath.get(asked) : newest.get(asked);
      return seen === expected ? [] : [`getStepData("${asked}") is ${seen}, expected ${expected}`];
    });
  });
}
