// Who has called a tool: from the tags of the executions that it has started.
import type { ExecutionSummary } from "@andante/client";

export interface Caller {
  /** Null without one. */
  readonly userId: string | null;
  /** The name of the client program. */
  readonly client: string;
  readonly tag: string;
  readonly calls: number;
  readonly lastAt: string;
  readonly lastId: string;
}

const prefix = "mcp:";

/** The most recent caller first; `executions` are the newest first. */
export function callersOf(
  executions: readonly Pick<ExecutionSummary, "executionId" | "startAt" | "tags" | "userId">[],
): readonly Caller[] {
  const calls = executions.flatMap(({ executionId, startAt, userId, tags = [] }) => {
    const tag = tags.find((each) => each.startsWith(prefix));
    return tag === undefined ? [] : [{ userId: userId ?? null, tag, executionId, startAt }];
  });
  return [...Map.groupBy(calls, ({ userId, tag }) => JSON.stringify([userId, tag])).values()].flatMap(
    (group) =>
      group.slice(0, 1).map(
        ({ userId, tag, executionId, startAt }): Caller => ({
          ...{ userId, tag, client: tag.slice(prefix.length), calls: group.length },
          ...{ lastAt: startAt, lastId: executionId },
        }),
      ),
  );
}
