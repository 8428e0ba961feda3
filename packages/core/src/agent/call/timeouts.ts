// How long a reply and its pieces may take: our bound for one call of the model, and the AI SDK's own.
import type { TimeoutConfiguration, ToolSet } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";

/** Milliseconds. */
export interface AgentTimeouts extends Exclude<TimeoutConfiguration<ToolSet>, number> {
  /** One call of the model; time in tools does not count. Default: 300 000. */
  readonly modelMs?: number;
}

/** A number is `modelMs`. */
export type AgentTimeout = number | AgentTimeouts;

const defaultModelMs = 300_000;

const knownTimeouts: KnownOptions<AgentTimeouts> = {
  modelMs: true,
  totalMs: true,
  stepMs: true,
  firstChunkMs: true,
  chunkMs: true,
  toolMs: true,
  tools: true,
};

/** Our own timeouts, and those of the AI SDK. */
export function timeoutsOf(timeout: AgentTimeout = {}): {
  readonly modelMs: number;
  readonly others: TimeoutConfiguration<ToolSet> | undefined;
} {
  if (typeof timeout === "number") return { modelMs: timeout, others: undefined };
  const { modelMs = defaultModelMs, ...others } = timeout;
  return { modelMs, others: Object.keys(others).length === 0 ? undefined : others };
}

/** Throws for a value that is not a time. */
export function checkTimeout(timeout: AgentTimeout | undefined, where: string): void {
  if (timeout === undefined) return;
  const refuse = () => {
    throw new DefinitionError({ where, problem: "timeout must be 1 millisecond or more" });
  };
  if (typeof timeout !== "object" || timeout === null) {
    if (!isTime(timeout)) refuse();
    return;
  }
  checkKnownOptions(`${where}, timeout`, timeout, knownTimeouts);
  const { tools = {}, ...times } = timeout;
  for (const time of [...Object.values(times), ...Object.values(tools)]) if (!isTime(time)) refuse();
}

function isTime(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1;
}
