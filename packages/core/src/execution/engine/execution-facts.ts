// The facts that all bodies of one execution share, among them the usage of its agents.
import type { Children } from "../../agent/durable/children.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { eventIn } from "../../event/cause.ts";
import { targetOf } from "../../event/match-key.ts";
import type { Journal } from "../../journal/journal.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { LinkMaker } from "../../link/link-maker.ts";
import type { Store } from "../../store/store.ts";
import { nothingUsed, type StoredUsage, sumUsage, usageSince } from "../../store/usage.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { ExecutionFacts } from "../body/body-run.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { Feed } from "../stream/feed.ts";
import type { ParentRow } from "./child-executions.ts";
import type { RunRow } from "./engine-kind.ts";
import { logFields } from "./log-fields.ts";

interface FactSources
  extends Pick<ExecutionFacts, "clock" | "logger" | "limits" | "facts" | "files" | "observation"> {
  readonly store: Pick<Store, "state" | "events" | "conversations">;
  readonly feed: Pick<Feed, "publishLive">;
  readonly links: Pick<LinkMaker, "make">;
  readonly outbox: Outbox | undefined;
  workflow(workflowId: string): WorkflowDefinition;
  childrenOf?(parent: ParentRow, journal: Journal): Children | undefined;
}

export function factsOf(
  sources: FactSources,
  row: RunRow,
  { journal, lastAt, timers, startAt }: Pick<LoadedExecution, "journal" | "lastAt" | "timers" | "startAt">,
): ExecutionFacts {
  const { store, clock, logger, limits, facts, files, observation, feed } = sources;
  const { executionId, workflowId, userId, conversationId, context, tags = [] } = row;
  return {
    executionId,
    workflowId,
    userId: userId ?? undefined,
    conversationId: conversationId ?? undefined,
    target: targetOf(row),
    startAt,
    cause: eventIn(row.links),
    context,
    tags,
    // One that slept was not idle for want of a process.
    activeAt: timers.length > 0 ? clock.now() : lastAt,
    journal,
    clock,
    logger: logger.child(logFields(row)),
    limits,
    facts,
    conversations: store.conversations,
    files,
    observation,
    children: sources.childrenOf?.(row, journal),
    used: async () => (await store.state(executionId))?.usage ?? null,
    usedAtResumes: (suspensionIds) => usedAtResumes(store, executionId, suspensionIds),
    link: (path, stepId, options) => {
      const workflow = sources.workflow(workflowId);
      const place = { executionId, workflow, path, visitOf: (of: string) => journal.visitOf(of) };
      return sources.links.make(place, stepId, options);
    },
    outbox: workflowId === "" ? undefined : sources.outbox,
    publishLive: (text) => feed.publishLive(executionId, text),
  };
}

/** The usage at each resume is the usage of today without the calls that came after the resume. */
async function usedAtResumes(
  store: Pick<Store, "state" | "events">,
  executionId: string,
  suspensionIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, StoredUsage>> {
  const state = await store.state(executionId);
  if (state === undefined) return new Map();
  const { sequence: upTo } = state.execution;
  const before = new Map<string, StoredUsage>();
  let sum = nothingUsed;
  for await (const { events } of readJournal(store, { executionId, upTo })) {
    for (const event of events) {
      if (event.type === "workflow-resumed" && suspensionIds.has(event.suspensionId))
        before.set(event.suspensionId, sum);
      else if (event.type === "checkpoint-complete" && event.usage !== undefined)
        sum = sumUsage(sum, event.usage);
    }
  }
  const total = state.usage ?? nothingUsed;
  for (const [id, used] of before) before.set(id, usageSince(total, usageSince(sum, used)));
  return before;
}
