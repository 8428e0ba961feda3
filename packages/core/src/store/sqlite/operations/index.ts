// The operations of the store by name, bound to one open database.
import type { DatabaseSync } from "node:sqlite";
import { type Decision, decisions } from "../../decide/index.ts";
import { type PerformDecision, performDecision } from "../perform-decision.ts";
import { SearchFrontier } from "../search-frontier.ts";
import { approvalSecret } from "./approvals/approval-secret.ts";
import { useApproval } from "./approvals/use-approval.ts";
import { budgetAccounts } from "./budgets/budget-accounts.ts";
import { chargeBudgets } from "./budgets/charge-budgets.ts";
import { holdBudgets, renewHolds } from "./budgets/hold-budgets.ts";
import { trimBudgets } from "./budgets/trim-budgets.ts";
import { claimAbandoned } from "./claim-abandoned.ts";
import { claims } from "./claims.ts";
import { commit } from "./commit.ts";
import { compact } from "./compact.ts";
import { conversationReads, conversationWrites } from "./conversations/index.ts";
import { leftQueues } from "./conversations/queue.ts";
import { countUnfinished } from "./count-unfinished.ts";
import { create } from "./create.ts";
import { define, definitions } from "./define.ts";
import { deleteFinished } from "./delete-finished.ts";
import { due } from "./due.ts";
import { endedBeyond } from "./ended-beyond.ts";
import { events } from "./events.ts";
import { appendFact, foldFacts, readFacts, removeFacts } from "./facts.ts";
import { heads, liveTurn } from "./heads.ts";
import { heartbeat } from "./heartbeat.ts";
import { keepSnapshot } from "./keep-snapshot.ts";
import { type Bind, late } from "./late.ts";
import { list } from "./list.ts";
import { nodes } from "./nodes.ts";
import { append } from "./observations/append.ts";
import { countSuspended } from "./observations/count-suspended.ts";
import { logs } from "./observations/logs.ts";
import { trace, traces } from "./observations/traces.ts";
import { keepFrom, trim } from "./observations/trim.ts";
import { outline } from "./outline.ts";
import { resume } from "./resume.ts";
import { addRollups } from "./rollups/add-rollups.ts";
import { rollupsOverTime, rollupTotals } from "./rollups/read-rollups.ts";
import { trimRollups } from "./rollups/trim-rollups.ts";
import { changeSchedule, listSchedules, readSchedule } from "./schedules.ts";
import { defineSearch } from "./search/define-search.ts";
import { findValues } from "./search/find-values.ts";
import { indexValues } from "./search/index-values.ts";
import {
  findSignals,
  listSignals,
  readSignal,
  sendSignals,
  settleSignal,
  signalBySeq,
  signalWaits,
  signalWork,
  trimSignals,
} from "./signals.ts";
import { snapshot } from "./snapshot.ts";
import { state } from "./state.ts";
import { turnWrites } from "./turns/index.ts";
import { unpark } from "./unpark.ts";
import { addUsage } from "./usage/add-usage.ts";
import { usageTotals } from "./usage/read-usage.ts";
import { trimUsage } from "./usage/trim-usage.ts";
import { waiting } from "./waiting.ts";

