// Streams equal the journal: nothing before it is committed, nothing twice, nothing left out.
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "@andante/core/store";
import type { EventLine } from "../side-log.ts";
import type { Check } from "./evidence.ts";

/** Live parts of agents and tools: not journaled, so they have no number. */
const live = new Set(["text-delta", "tool-call", "tool-result", "tool-error"]);

export const checkStream: Check = ({ after, lines }) => {
  const problems: string[] = [];
  const shown = lines.filter((line) => line.kind === "event").map((line) => line.event);
  const journaled = shown.filter(({ type }) => type !== "workflow-result" && !live.has(type));
  for (const [index, event] of journaled.entries()) {
    const kept = after?.events[index];
    if (event.sequence !== index + 1)
      problems.push(`event ${index + 1} of the stream has the number ${event.sequence}`);
    else if (kept === undefined)
      problems.push(`the stream showed ${event.type} (${index + 1}), which was not committed`);
    else if (!agrees(event, kept))
      problems.push(`the stream showed ${JSON.stringify(event)} for ${JSON.stringify(kept)}`);
  }
  return problems;
};

/** For an execution that has ended: the stream has shown all of it, and closed with the result. */
export const checkWholeStream: Check = ({ after, lines }) => {
  if (after === undefined) return ["the execution does not exist"];
  const shown = lines
    .filter((line) => line.kind === "event")
    .map((line) => line.event)
    .filter(({ type }) => !live.has(type));
  const results = shown.filter((event) => event.type === "workflow-result");
  const problems: string[] = [];
  if (shown.length - results.length !== after.events.length)
    problems.push(`the streams showed ${shown.length - results.length} of ${after.events.length} events`);
  for (const result of results) {
    const { execution } = after.state;
    const value: unknown = execution.result === null ? null : JSON.parse(execution.result);
    if (result !== shown.at(-1)) problems.push("workflow-result was not the last event");
    if (result.status !== execution.status || !isDeepStrictEqual(result.result, value))
      problems.push(`workflow-result was ${JSON.stringify(result)}`);
  }
  return problems;
};

/** Which field of a stream event holds the journaled value. */
const valueFields: Readonly<Record<string, string>> = {
  "step-start": "input",
  "step-complete": "output",
  "step-evaluated": "output",
  "checkpoint-complete": "output",
  "workflow-complete": "result",
  "workflow-resumed": "resumeData",
  "execution-rewound": "resumeData",
  emitted: "data",
};

function agrees(event: EventLine["event"], kept: StoredEvent): boolean {
  const type = kept.type === "emitted" ? JSON.parse(kept.detail ?? "{}").type : kept.type;
  if (event.type !== type || event.timestamp !== new Date(kept.timestamp).toISOString()) return false;
  const suspends = kept.type === "workflow-suspended";
  if (!suspends && (event.stepPath ?? null) !== kept.path) return false;
  const value: unknown = kept.value === null ? null : JSON.parse(kept.value);
  const field = valueFields[kept.type];
  if (field !== undefined) return isDeepStrictEqual(event[field], value);
  if (!kept.type.endsWith("-suspended")) return true;
  const { suspensionId, stepPath, data } = Object(event.suspension);
  return (
    kept.detail?.includes(suspensionId) === true &&
    (stepPath ?? null) === kept.path &&
    isDeepStrictEqual(data ?? null, value)
  );
}
