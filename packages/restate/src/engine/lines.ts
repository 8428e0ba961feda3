// The lines that lists are searched by: fields with a separator, which Restate's SQL splits.
import type { Suspension } from "@andante/core/store";
import type { Kept } from "./layout.ts";
import { waitingOf } from "./read-row.ts";

const separator = "\u001f";

/** Fields hold no character that separates them, and no NUL, which SQL has no text for. */
export function field(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  return value.replace(/[\u0000\u0001\u001e\u001f]/g, (character) => `\u0001${character.charCodeAt(0)};`);
}

/** The text of a field, as it was before `field`. */
export function unfield(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: `field` wrote them.
  return value.replace(/\u0001(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** Null and a text are different fields. */
export function optional(value: string | null): string {
  return value === null ? "" : `+${field(value)}`;
}

export function line(...fields: readonly (string | number)[]): string {
  return fields.join(separator);
}

/** The last field of a line. */
export function lastField(text: string | undefined): string | undefined {
  return text?.split(separator).at(-1);
}

/** A tag with separators on both sides. */
export function tagField(tag: string): string {
  return `\u001e${field(tag)}\u001e`;
}

type NamesIn<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | NamesIn<Rest>
  : Text;

/** SQL expressions for the fields of lines, which have this order. */
export function columnsOf<Names extends string>(names: Names): Readonly<Record<NamesIn<Names>, string>>;
export function columnsOf(names: string): Readonly<Record<string, string>> {
  const split = (place: number) => `split_part(value_utf8, '${separator}', ${place})`;
  return Object.fromEntries(names.split(" ").map((name, index) => [name, split(index + 1)]));
}

export const columns = columnsOf(
  "kind status startAt endAt workflowId userId executionId tags trace conversationId replayOf parked",
);

export function lineOf({ record, fixed }: Kept): string {
  const { kind, status, executionId, endAt, parked } = record;
  const { startAt, workflowId, userId, tags, trace, conversationId, replayOf } = fixed;
  const names = [field(workflowId), optional(userId), field(executionId), tags.map(tagField).join("")];
  const marks = [trace, conversationId, replayOf?.executionId ?? null].map(optional);
  return line(kind, status, startAt, endAt ?? "", ...names, ...marks, parked === null ? "" : "parked");
}

export const waitingColumns = columnsOf(
  "suspendedAt suspensionId executionId workflowId agentId userId whole",
);

/** With all but the long fields of the suspension as JSON. */
export function waitingLineOf(kept: Kept, suspension: Suspension): string {
  const { resumeSchema: _, ...short } = { ...suspension, reason: "", data: null, onDeadline: null };
  const { suspendedAt, suspensionId } = short;
  const { workflowId, agentId, userId } = kept.fixed;
  const names = [suspensionId, kept.record.executionId, workflowId].map(field);
  return line(
    suspendedAt,
    ...names,
    optional(agentId),
    optional(userId),
    JSON.stringify(waitingOf(kept, short)),
  );
}
