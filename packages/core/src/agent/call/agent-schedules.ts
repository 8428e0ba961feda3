// The schedules of an agent: prompts that go into a conversation by themselves.
import type { Overlap, ScheduleOptions } from "../../schedule/schedule-options.ts";
import { problemOfId } from "../../values/check-id.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import { type OccurrenceContext, readDeclared } from "../../workflow/schedules.ts";
import type { WorkflowSchedule } from "../../workflow/step.ts";

type PerOccurrence<Value> = Value | ((occurrence: OccurrenceContext) => Value | Promise<Value>);

/** A schedule of an agent. A prompt that meets a busy conversation waits in its queue. */
export interface AgentScheduleOptions extends Omit<ScheduleOptions, "overlap" | "pauseOnFailure" | "tags"> {
  /** The message of each occurrence, or a function that makes it. */
  readonly prompt: PerOccurrence<string>;
  /** The conversation that it goes into, or a function that names it. Default: one for the schedule, with its id. */
  readonly conversationId?: PerOccurrence<string>;
  /** The user of the conversation. Default: none. */
  readonly userId?: string;
}

/** A schedule of an agent that is declared in code; its input is the prompt. */
export interface AgentSchedule extends WorkflowSchedule {
  readonly conversationId: AgentScheduleOptions["conversationId"];
  readonly userId: string | null;
}

const knownOptions: KnownOptions<AgentScheduleOptions> = {
  ...{ cron: true, zone: true, every: true, from: true, to: true },
  ...{ jitter: true, catchUp: true, window: true },
  ...{ prompt: true, conversationId: true, userId: true },
};

/** Prompts do not wait for each other: the queue of their conversation has them in order. */
export const overlapOfPrompts: Overlap = "allow";

export function readAgentSchedules(
  agentId: string,
  schedules: Readonly<Record<string, AgentScheduleOptions>>,
  where: string,
): ReadonlyMap<string, AgentSchedule> {
  return readDeclared(agentId, schedules, where, knownOptions, (spec, options, refuse) => {
    const { prompt, conversationId, userId } = options;
    if (typeof prompt !== "function") {
      const problem = problemOfPrompt(prompt);
      if (problem !== undefined) throw refuse("prompt", problem);
    }
    for (const [option, id] of Object.entries({ conversationId, userId })) {
      const problem = id === undefined || typeof id === "function" ? undefined : problemOfId(id);
      if (problem !== undefined) throw refuse(option, problem);
    }
    const declared = { input: prompt, conversationId, userId: userId ?? null };
    return { spec: { ...spec, overlap: overlapOfPrompts }, ...declared };
  });
}

/** Characters of a prompt. */
const maxPrompt = 100_000;

/** Why this is not a prompt; undefined when it is one. */
export function problemOfPrompt(prompt: unknown): string | undefined {
  if (typeof prompt !== "string" || prompt.trim() === "") return "expected a text";
  return prompt.length > maxPrompt ? `expected at most ${maxPrompt} characters` : undefined;
}
