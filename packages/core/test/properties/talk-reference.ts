// The reference model of a talk: the last text of an agent, found without a loop, a journal or a record.
import { type Budget, editedInput, inputOf, type Talk, taskOf, textOfRound, toolPath } from "./talk.ts";
import { mix } from "./tree.ts";

/** A tool and its result in the prompt. */
export type SeenTool = readonly [name: string, value: unknown];

/** The last text of an agent: any other task or tool result would give another one. */
export function finalText(task: string, seen: readonly SeenTool[]): string {
  const sorted = seen.map((one) => JSON.stringify(one)).sort();
  return String(mix(`talk ${task}`, sorted));
}

/** The end of a talk: a text, or undefined when a tool's output cannot be recorded. */
export function endOfTalk(talk: Talk, place: string, task: string): string | undefined {
  const seen: SeenTool[] = [];
  for (const [round, uses] of talk.rounds.entries()) {
    for (const [position, use] of uses.entries()) {
      const path = toolPath(place, round, position);
      const input = inputOf(round, position, use);
      switch (use.tool) {
        case "look":
        case "approve":
          seen.push([use.tool, mix(path, input)]);
          break;
        case "edit":
          seen.push([use.tool, mix(path, editedInput)]);
          break;
        case "client":
          seen.push([use.tool, clientOutput(path)]);
          break;
        case "fail":
          seen.push([use.tool, "failed"]);
          break;
        case "deny":
          seen.push([use.tool, "denied"]);
          break;
        case "spoil":
          return undefined;
        case "helper": {
          const text = use.talk && endOfTalk(use.talk, `${path}.`, taskOf(path));
          if (text === undefined) return undefined;
          seen.push([use.tool, text]);
        }
      }
    }
  }
  return finalText(task, seen);
}

/** The output that the world gives a tool of the client's. */
export function clientOutput(path: string): number {
  return mix(path, "client");
}

/** The texts with which a budget may end a talk before it is complete; undefined for an end before the first call. */
export function budgetEnds({ rounds }: Talk, { onReached, more }: Budget): (string | undefined)[] {
  if (onReached === "suspend" && more !== "none") return [];
  return [undefined, ...rounds.map((_, round) => textOfRound(round))];
}
