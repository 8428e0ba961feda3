// The facts that all bodies of one execution share, among them the usage of its agents.
import type { Journal } from "../../journal/journal.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { Store } from "../../store/store.ts";
import { type StoredUsage, sumUsage, usageSince } from "../../store/usage.ts";
import type { ExecutionFacts } from "../body/body-run.ts";
import type { Feed } from "../stream/feed.ts";
import type { RunRow } from "./engine-kind.ts";
import { logFields } from "./log-fields.ts";

interface FactSources extends Pick<ExecutionFacts, "clock" | "logger" | "limits" | "files" | "observation"> {
  readonly store: Pick<Store, "state" | "events">;
  readonly feed: Pick<Feed, "publishLive">;
}

export function factsOf(sources: FactSources, row: RunRow, journal: Journal): ExecutionFacts {
  const { store, clock, logger, limits, files, observation, feed } = sources;
  const { executionId, workflowId, userId, conversationId, context } = row;
  return {
    executionId,
    workflowId,
    userId: userId ?? undefined,
    conversationId: conversationId ?? undefined,
    context,
    journal,
    clock,
    logger: logger.child(logFields(row)),
    limits,
    files,
    observation,
    used: (resumed) => readUsage(store, executionId, resumed),
    publishLive: (text) => feed.publishLive(executionId, text),
  };
}

/** `resumed`: the usage when this suspension was resumed, which is today's without the calls that came after it. */
async function readUsage(
  store: Pick<Store, "state" | "events">,
  executionId: string,
  resumed: string | undefined,
): Promise<StoredUsage | null> {
  const state = await store.state(executionId);
  if (state === undefined) return null;
  const { usage: total } = state;
  if (resumed === undefined || total === null) return total;
  let isAfter = false;
  let since: StoredUsage | null = null;
  const { sequence: upTo } = state.execution;
  for await (const { events } of readJournal(store, { executionId, upTo })) {
    for (const event of events) {
      if (event.type === "workflow-resumed") isAfter ||= event.suspensionId === resumed;
      else if (isAfter && event.type === "checkpoint-complete" && event.usage !== undefined)
        since = sumUsage(since, event.usage);
    }
  }
  return since === null ? total : usageSince(total, since);
}
