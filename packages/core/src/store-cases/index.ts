// The public surface of @andante/core/store-cases: the cases that every store must pass, for authors of stores.
import type { Store } from "../store/store.ts";
import { approvalCases } from "./approval-cases.ts";
import { budgetCases } from "./budget-cases.ts";
import { conversationCases } from "./conversation-cases.ts";
import { definitionCases } from "./definition-cases.ts";
import { factCases } from "./fact-cases.ts";
import { forkCases } from "./fork-cases.ts";
import { headCases } from "./head-cases.ts";
import { keptConversationCases } from "./kept-conversation-cases.ts";
import { linkCases } from "./link-cases.ts";
import { lostCases } from "./lost-cases.ts";
import { observationCases } from "./observation-cases.ts";
import { queueCases } from "./queue-cases.ts";
import { repeatCases } from "./repeat-cases.ts";
import { resumeCases } from "./resume-cases.ts";
import { rollupCases } from "./rollup-cases.ts";
import { scheduleCases } from "./schedule-cases.ts";
import { searchCases } from "./search-cases.ts";
import { signalCases } from "./signal-cases.ts";
import { snapshotCases } from "./snapshot-cases.ts";
import { storeCases } from "./store-cases.ts";
import { timerCases } from "./timer-cases.ts";
import { turnCases } from "./turn-cases.ts";
import { usageCases } from "./usage-cases.ts";
import { valueCases } from "./value-cases.ts";
import { waitingCases } from "./waiting-cases.ts";

/**
 * Defines the tests of a store. Call it in a test file of Vitest; `makeStore` returns a new, empty store each time.
 *
 * @example
 * ```ts
 * import { memoryStore } from "@andante/core";
 * import { describeStore } from "@andante/core/store-cases";
 *
 * describeStore("my store", () => memoryStore());
 * ```
 */
export function describeStore(name: string, makeStore: () => Store): void {
  const all = [
    storeCases,
    valueCases,
    repeatCases,
    lostCases,
    linkCases,
    resumeCases,
    snapshotCases,
    headCases,
    timerCases,
    definitionCases,
    conversationCases,
    keptConversationCases,
    forkCases,
    factCases,
    turnCases,
    queueCases,
    approvalCases,
    observationCases,
    rollupCases,
    usageCases,
    budgetCases,
    scheduleCases,
    signalCases,
    waitingCases,
    searchCases,
  ];
  for (const cases of all) cases(name, makeStore);
}
