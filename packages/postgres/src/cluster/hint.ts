// Hints between processes, as the text of a notification.

export type Hint =
  | { readonly kind: "wrote" /** Undefined: too many to name. */; readonly executionIds?: readonly string[] }
  | { readonly kind: "stop"; readonly executionId: string }
  /** A process stops and has left something to do. */
  | { readonly kind: "offered" }
  /** A process has begun to listen. */
  | { readonly kind: "joined" };

export interface ReceivedHint {
  readonly sender: string;
  readonly hint: Hint;
}

/** PostgreSQL carries less than 8000 bytes in a notification. */
const maxBytes = 7_900;
/** More notifications than these for one round would cost others more than looking at everything they follow. */
const maxHints = 5;

export function writeHint(sender: string, hint: Hint): string {
  return JSON.stringify({ sender, ...hint });
}

/** The notifications that name these executions, or the one for too many. */
export function writeIds(sender: string, executionIds: Iterable<string>): string[] {
  const empty = Buffer.byteLength(writeHint(sender, { kind: "wrote", executionIds: [] }));
  const hints: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const executionId of executionIds) {
    const length = Buffer.byteLength(JSON.stringify(executionId)) + 1;
    if (bytes + length > maxBytes) {
      hints.push([]);
      bytes = empty;
    }
    hints.at(-1)?.push(executionId);
    bytes += length;
    if (hints.length > maxHints || empty + length > maxBytes) return [writeHint(sender, { kind: "wrote" })];
  }
  return hints.map((ids) => writeHint(sender, { kind: "wrote", executionIds: ids }));
}

/** Undefined for a text that is not one of our hints. */
export function readHint(payload: string): ReceivedHint | undefined {
  let read: unknown;
  try {
    read = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (typeof read !== "object" || read === null || !("sender" in read) || !("kind" in read)) return undefined;
  const sender = String(read.sender);
  if (read.kind === "joined" || read.kind === "offered") return { sender, hint: { kind: read.kind } };
  if (read.kind === "stop" && "executionId" in read)
    return { sender, hint: { kind: "stop", executionId: String(read.executionId) } };
  if (read.kind !== "wrote") return undefined;
  const ids = "executionIds" in read && Array.isArray(read.executionIds) ? read.executionIds : undefined;
  return { sender, hint: { kind: "wrote", ...(ids && { executionIds: ids.map(String) }) } };
}
