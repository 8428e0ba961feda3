// Makes an agent of a talk: its model follows the talk, its tools report that they run.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { OperationContext } from "../../src/agent/call/operation.ts";
import { operationContext } from "../../src/agent/call/operation.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import type { Pace } from "./pace.ts";
import { callId, inputOf, placeOf, type Talk, type ToolUse, taskOf, textOfRound, toolPath } from "./talk.ts";
import { finalText, type SeenTool } from "./talk-reference.ts";
import { mix } from "./tree.ts";

export interface EnteredTool {
  readonly executionId: string;
  readonly stepPath: string;
  readonly signal: AbortSignal;
  /** Its output can be recorded; otherwise it runs once for each attempt of its step. */
  readonly canBeRecorded: boolean;
}

/** The reports of the model and the tools, and the events that they wait for. */
export interface TalkStage {
  /** A tool runs; the result marks its end, and whether it must not run again. */
  enters(context: EnteredTool): (isDone?: boolean) => void;
  /** The agent is asked. */
  asked(): void;
  wait(pace: Pace): Promise<void>;
}

/** `fails`: the model fails whenever it is asked. */
export function talkAgent(id: string, talk: Talk, stage: TalkStage, fails: boolean): Agent {
  const talks = new Map(talksBelow(talk, ""));
  const instructions = () => {
    stage.asked();
    return "a random talk";
  };
  const helper = (subAgents: readonly Agent[]) =>
    new Agent({
      id: "helper",
      instructions,
      model: modelOf((task) => talks.get(task), stage, false),
      tools: toolsOf(stage, mix),
      subAgents,
    });
  return new Agent({
    id,
    instructions,
    model: modelOf(() => talk, stage, fails),
    tools: toolsOf(stage, mix),
    subAgents: [helper([helper([])])],
    maxRetries: 0,
  });
}

/** The talks of the sub-agents of an agent at this place, by their tasks. */
function talksBelow(talk: Talk, place: string): [string, Talk][] {
  return talk.rounds.flatMap((uses, round) =>
    uses.flatMap(({ talk: below }, position): [string, Talk][] => {
      if (below === undefined) return [];
      const path = toolPath(place, round, position);
      return [[taskOf(path), below], ...talksBelow(below, `${path}.`)];
    }),
  );
}

/** Each reply depends only on the prompt. */
function modelOf(talkOf: (task: string) => Talk | undefined, stage: TalkStage, fails: boolean) {
  return controlledModel(({ prompt }): Said => {
    const task = firstText(prompt);
    const talk = talkOf(task);
    if (talk === undefined) return { refuse: new Error(`no talk for ${task}`) };
    const hold = (piece: number) => (piece === 0 ? stage.wait(talk.pace) : undefined);
    if (fails) return { text: ["half"], hold, breakAt: { piece: 1, error: new Error("the model fails") } };
    const round = prompt.filter(({ role }) => role === "assistant").length;
    const uses = talk.rounds[round];
    if (uses === undefined) return { text: [finalText(task, seenTools(prompt))], hold };
    const { streamsInputs } = talk;
    const calls = callsOf(talk, round, uses, placeOf(task));
    return { text: [textOfRound(round)], calls, streamsInputs, hold };
  });
}

/** The tool calls of a reply. */
export function callsOf(talk: Talk, round: number, uses: readonly ToolUse[], place = "") {
  return uses.map((use, position) => ({
    id: callId(talk, position),
    name: use.tool,
    input:
      use.tool === "helper"
        ? { prompt: taskOf(toolPath(place, round, position)) }
        : inputOf(round, position, use),
  }));
}

function firstText(prompt: Prompt): string {
  return userTexts(prompt)[0] ?? "";
}

/** The texts of the users, oldest first. */
export function userTexts(prompt: Prompt): string[] {
  return prompt.flatMap((message) => {
    if (message.role !== "user") return [];
    return [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")];
  });
}

export type Prompt = LanguageModelV4CallOptions["prompt"];

/** The tool results in the prompt. */
export function seenTools(prompt: Prompt): SeenTool[] {
  return prompt.flatMap((message) => {
    if (message.role !== "tool") return [];
    return message.content.flatMap((part): SeenTool[] => {
      if (part.type !== "tool-result") return [];
      const { output, toolName } = part;
      const value = "value" in output ? output.value : output.type;
      // A denial is read as an error once its reply continues after another decision.
      if (toolName === "deny") return [[toolName, typeof value === "number" ? value : "denied"]];
      return [[toolName, output.type.startsWith("error") ? "failed" : value]];
    });
  });
}

const inputSchema = z.object({
  round: z.number(),
  position: z.number(),
  pace: z.enum(["at-once", "soon", "slow"]),
});

/** `outcomeOf`: the output of a tool. */
export function toolsOf(stage: TalkStage, outcomeOf: (path: string, input: unknown) => unknown): ToolSet {
  const run = (outcome: (path: string, input: unknown) => unknown, canBeRecorded = true) => ({
    inputSchema,
    contextSchema: operationContext,
    execute: async (input: z.infer<typeof inputSchema>, { context }: { context: OperationContext }) => {
      const { stepPath = "", executionId = "", signal } = context;
      const leaves = stage.enters({ stepPath, executionId, signal, canBeRecorded });
      await stage.wait(input.pace);
      leaves(true);
      return outcome(stepPath, input);
    },
  });
  return {
    look: tool(run(outcomeOf)),
    fail: tool(
      run(() => {
        throw new Error("the tool fails");
      }),
    ),
    approve: tool({ ...run(outcomeOf), needsApproval: true }),
    edit: tool({ ...run(outcomeOf), needsApproval: true }),
    deny: tool({ ...run(outcomeOf), needsApproval: true }),
    client: { inputSchema },
    spoil: tool(run(() => new Map(), false)),
  };
}
