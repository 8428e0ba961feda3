// The outline of a definition: the ids, kinds and nesting of its steps, and whether a journal fits another one.
import { createHash } from "node:crypto";
import { isRecord } from "../values/fields.ts";
import { childPath, stepPathOf } from "../values/step-path.ts";
import { innerSteps, type Step, type WorkflowDefinition } from "./step.ts";

/** One step: its id, its kind, and the branches of a container. */
export interface OutlineStep {
  readonly id: string;
  readonly type: string;
  readonly branches?: readonly (readonly OutlineStep[])[];
}

export type Outline = readonly OutlineStep[];

/** A workflow's outline as it is kept, and its fingerprint. */
export interface Fingerprint {
  readonly definition: string;
  readonly outline: string;
}

export function outlineOf(steps: readonly Step[]): Outline {
  return steps.map((step) => {
    const branches = innerSteps(step);
    const { id, type } = step;
    return branches.length === 0 ? { id, type } : { id, type, branches: branches.map(outlineOf) };
  });
}

export function fingerprintOf(workflow: WorkflowDefinition): Fingerprint {
  const outline = JSON.stringify(outlineOf(workflow.steps));
  return { definition: createHash("sha256").update(outline).digest("base64url"), outline };
}

/** Reads an outline that `fingerprintOf` wrote. */
export function readOutline(text: string): Outline {
  const outline: unknown = JSON.parse(text);
  if (!isOutline(outline)) throw new TypeError("The stored outline of a workflow is damaged");
  return outline;
}

function isOutline(value: unknown): value is Outline {
  return Array.isArray(value) && value.every(isOutlineStep);
}

function isOutlineStep(value: unknown): value is OutlineStep {
  if (!isRecord(value) || typeof value.id !== "string" || typeof value.type !== "string") return false;
  const { branches = [] } = value;
  return Array.isArray(branches) && branches.every(isOutline);
}

/**
 * The changes between the outline that a journal was written under and the current one, as far as the journal has
 * come; undefined when it fits: in every sequence of steps, those that the journal has reached are also the first of
 * the current one. The inside of a loop that is not over must be the same once a round is: an added step would run in
 * rounds that are over, or in some rounds and not in others. `endedPaths`: those that have an outcome.
 */
export function findIncompatibility(
  before: Outline,
  current: Outline,
  journaledPaths: Iterable<string>,
  endedPaths: Iterable<string> = [],
): string | undefined {
  const steps = new Set<string>();
  for (const path of journaledPaths) steps.add(stepPathOf(path));
  return incompatibilityIn(before, current, { steps, rounds: findRounds(endedPaths) }, "");
}

/** How far a journal has come, by the paths of steps without the numbers of iterations. */
interface Progress {
  readonly steps: ReadonlySet<string>;
  readonly rounds: ReadonlySet<string>;
}

/** The parts of a path that ends in an iteration's condition, or in a step of the iteration itself. */
const ofIteration = /^(?<container>.+)\[(?<number>\d+)\](?:#condition|\/(?<step>[^/[\]#]+))$/;

/**
 * The paths that have ended in the iterations of containers that are not over: conditions (`loop#condition`), those of cases by
 * their number (`branch[1]#condition`), and steps (`each/store`).
 */
function findRounds(endedPaths: Iterable<string>): ReadonlySet<string> {
  const ended = new Set(endedPaths);
  const rounds = new Set<string>();
  for (const path of ended) {
    const { container, number, step } = ofIteration.exec(path)?.groups ?? {};
    if (container === undefined || ended.has(container)) continue;
    const place = stepPathOf(container);
    if (step !== undefined) rounds.add(childPath(place, step));
    else rounds.add(`${place}#condition`).add(`${place}[${number}]#condition`);
  }
  return rounds;
}

function incompatibilityIn(
  before: Outline,
  current: Outline,
  progress: Progress,
  container: string,
): string | undefined {
  const last = before.findLastIndex((step) => progress.steps.has(childPath(container, step.id)));
  for (const [index, was] of before.slice(0, last + 1).entries()) {
    const is = current[index];
    if (is === undefined || !isSame(was, is)) return changeOf(was, is, index, container);
    const inside = incompatibilityInBranches(was, is, progress, childPath(container, was.id));
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function isSame(was: OutlineStep, is: OutlineStep): boolean {
  return is.id === was.id && is.type === was.type;
}

function changeOf(was: OutlineStep, is: OutlineStep | undefined, index: number, container: string): string {
  const where = container === "" ? "" : ` inside "${container}"`;
  const now = is === undefined ? "missing" : `"${is.id}" (${is.type})`;
  return `step ${index + 1}${where} was "${was.id}" (${was.type}), now ${now}`;
}

function incompatibilityInBranches(
  was: OutlineStep,
  is: OutlineStep,
  progress: Progress,
  path: string,
): string | undefined {
  for (const [index, branch] of (was.branches ?? []).entries()) {
    const current = is.branches?.[index] ?? [];
    const found = incompatibilityIn(branch, current, progress, path);
    if (found !== undefined) return found;
    const [first] = branch;
    // The outcome of a condition belongs to the case with its number.
    const isKnown = was.type === "andBranch" && progress.rounds.has(`${path}[${index}]#condition`);
    if (isKnown && first !== undefined && first.id !== current[0]?.id)
      return changeOf(first, current[0], 0, path);
  }
  const differs = JSON.stringify(was.branches) !== JSON.stringify(is.branches);
  if (differs && hasRounds(was, progress, path))
    return `the steps inside "${path}" have changed, and rounds of it are over`;
  return undefined;
}

/** A round, or an item, of this loop is over and the loop is not. */
function hasRounds({ type, branches }: OutlineStep, { rounds }: Progress, path: string): boolean {
  if (type === "andDoWhile" || type === "andDoUntil") return rounds.has(`${path}#condition`);
  const last = branches?.[0]?.at(-1);
  return type === "andForEach" && last !== undefined && rounds.has(childPath(path, last.id));
}
