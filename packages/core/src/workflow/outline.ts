// The outline of a definition: the ids, kinds and nesting of its steps, and whether a journal fits another one.
import { createHash } from "node:crypto";
import { childPath } from "../values/step-path.ts";
import { innerSteps, type Step, type WorkflowDefinition } from "./step.ts";

/** One step: its id, its kind, and the branches of a container. */
export interface OutlineStep {
  readonly id: string;
  readonly type: string;
  readonly branches?: readonly (readonly OutlineStep[])[];
}

export type Outline = readonly OutlineStep[];

/** A workflow's outline as it is kept, and the short text that stands for it. */
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
  return JSON.parse(text);
}

/**
 * What has changed between the outline that a journal was written under and the current one, as far as the journal has
 * come; undefined when it fits: in every sequence of steps, those that the journal has reached are also the first of
 * the current one.
 */
export function findIncompatibility(
  before: Outline,
  current: Outline,
  journaledPaths: Iterable<string>,
): string | undefined {
  const reached = new Set<string>();
  for (const path of journaledPaths) reached.add(stepPathOf(path));
  return incompatibilityIn(before, current, reached, "");
}

function incompatibilityIn(
  before: Outline,
  current: Outline,
  reached: ReadonlySet<string>,
  container: string,
): string | undefined {
  const last = before.findLastIndex((step) => reached.has(childPath(container, step.id)));
  for (const [index, was] of before.slice(0, last + 1).entries()) {
    const is = current[index];
    if (is?.id !== was.id || is.type !== was.type) {
      const where = container === "" ? "" : ` inside "${container}"`;
      const now = is === undefined ? "missing" : `"${is.id}" (${is.type})`;
      return `step ${index + 1}${where} was "${was.id}" (${was.type}), now ${now}`;
    }
    const inside = incompatibilityInBranches(was, is, reached, childPath(container, was.id));
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function incompatibilityInBranches(
  was: OutlineStep,
  is: OutlineStep,
  reached: ReadonlySet<string>,
  path: string,
): string | undefined {
  for (const [index, branch] of (was.branches ?? []).entries()) {
    const found = incompatibilityIn(branch, is.branches?.[index] ?? [], reached, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The path of the step itself: without the numbers of iterations and without a function beside it. */
function stepPathOf(path: string): string {
  return path.replaceAll(/\[\d+\]|#[^/]*/g, "");
}
