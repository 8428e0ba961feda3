// Every outcome in the journal was returned by a body, and is there once.
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "@andante/core/store";
import type { Line } from "../side-log.ts";
import type { Check } from "./evidence.ts";

const bodyTypes = ["andThen", "andTap", "andAgent"];
const outcomeTypes = [
  "checkpoint-complete",
  "step-complete",
  "step-evaluated",
  "step-error",
  "step-skipped",
  "step-bailed",
];

export const checkOutcomes: Check = ({ after, lines }) => {
  const problems: string[] = [];
  const ended = new Set<string>();
  for (const event of after?.events ?? []) {
    const { type, path } = event;
    // After a rewind the steps from there on may end once more.
    if (type === "execution-rewound") ended.clear();
    if (path === null || !outcomeTypes.includes(type)) continue;
    if (ended.has(path)) problems.push(`${path} has two outcomes`);
    ended.add(path);
    // A model's text is not the output of a body; a tool's result is.
    if (type === "checkpoint-complete" && !/\.tool\[\d+\]$/.test(path)) continue;
    const isBody = path.includes("#") || bodyTypes.includes(event.stepType ?? "");
    if (isBody && !lines.some((line) => tells(line, event)))
      problems.push(`${path} has an outcome (${type} ${event.value}) that no body gave`);
  }
  return problems;
};

function tells(line: Line, event: StoredEvent): boolean {
  if (!("path" in line) || line.path !== event.path) return false;
  if (event.type === "checkpoint-complete") return tellsTool(line, event);
  if (event.type === "step-error" || event.type === "step-bailed") return line.kind === "thrown";
  if (line.kind !== "end") return false;
  // A tap passes its data on; its return value is ignored.
  if (event.stepType === "andTap") return true;
  const value: unknown = event.value === null ? undefined : JSON.parse(event.value);
  if (event.stepType === "andAgent" && !event.path?.includes("#"))
    return isDeepStrictEqual(value, { text: line.output }) || isDeepStrictEqual(value, parsed(line.output));
  return isDeepStrictEqual(value, line.output);
}

function tellsTool(line: Line, { value }: StoredEvent): boolean {
  const { output, error } = Object(JSON.parse(value ?? "{}"));
  if (error !== undefined) return line.kind === "thrown";
  return line.kind === "end" && isDeepStrictEqual(line.output, output);
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