/** Operations that change the database: they run inside the writer's transactions. */
export function writes(database: DatabaseSync, bind: Bind = late) {
  const search = new SearchFrontier(database);
  let performer: PerformDecision | undefined;
  const perform: PerformDecision = (decision, argument) => {
    performer ??= performDecision(database, search);
    return performer(decision, argument);
  };
  const decided = <Argument extends { readonly executionId: string }, Result>(
    decision: Decision<Argument, Result>,
  ) => {
    return (argument: Argument): Result => perform(decision, argument);
  };
  const committing = bind(database, () => commit(database, perform, search));
  return {
    create: bind(database, () => create(database, search)),
    commit: committing,
    ...turnWrites(database, bind, committing, perform),
    pause: decided(decisions.pause),
    resume: bind(database, () => resume(database, perform)),
    cancel: decided(decisions.cancel),
    heartbeat: bind(database, heartbeat),
    release: decided(decisions.release),
    claimAbandoned: bind(database, claimAbandoned),
    wake: decided(decisions.wake),
    endHandled: decided(decisions.endHandled),
    define: bind(database, define),
    adopt: decided(decisions.adopt),
    park: decided(decisions.park),
    unpark: bind(database, unpark),
    keepSnapshot: bind(database, keepSnapshot),
    deleteFinished: bind(database, deleteFinished),
    compact: bind(database, compact),
    appendObservations: bind(database, append),
    trimObservations: bind(database, trim),
    addRollups: bind(database, addRollups),
    trimRollups: bind(database, trimRollups),
    addUsage: bind(database, addUsage),
    trimUsage: bind(database, trimUsage),
    holdBudgets: bind(database, holdBudgets),
    chargeBudgets: bind(database, chargeBudgets),
    renewHolds: bind(database, renewHolds),
    trimBudgets: bind(database, trimBudgets),
    changeSchedule: bind(database, () => changeSchedule(database, search)),
    sendSignals: bind(database, sendSignals),
    settleSignal: bind(database, settleSignal),
    trimSignals: bind(database, trimSignals),
    ...conversationWrites(database, bind),
    defineSearch: bind(database, defineSearch),
    indexValues: bind(database, () => indexValues(database, search)),
    appendFact: bind(database, appendFact),
    foldFacts: bind(database, foldFacts),
    removeFacts: bind(database, removeFacts),
    useApproval: bind(database, useApproval),
    approvalSecret: bind(database, approvalSecret),
  };
}

/** Reads of the engine, at its start and while idle: short, and served by the writer thread. */
export function ownReads(database: DatabaseSync, bind: Bind = late) {
  return {
    due: bind(database, due),
    readSchedule: bind(database, readSchedule),
    declaredSets: bind(database, listSchedules),
    findSignals: bind(database, findSignals),
    signalWaits: bind(database, signalWaits),
    signalWork: bind(database, signalWork),
    readSignal: bind(database, readSignal),
    signalBySeq: bind(database, signalBySeq),
    claims: bind(database, claims),
    outline: bind(database, outline),
    countUnfinished: bind(database, countUnfinished),
    leftQueues: bind(database, leftQueues),
  };
}

/** The other operations that only read. */
export function reads(database: DatabaseSync, bind: Bind = late) {
  return {
    state: bind(database, state),
    heads: bind(database, heads),
    liveTurn: bind(database, liveTurn),
    events: bind(database, events),
    snapshot: bind(database, snapshot),
    list: bind(database, list),
    findValues: bind(database, findValues),
    waiting: bind(database, waiting),
    nodes: bind(database, nodes),
    definitions: bind(database, definitions),
    endedBeyond: bind(database, endedBeyond),
    logs: bind(database, logs),
    traces: bind(database, traces),
    trace: bind(database, trace),
    countSuspended: bind(database, countSuspended),
    keepFrom: bind(database, keepFrom),
    rollupsOverTime: bind(database, rollupsOverTime),
    rollupTotals: bind(database, rollupTotals),
    usageTotals: bind(database, usageTotals),
    budgetAccounts: bind(database, budgetAccounts),
    listSchedules: bind(database, listSchedules),
    listSignals: bind(database, listSignals),
    ...conversationReads(database, bind),
    readFacts: bind(database, readFacts),
  };
}

/** How one thread finds the database. */
export interface Health {
  /** Why it cannot be used; null when it can. */
  readonly problem: string | null;
  readonly bytes: number | null;
}

export type Writes = ReturnType<typeof writes>;
export type Reads = ReturnType<typeof reads> & ReturnType<typeof ownReads>;
export type Operations = Writes & Reads & { health(): Health };
export type OperationName = keyof Operations;
