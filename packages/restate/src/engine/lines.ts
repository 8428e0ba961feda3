// The lines that lists are searched by: fields with a separator, which Restate's SQL splits.
import type { Suspension } from "@andante/core/store";
import type { Kept } from "./layout.ts";

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
  "kind status startAt endAt workflowId userId executionId tags trace conversationId",
);

export function lineOf({ record, fixed }: Kept): string {
  const { kind, status, executionId, endAt } = record;
  const { startAt, workflowId, userId, tags, trace, conversationId } = fixed;
  const names = [field(workflowId), optional(userId), field(executionId), tags.map(tagField).join("")];
  return line(kind, status, startAt, endAt ?? "", ...names, optional(trace), optional(conversationId));
}

export const waitingColumns = columnsOf(
  "kind suspendedAt suspensionId executionId workflowId userId conversationId agentId startAt deadline stepIndex path",
);

export function waitingLineOf({ record, fixed }: Kept, suspension: Suspension): string {
  const { suspendedAt, suspensionId, deadline, stepIndex, path } = suspension;
  const names = [suspensionId, record.executionId, fixed.workflowId].map(field);
  const owners = [fixed.userId, fixed.conversationId, fixed.agentId].map(optional);
  const place = [fixed.startAt, deadline ?? "", stepIndex, optional(path)];
  return line(record.kind, suspendedAt, ...names, ...owners, ...place);
}
