// The kinds of operations, by name alone: the main thread sorts calls by them and has no use for the statements
// themselves, which would be an eighth of its code.
import type { OperationName, Reads, Writes } from "./operations/index.ts";

/** Writes whose caller is waiting and can come again: refused at once while the storage is in trouble. */
export const intake: readonly OperationName[] = [
  "create",
  "beginTurn",
  "pause",
  "resume",
  "cancel",
  "heartbeat",
  "claimAbandoned",
  "wake",
  "endHandled",
  "define",
  "adopt",
  "park",
  "unpark",
  "keepSnapshot",
  "deleteFinished",
  "compact",
  "appendObservations",
  "trimObservations",
  "addRollups",
  "trimRollups",
  "addUsage",
  "trimUsage",
  "defineSearch",
  "indexValues",
  "postMessage",
  "changeConversation",
  "forkConversation",
  "removeConversation",
  "removeSummary",
  "leaveQueue",
  "removeUnchanged",
  "removeUnfinishedFork",
  "appendFact",
  "foldFacts",
  "removeFacts",
  "useApproval",
  "approvalSecret",
];

/**
 * Writes that may be done twice: after the first, the second changes nothing, or repeats a span. Those of
 * executions and conversations have keys and return their first result.
 */
const repeatableWrites: readonly (keyof Writes)[] = [
  "create",
  "commit",
  "beginTurn",
  "endTurn",
  "pause",
  "resume",
  "cancel",
  "wake",
  "endHandled",
  "claimAbandoned",
  "heartbeat",
  "release",
  "define",
  "adopt",
  "park",
  "unpark",
  "keepSnapshot",
  "appendObservations",
  "trimObservations",
  "addRollups",
  "trimRollups",
  "addUsage",
  "trimUsage",
  "defineSearch",
  "indexValues",
  "compact",
  "postMessage",
  "changeConversation",
  "forkConversation",
  "removeConversation",
  "removeSummary",
  "leaveQueue",
  "removeUnchanged",
  "removeUnfinishedFork",
  "appendFact",
  "foldFacts",
  "removeFacts",
  "useApproval",
];

/** Reads for callers: refused at once while too many wait. Reads of the engine are never refused. */
const readsForCallers: readonly (keyof Reads)[] = [
  "state",
  "liveTurn",
  "list",
  "findValues",
  "waiting",
  "nodes",
  "definitions",
  "logs",
  "traces",
  "trace",
  "countSuspended",
  "rollupsOverTime",
  "rollupTotals",
  "usageTotals",
  "recentMessages",
  "conversationMessages",
  "readConversation",
  "queuedMessages",
  "listConversations",
  "readFacts",
];

const otherReads: readonly (keyof Reads)[] = [
  "events",
  "heads",
  "snapshot",
  "due",
  "claims",
  "outline",
  "countUnfinished",
  "endedBeyond",
  "leftQueues",
  "keepFrom",
];

/** Operations that may be repeated when their result was lost. */
export const repeatable: ReadonlySet<OperationName> = new Set([
  ...repeatableWrites,
  ...readsForCallers,
  ...otherReads,
  "health",
]);

export const forCallers: ReadonlySet<OperationName> = new Set(readsForCallers);
