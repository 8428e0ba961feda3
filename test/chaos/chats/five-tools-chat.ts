// A chat whose model calls five tools with side effects, two of them at once: the journal, the conversation and the client's
// view are those of a life without kills.
import { toolNames, wholeUsage } from "../../../packages/core/test/turns/five-tools.ts";
import type { ChatCase } from "./campaign.ts";

export const fiveToolsChat: ChatCase = {
  script: "./five-tools-process.ts",
  async recorded(store, executionIds) {
    const executionId = executionIds.at(-1) ?? "";
    const events = await store.events({ executionId, after: 0, limit: 1_000 });
    return toolNames.filter((name) =>
      events.some(({ path, detail }) => path?.includes(".tool[") && detail?.includes(`"${name}"`)),
    );
  },
  problems(end, expected) {
    const problems: string[] = [];
    if (!same(end.kept, expected.kept)) problems.push(`kept ${JSON.stringify(end.kept)}`);
    if (!same(end.usage, wholeUsage)) problems.push(`used ${JSON.stringify(end.usage)}`);
    if (end.seen !== null && !same(end.seen, expected.seen))
      problems.push(`seen ${JSON.stringify(end.seen)}`);
    return problems;
  },
};

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
