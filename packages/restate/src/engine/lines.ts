// The lines that lists are searched by: fields with a separator, which Restate's SQL splits.
import type { Kept } from "./layout.ts";

const separator = "\u001f";

/** Fields hold no character that separates them, and no NUL, which SQL has no text for. */
export function field(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  return value.replace(/[\u0000\u0001\u001e\u001f]/g, (character) => `\u0001${character.charCodeAt(0)};`);
}

/** Null and a text are different fields. */
export function optional(value: string | null): string {
  return value === null ? "" : `+${field(value)}`;
}

export function line(...fields: readonly (string | number)[]): string {
  return fields.join(separator);
}

/** Each tag with separators on both sides. */
export function tagsField(tags: readonly string[]): string {
  return tags.map((tag) => `\u001e${field(tag)}\u001e`).join("");
}

/** The fields of the lines, by their positions from 1. */
export const columns = {
  kind: 1,
  status: 2,
  startAt: 3,
  endAt: 4,
  workflowId: 5,
  userId: 6,
  executionId: 7,
  tags: 8,
  trace: 9,
  conversationId: 10,
} as const;

export function lineOf({ record, fixed }: Kept): string {
  const { kind, status, executionId, endAt } = record;
  const { startAt, workflowId, userId, tags, trace, conversationId } = fixed;
  return line(
    kind,
    status,
    startAt,
    endAt ?? "",
    field(workflowId),
    optional(userId),
    field(executionId),
    tagsField(tags),
    optional(trace),
    optional(conversationId),
  );
}

export const waitingColumns = {
  kind: 1,
  suspendedAt: 2,
  suspensionId: 3,
  executionId: 4,
  workflowId: 5,
  userId: 6,
} as const;

export function waitingLineOf({ record, fixed }: Kept, suspendedAt: number, suspensionId: string): string {
  const { kind, executionId } = record;
  return line(
    kind,
    suspendedAt,
    field(suspensionId),
    field(executionId),
    field(fixed.workflowId),
    optional(fixed.userId),
  );
}

/** The text of a field, as it was before `field`. */
export function unfield(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: `field` wrote them.
  return value.replace(/\u0001(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** An SQL expression for one field of a line. */
export function column(position: number): string {
  return `split_part(value_utf8, '${separator}', ${position})`;
}

export function numberColumn(position: number): string {
  return `try_cast(${column(position)} as bigint)`;
}

export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
