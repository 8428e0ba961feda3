// The journal has no gaps, is only ever appended to, and the execution's row agrees with it.
import { isDeepStrictEqual } from "node:util";
import type { Check } from "./evidence.ts";

export const checkJournal: Check = ({ before, after }) => {
  if (after === undefined) return before === undefined ? [] : ["the execution is gone"];
  const problems: string[] = [];
  const { state, events } = after;
  for (const [index, { sequence }] of events.entries()) {
    if (sequence !== index + 1) problems.push(`event ${index + 1} has the number ${sequence}`);
  }
  const { execution, suspensions, timers } = state;
  if (execution.endAt !== null && timers.length > 0)
    problems.push(`${timers.length} timers are left after the end`);
  if (execution.sequence !== events.length)
    problems.push(`the row says ${execution.sequence} events, there are ${events.length}`);
  if (before !== undefined && !isDeepStrictEqual(events.slice(0, before.events.length), before.events))
    problems.push("events that were committed have changed");
  if ((execution.status === "suspended") !== suspensions.length > 0)
    problems.push(`status ${execution.status} with ${suspensions.length} open suspensions`);
  if (["running", "suspended"].includes(execution.status) !== (execution.endAt === null))
    problems.push(`status ${execution.status} with end ${execution.endAt}`);
  return problems;
};
