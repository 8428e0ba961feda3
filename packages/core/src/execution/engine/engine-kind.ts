// A kind of execution: everything in which executions of workflows, turns of chats and later kinds differ for the engine.
import type { JournalEvent } from "../../journal/events.ts";
import type { Journal } from "../../journal/journal.ts";
import type {
  ClaimAbandoned,
  ClaimedExecution,
  ExecutionKind,
  ExecutionRow,
  Store,
  StoredExecution,
  Suspension,
} from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { HookSubject } from "./call-hooks.ts";

/** The columns that an execution has from its beginning. */
export type RunRow = HookSubject &
  Pick<ExecutionRow, "trace" | "links"> & {
    /** Absent for a kind without tags. */
    readonly tags?: readonly string[];
    /** The agent of a turn. */
    readonly agentId?: string | null;
  };

/** The columns of an execution that a resume and a load need. */
export type LoadableRow = RunRow &
  Pick<
    ExecutionRow,
    | "kind"
    | "agentId"
    | "status"
    | "startAt"
    | "timeoutAt"
    | "endAt"
    | "sequence"
    | "stepIndex"
    | "paused"
    | "resumes"
    | "definition"
    | "parked"
  >;

/** The part of an execution's state that a resume and a load need. */
export interface LoadableState extends Pick<StoredExecution, "suspensions" | "timers"> {
  readonly execution: LoadableRow;
}

export interface EngineKind {
  /** The kind in the rows of its executions. */
  readonly name: ExecutionKind;
  /** The word for one of its executions in log lines. */
  readonly noun: string;
  /** Whether it counts against `limits.running` and waits while the process is full. */
  readonly takesSlot: boolean;
  /** Whether spans follow from its journal. */
  readonly hasSpans: boolean;
  /** Whether callers may read and resume it by its id alone. */
  readonly isAddressable: boolean;
  /** Whether callers who wait for it get a result while it only sleeps. */
  readonly settlesAsleep: boolean;
  /** Milliseconds that it outlives its end at most; undefined: as long as the host's retention allows. */
  readonly keptFor: number | undefined;
  /** The executions to poll for when they are abandoned; undefined when there are none. */
  readonly claimable: Pick<ClaimAbandoned, "workflowIds" | "agentIds"> | undefined;
  /** The store for its drivers: a kind may write more with the final commit. */
  readonly store: Pick<Store, "commit" | "release" | "events">;

  /** Its body: the definition that is interpreted. Throws when it is not registered. */
  definition(row: Pick<ExecutionRow, "workflowId">): WorkflowDefinition;
  /** False when the definition does not fit the journal; the execution is parked then. */
  fits(row: LoadableRow, journal: Journal, token: string): boolean | Promise<boolean>;
  /** Publishes committed events. `stepIndex`: the top-level step that the execution has reached. */
  publish(row: HookSubject, events: readonly JournalEvent[], stepIndex?: number): void;
  /** Gives the claim back and keeps every process from running the execution; undefined: it fails instead. */
  readonly park: ((row: RunRow, token: string, reason: string) => Promise<void>) | undefined;
  /** Ends a suspension of it at its deadline; false when that has ended already. Undefined: it is resumed. */
  readonly expire:
    | ((state: LoadableState, suspension: Suspension) => Promise<boolean | "cancel"> | undefined)
    | undefined;
  /** It was recovered more than `recoveries` times without progress. True when it was ended and must not be loaded. */
  endCrashLoop(row: ClaimedExecution, token: string, recoveries: number): Promise<boolean>;
  /** It was loaded because its process was lost. */
  recovered(row: Pick<ExecutionRow, "workflowId">): void;
  /** Begins work of this kind that is not an execution yet, and that another process has left. Undefined: there is none. */
  readonly look?: (() => Promise<void>) | undefined;
  /** This process has released it. */
  released(executionId: string): void;
}
