// Ids of traces and spans, and the W3C header that carries them between services.
//
// They are derived, not random: an execution that is resumed on another machine a month later continues in the same
// trace, and a child knows the id of a parent that is written after it. The trace id comes from the caller's
// `traceparent`, else from a hash of the executionId: the id itself would let every service that a body calls control
// the execution. A span's id is a hash of the execution plus the number of the event that began it.
import { hash } from "node:crypto";

/** A place in a trace, as `traceparent` names it. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const header = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads a `traceparent`; undefined when it is not valid, as the standard requires: a bad header starts a new trace. */
export function parseTraceparent(text: string | null | undefined): TraceParent | undefined {
  if (text === undefined || text === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = header.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The ids of one execution. */
export class TraceIds {
  readonly traceId: string;
  /** Where the caller's own span is. */
  readonly parent: TraceParent | undefined;
  readonly #high: string;
  readonly #low: number;

  constructor(executionId: string, parent: TraceParent | undefined) {
    const digest = hash("sha256", executionId, "hex");
    this.parent = parent;
    this.traceId = parent?.traceId ?? ownTraceId(executionId, digest);
    this.#high = digest.slice(32, 40);
    this.#low = Number.parseInt(digest.slice(40, 48), 16);
  }

  get sampled(): boolean {
    return this.parent?.sampled ?? true;
  }

  /** The id of the span that the event of this number began; the first event begins the root. */
  spanId(sequence: number): string {
    return this.#high + ((this.#low + sequence) >>> 0).toString(16).padStart(8, "0");
  }
}

// Generated ids begin with their time. Trace ids that do so too are written side by side: random ones spread every write
// over the whole index.
function isTimeOrdered(id: string): boolean {
  if (id[14] !== "7" || id[8] !== "-" || id[13] !== "-") return false;
  for (let index = 0; index < 13; index++) if (index !== 8 && !isDigit(id.charCodeAt(index))) return false;
  return true;
}

/** One of 0-9 and a-f. */
function isDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102);
}

/** The trace column of an execution: null where the trace id leads to the execution, see `idPrefixOf`. */
export function storedTrace(executionId: string, parent: TraceParent | undefined): string {
  if (parent === undefined && isTimeOrdered(executionId)) return "";
  return new TraceIds(executionId, parent).traceId;
}

/** The prefix of the ids of executions that may have this trace although their rows do not name it. */
export function idPrefixOf(traceId: string): string | undefined {
  return /^[\da-f]{32}$/.test(traceId) ? `${traceId.slice(0, 8)}-${traceId.slice(8, 12)}-7` : undefined;
}

function ownTraceId(executionId: string, digest: string): string {
  if (!isTimeOrdered(executionId)) return digest.slice(0, 32);
  return executionId.slice(0, 8) + executionId.slice(9, 13) + digest.slice(0, 20);
}
