// A chat whose agent falls back to its second model, is steered, has tools that wait for a person, a timer, a workflow and a
// budget, and replies to the end of work in the background: the journals, the rows of usage and the account of the budget
// have each call that the provider has answered, once.
import type { StoredEvent } from "../../../packages/core/src/store/stored-event.ts";
import type { ChatCase, Effect } from "./campaign.ts";
import { same } from "./five-tools-chat.ts";

/** The input tokens of each call are its own, so that one counted twice is not taken for another one. */
export const inputTokens: Readonly<Record<string, number>> = {
  "clerk:0": 10,
  "clerk:1": 200,
  "clerk:2": 3_000,
  "clerk:3": 40_000,
  "clerk:4": 500_000,
  "clerk:end": 6_000_000,
  "judge:0": 70_000_000,
};
export const outputTokens = 5;
/** The first model of the agent is asked, and refuses. */
export const refusal = "refused";
/** The executions of the chat, in the log. */
export const beginning = "began";

/** Before the name of an effect: its commit was acknowledged. */
export const acknowledged = "acknowledged:";

/** Places of journals, and the effects that are recorded there. */
const places: readonly (readonly [type: string, path: RegExp, effect: string])[] = [
  ["checkpoint-complete", /^reply#call\[0\]\.tool\[0\]$/, "look"],
  ["checkpoint-complete", /^reply#call\[1\]\.tool\[0\]\.offer$/, "offer"],
  ["checkpoint-complete", /^reply#call\[1\]\.tool\[0\]$/, "order"],
  ["checkpoint-complete", /^judge#call\[0\]$/, "judge:0"],
  ["step-complete", /^file$/, "file"],
  ["step-complete", /^write$/, "write"],
];

/** The effects that these events record, but for the calls of the chat's own model. */
export function recordedBy(events: readonly Pick<StoredEvent, "type" | "path">[]): string[] {
  return events.flatMap(({ type, path }) =>
    places.filter(([kind, at]) => kind === type && at.test(path ?? "")).map(([, , effect]) => effect),
  );
}

export const editorChat: ChatCase = {
  script: "./editor-process.ts",
  async recorded(store, executionIds) {
    const journals: (readonly StoredEvent[])[] = [];
    for (const executionId of executionIds)
      journals.push(await store.events({ executionId, after: 0, limit: 1_000 }));
    // The reply to the user, and the one to the end of the work in the background.
    const turns = journals
      .map((events) => events.flatMap(({ type, path }) => (type === "checkpoint-complete" ? [path] : [])))
      .map((paths) => paths.flatMap((path) => /^reply#call\[(\d)\]$/.exec(path ?? "")?.[1] ?? []))
      .filter((calls) => calls.length > 0);
    const calls = turns.flatMap((each, turn) => each.map((call) => `clerk:${turn === 0 ? call : "end"}`));
    return [...recordedBy(journals.flat()), ...calls];
  },
  problems(end, expected, { log, kills }) {
    const problems: string[] = [];
    if (!same(end.kept, expected.kept)) problems.push(`kept ${JSON.stringify(end.kept)}`);
    const provided = usageOf(log);
    if (!same(end.usage, provided))
      problems.push(`counted ${JSON.stringify(end.usage)}, provided ${JSON.stringify(provided)}`);
    const names = log.map(({ name }) => name);
    for (const [index, name] of names.entries())
      if (names.slice(0, index).includes(`${acknowledged}${name}`))
        problems.push(`${name} happened again after its commit was acknowledged`);
    // A kill loses the work that was under way: the last call of the reply, and a step of the work in the background.
    const done = names.filter(
      (name) => name !== beginning && name !== refusal && !name.startsWith(acknowledged),
    );
    const again = done.length - new Set(done).size;
    if (again > 2 * kills) problems.push(`${again} effects happened again after ${kills} kills`);
    // Before the first call of a reply is recorded, its first model is asked.
    const refused = names.filter((name) => name === refusal).length;
    if (refused > 2 + kills) problems.push(`the model that refuses was asked ${refused} times`);
    return problems;
  },
};

/** Rows of usage, and the use of the budget, by the log of the provider. */
function usageOf(log: readonly Effect[]) {
  const answered = [...new Set(log.map(({ name }) => name))].filter((name) => name in inputTokens);
  const rows = ["clerk", "judge"].map((of) => {
    const calls = answered.filter((name) => name.startsWith(`${of}:`));
    return { of, calls: calls.length, inputTokens: sum(calls.map((name) => inputTokens[name] ?? 0)) };
  });
  const used = sum(rows.map((row) => row.inputTokens + row.calls * outputTokens));
  return { rows, budget: { used, held: 0 } };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
