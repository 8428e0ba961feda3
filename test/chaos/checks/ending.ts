// An execution that was killed on its way ends as the undisturbed one does.
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "@andante/core/store";
import type { Remains } from "../autopsy.ts";
import type { Line } from "../side-log.ts";
import type { Check } from "./evidence.ts";

/** How an undisturbed execution of a scenario ended. */
export interface Ending {
  readonly status: string;
  readonly result: unknown;
  readonly error: unknown;
  /** The paths of the bodies that ran; for a cancelled execution, of the steps that began. */
  readonly paths: readonly string[];
  /** The journal without the fields that depend on timing. */
  readonly story: readonly string[];
  /** The events emitted by bodies, each once, however often it was emitted. */
  readonly sent: readonly string[];
}

export function endingOf({ state, events }: Remains, lines: readonly Line[]): Ending {
  const { status, result, error } = state.execution;
  const ran = lines.filter((line) => line.kind === "start").map((line) => line.path);
  // A cancel may come when a step has begun and its body has not: in a life before, or because there was no room for it.
  const begun = status === "cancelled" ? events.filter(({ type }) => type === "step-start") : [];
  const paths = [...ran, ...begun.flatMap(({ path }) => (path === null ? [] : [path]))];
  return {
    status,
    result: result === null ? null : JSON.parse(result),
    error: error === null ? null : JSON.parse(error),
    paths: [...new Set(paths)].sort(),
    story: events.filter(isTold).map(tell).sort(),
    sent: [...new Set(events.filter(({ type }) => type === "emitted").map(tell))].sort(),
  };
}

/** Compares with the undisturbed run. */
export function checkEnding(expected: Ending): Check {
  return ({ after, lines }) => {
    if (after === undefined) return ["the execution does not exist"];
    const problems: string[] = [];
    const ending = endingOf(after, lines);
    for (const field of ["status", "result", "error", "paths"] as const) {
      if (!isDeepStrictEqual(ending[field], expected[field])) {
        problems.push(
          `${field} is ${JSON.stringify(ending[field])}, undisturbed ${JSON.stringify(expected[field])}`,
        );
      }
    }
    const missing = without(expected.story, ending.story);
    const extra = without(ending.story, expected.story);
    if (missing.length > 0) problems.push(`the journal lacks ${missing.join(", ")}`);
    if (extra.length > 0) problems.push(`the journal has too much: ${extra.join(", ")}`);
    const silent = without(expected.sent, ending.sent);
    if (silent.length > 0) problems.push(`events were not sent: ${silent.join(", ")}`);
    const { suspensions } = after.state;
    if (suspensions.length > 0) problems.push(`${suspensions.length} suspensions are still open`);
    return problems;
  };
}

/** When an execution comes to rest, and whether a pause still finds it running, depends on timing. */
function isTold({ type, path }: StoredEvent): boolean {
  // A body that runs again sends its events again.
  return (
    type !== "workflow-suspended" && type !== "emitted" && !(type === "workflow-resumed" && path === null)
  );
}

function tell({ type, path, stepIndex, stepType, value }: StoredEvent): string {
  // A state set by a function depends on the order of branches; the sum of all is in the result.
  return [type, path, stepIndex, stepType, type === "state-changed" ? "" : value].join(" ");
}

/** The rest of a list after each item of another is removed once. */
function without(list: readonly string[], taken: readonly string[]): string[] {
  const left = [...list];
  for (const item of taken) {
    const index = left.indexOf(item);
    if (index !== -1) left.splice(index, 1);
  }
  return left;
}
