// Facts about replies from the traces of a conversation: time to the first token, and the duration of each tool call.
import type { Span, Trace } from "@andante/client";

/** A call of the model. */
export interface ModelCall {
  readonly spanId: string;
  readonly model: string;
  /** Milliseconds; null while it runs. */
  readonly duration: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The recorded content by its name: none where the server does not record it. */
  readonly content: readonly (readonly [name: string, value: unknown])[];
}

export interface ReplyFacts {
  /** The trace of the newest reply. */
  readonly traceId: string;
  /** Milliseconds until the model's first token; undefined without one. */
  readonly firstWord: number | undefined;
  readonly calls: readonly ModelCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Duration of each tool call in milliseconds, by call id. */
  readonly tools: ReadonlyMap<string, number>;
}

/** The fields of a trace that are read. */
type Read = Pick<Trace, "traceId"> & {
  readonly spans: readonly Pick<Span, "spanId" | "startTime" | "duration" | "attributes">[];
};

/** Undefined without a trace: tracing is off, or the conversation is empty. */
export function replyFacts(traces: readonly Read[]): ReplyFacts | undefined {
  const [newest] = traces;
  if (newest === undefined) return undefined;
  const calls = newest.spans
    .filter(({ attributes }) => attributes["gen_ai.operation.name"] === "chat")
    .sort((one, other) => one.startTime.localeCompare(other.startTime));
  const sum = (name: string) =>
    calls.reduce((total, { attributes }) => total + numberOf(attributes[name]), 0);
  const first = calls[0]?.attributes["gen_ai.client.operation.time_to_first_chunk"];
  const tools = new Map<string, number>();
  for (const { attributes, duration } of traces.toReversed().flatMap(({ spans }) => spans)) {
    const id = attributes["gen_ai.tool.call.id"];
    if (typeof id === "string" && duration !== null) tools.set(id, duration);
  }
  return {
    traceId: newest.traceId,
    firstWord: typeof first === "number" ? first * 1000 : undefined,
    calls: calls.map(callOf),
    inputTokens: sum("gen_ai.usage.input_tokens"),
    outputTokens: sum("gen_ai.usage.output_tokens"),
    tools,
  };
}

const recorded = [
  ["System prompt", "gen_ai.system_instructions"],
  ["Prompt", "gen_ai.input.messages"],
  ["Reply", "gen_ai.output.messages"],
  ["Tools", "gen_ai.tool.definitions"],
] as const;

function callOf({ spanId, duration, attributes }: Read["spans"][number]): ModelCall {
  return {
    spanId,
    model: String(attributes["gen_ai.response.model"] ?? attributes["gen_ai.request.model"] ?? "model"),
    duration,
    inputTokens: numberOf(attributes["gen_ai.usage.input_tokens"]),
    outputTokens: numberOf(attributes["gen_ai.usage.output_tokens"]),
    content: recorded.flatMap(([name, attribute]) =>
      attributes[attribute] === undefined ? [] : [[name, parsed(attributes[attribute])] as const],
    ),
  };
}

/** Content is recorded as JSON text. */
function parsed(value: unknown): unknown {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
