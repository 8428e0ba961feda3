// The behaviour of a step's agent as plain data: rounds of tool calls, then a text that depends on all of them.
import fc from "fast-check";
import { type Pace, pace, rarely } from "./pace.ts";

/**
 * The tools of an agent, named after the way a call of them goes: it returns, throws, is approved, approved with another
 * input, denied, or gets its output from the client. `spoil` returns a value that JSON cannot hold. `helper` is a sub-agent.
 */
export type ToolName = "look" | "fail" | "approve" | "edit" | "deny" | "client" | "spoil" | "helper";

export interface ToolUse {
  readonly tool: ToolName;
  readonly pace: Pace;
  /** The talk of a sub-agent; undefined for other tools. */
  readonly talk: Talk | undefined;
}

export interface Talk {
  /** The tool calls of each reply of the model; one more reply is the text. */
  readonly rounds: readonly (readonly ToolUse[])[];
  readonly pace: Pace;
  /** The calls of one reply have the same id, as some providers send them. */
  readonly sameIds: boolean;
  /** The inputs of the calls of one reply stream side by side. */
  readonly streamsInputs: boolean;
}

/** The budget of a step, and the decisions of the world about more. */
export interface Budget {
  readonly calls: number;
  readonly onReached: "suspend" | "stop";
  /** How much more is approved each time; undefined for as much again, `none` for a refusal. */
  readonly more: number | "none" | undefined;
  readonly allowIncomplete: boolean;
}

const plainTool = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ToolName>("look") },
  { weight: 2, arbitrary: fc.constantFrom<ToolName>("approve", "client") },
  { weight: 1, arbitrary: fc.constantFrom<ToolName>("fail", "edit", "deny") },
);
const sometimesSpoils = fc.oneof(
  { weight: 12, arbitrary: plainTool },
  { weight: 1, arbitrary: fc.constant<ToolName>("spoil") },
);

function talksOf(use: fc.Arbitrary<ToolUse>): fc.Arbitrary<Talk> {
  return fc.record({
    rounds: fc.array(fc.array(use, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
    pace,
    sameIds: rarely(),
    streamsInputs: fc.boolean(),
  });
}

const simpleUse = fc.record({
  tool: sometimesSpoils,
  pace,
  talk: fc.constant(undefined),
});
const helperUse = (talk: fc.Arbitrary<Talk>) =>
  fc.oneof(
    { weight: 4, arbitrary: simpleUse },
    { weight: 1, arbitrary: fc.record({ tool: fc.constant<ToolName>("helper"), pace, talk }) },
  );

/** With sub-agents up to two levels deep. */
export const talks: fc.Arbitrary<Talk> = talksOf(helperUse(talksOf(helperUse(talksOf(simpleUse)))));

/** Without sub-agents and without outputs that cannot be recorded. */
export const plainTalks: fc.Arbitrary<Talk> = talksOf(
  fc.record({ tool: plainTool, pace, talk: fc.constant(undefined) }),
);

const more = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(1, 2, undefined) },
  { weight: 1, arbitrary: fc.constant<"none">("none") },
);

export const budgets: fc.Arbitrary<Budget> = fc.record({
  calls: fc.integer({ min: 1, max: 4 }),
  onReached: fc.oneof(
    { weight: 3, arbitrary: fc.constant<"suspend">("suspend") },
    { weight: 1, arbitrary: fc.constant<"stop">("stop") },
  ),
  more,
  allowIncomplete: fc.boolean(),
});

/** The id of a tool call in its reply. */
export function callId({ sameIds }: Talk, position: number): string {
  return sameIds ? "call" : `call-${position}`;
}

/** The input of a tool call; `edit` gets another one from the person who approves it. */
export function inputOf(round: number, position: number, { pace }: Pick<ToolUse, "pace">) {
  return { round, position, pace };
}

export const editedInput = inputOf(-1, -1, { pace: "at-once" });

/** The task that a sub-agent gets: it finds its talk by it, and its own place. */
export function taskOf(toolPlace: string): string {
  return `task ${toolPlace.slice(toolPlace.indexOf("#") + 1)}`;
}

/** The beginning of the places of a sub-agent with this task; "" for the agent of the step, which has another. */
export function placeOf(task: string): string {
  return task.startsWith("task ") ? `${task.slice("task ".length)}.` : "";
}

/** The place of a tool call below its step. */
export function toolPath(place: string, round: number, position: number): string {
  return `${place}call[${round}].tool[${position}]`;
}

/** The text of a reply that asks for tools. */
export function textOfRound(round: number): string {
  return `round ${round}`;
}

export function roundOf(text: string): number {
  return Number(text.replace(/\D/g, ""));
}
