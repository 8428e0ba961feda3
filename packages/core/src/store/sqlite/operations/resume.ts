// Resumes an execution: in one statement where that is enough, otherwise by its decision.
import type { DatabaseSync } from "node:sqlite";
import { decisions } from "../../decide/index.ts";
import type { Resume, ResumeResult } from "../../store.ts";
import type { PerformDecision } from "../perform-decision.ts";
import { quickResume } from "../quick-statements.ts";

export function resume(database: DatabaseSync, perform: PerformDecision) {
  const atOnce = quickResume(database);
  return (argument: Resume): ResumeResult => atOnce(argument) ?? perform(decisions.resume, argument);
}
