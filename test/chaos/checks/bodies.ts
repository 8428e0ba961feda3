// Bodies run when the journal calls for them and never otherwise, and get the journal's input.
import { isDeepStrictEqual } from "node:util";
import { callerContext, callerUserId } from "../child/scenario.ts";
import type { StartLine } from "../side-log.ts";
import { type DueRun, dueRuns } from "./due-runs.ts";
import type { Check } from "./evidence.ts";

export const checkBodies: Check = ({ before, after, lines, life }) => {
  const due = dueRuns(after?.events ?? [], before?.events.length ?? 0);
  const starts = lines.filter((line) => line.kind === "start").filter((line) => line.life === life);
  const problems: string[] = [];
  for (const [path, runs] of Map.groupBy(starts, (line) => line.path)) {
    const called = due.get(path) ?? [];
    if (runs.length > called.length) {
      problems.push(
        `${path} ran ${runs.length} times, but the journal calls for ${called.length}: its start was not committed, or its outcome was`,
      );
    }
    for (const [index, run] of runs.entries()) problems.push(...checkGiven(run, called[index]));
  }
  return problems;
};

function checkGiven(run: StartLine, called: DueRun | undefined): string[] {
  // An agent is given a prompt and no context.
  if (called === undefined || run.context === undefined) return [];
  const given = { ...called, context: { ...callerContext, userId: callerUserId } };
  return (["data", "resumeData", "suspendData", "context"] as const)
    .filter((field) => !isDeepStrictEqual(run[field], given[field]))
    .map((field) => `${run.path} got ${field} ${text(run[field])}, the journal says ${text(given[field])}`);
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}
