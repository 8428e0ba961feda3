// Groups waits by the event and the key that would end them.
import type { InboxItem } from "@andante/client";

export interface WaitGroup {
  readonly name: string;
  /** Null: any key ends it. */
  readonly key: string | null;
  readonly executionIds: readonly string[];
  readonly workflowIds: readonly string[];
  /** Since when the oldest waits. */
  readonly since: string;
}

/** The largest first. A wait for several events is in the group of each; `items` are the oldest first. */
export function waitGroups(
  items: readonly Pick<InboxItem, "executionId" | "workflowId" | "agentId" | "suspension">[],
): readonly WaitGroup[] {
  const waits = items.flatMap((item) =>
    (item.suspension.events ?? []).map(({ name, key }) => ({ name, key, item })),
  );
  return [...Map.groupBy(waits, ({ name, key }) => JSON.stringify([name, key])).values()]
    .flatMap((group) =>
      group.slice(0, 1).map(
        ({ name, key, item }): WaitGroup => ({
          ...{ name, key, since: item.suspension.suspendedAt },
          executionIds: [...new Set(group.map(({ item: { executionId } }) => executionId))],
          workflowIds: [...new Set(group.map(({ item: each }) => each.agentId ?? each.workflowId))],
        }),
      ),
    )
    .sort((one, other) => other.executionIds.length - one.executionIds.length);
}
