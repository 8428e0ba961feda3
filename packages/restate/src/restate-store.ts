// The Restate store: any number of processes on one Restate server or cluster.
import { StoreOpenError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import type { ClusterListener, Store } from "@andante/core/store";
import { listen } from "./client/endpoint.ts";
import { Hints } from "./client/hints.ts";
import { problemIn, register } from "./client/register.ts";
import { Shards } from "./client/shards.ts";
import { budgetOperations } from "./operations/budgets.ts";
import { approvalOperations, conversationOperations, turnOperations } from "./operations/conversations.ts";
import { executionOperations } from "./operations/executions.ts";
import { factOperations } from "./operations/facts.ts";
import { observationOperations, rollupOperations } from "./operations/observations.ts";
import { scheduleOperations } from "./operations/schedules.ts";
import { signalOperations } from "./operations/signals.ts";
import { usageOperations } from "./operations/usage.ts";
import { locationOf, type RestateStoreOptions, readOptions } from "./options.ts";

/**
 * A store on Restate, shared by any number of nodes: each continues the executions that another one leaves behind.
 *
 * @example
 * ```ts
 * import { createAndante } from "@andante/core";
 * import { restateStore } from "@andante/restate";
 *
 * const store = restateStore({
 *   ingressUrl: "http://127.0.0.1:8080",
 *   adminUrl: "http://127.0.0.1:9070",
 *   endpoint: { port: 9080, url: "http://127.0.0.1:9080" },
 * });
 * export const andante = createAndante({ store });
 * ```
 */
export function restateStore(options: RestateStoreOptions): Store {
  const settings = readOptions(options);
  const location = locationOf(settings);
  let hints: Hints | undefined;
  const shards = new Shards(settings, (executionId) => hints?.wrote(executionId));
  const noteNews = (executionIds?: ReadonlySet<string>) => shards.noteNews(executionIds);
  const listening = new Set<ClusterListener>([{ wrote: noteNews, offered: noteNews, stop: () => undefined }]);
  let stopListening: (() => Promise<void>) | undefined;

  const open = async () => {
    if (shards.isOpen) throw new StoreOpenError({ path: location, problem: "it is already open" });
    try {
      stopListening = await listen(settings.port, settings.identityKeys);
      await register(shards.ingress, settings);
    } catch (cause) {
      await stopListening?.();
      throw new StoreOpenError({ path: location, problem: problemIn(cause), cause });
    }
    shards.isOpen = true;
    hints = new Hints(shards.ingress, settings.namespace, listening);
  };

  const close = async () => {
    if (!shards.isOpen) return;
    await shards.close();
    await hints?.close();
    await stopListening?.();
  };

  const operations = executionOperations(shards);
  return {
    location,
    clusterChannel: {
      lease: settings.lease,
      get clockOffset() {
        return shards.ingress.clockOffset;
      },
      listen: (listener) => {
        listening.add(listener);
        return () => listening.delete(listener);
      },
      askToStop: (executionId) => hints?.askToStop(executionId),
    },
    open,
    close,
    ...operations,
    release: async (release) => {
      await operations.release(release);
      if (release.offer) hints?.offered();
    },
    ...turnOperations(shards),
    conversations: conversationOperations(shards),
    facts: factOperations(shards),
    approvals: approvalOperations(shards),
    observations: observationOperations(shards),
    rollups: rollupOperations(shards),
    usage: usageOperations(shards),
    budgets: budgetOperations(shards),
    schedules: scheduleOperations(shards),
    signals: signalOperations(shards),
    health: async () => {
      const problem = shards.isOpen
        ? ((await shards.ingress.problem()) ?? (await shards.problem()))
        : "the store is not open";
      const counted = problem === null ? shards.look("nodes", null).catch(() => []) : [];
      const { value: [nodes] = [] } = await withTimeout(Promise.resolve(counted), 2_000);
      return { problem, bytes: null, restarts: { count: 0, reason: "" }, ...(nodes && { nodes }) };
    },
  };
}
