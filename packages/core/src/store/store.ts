// The store contract: where journals live. Small and asynchronous; every store passes the cases of store-cases/.
//
// Glossary: a *journal* is the append-only list of events of one execution, numbered 1, 2, 3 … A *claim* is the right
// of one process to run one execution now, proved by a random token. An *owner* is one incarnation of a process; its
// claims count while its lease lasts. An execution is *idle* when no process has to run it: it is suspended or sleeps,
// with no body in flight. A *turn* is an execution of its own kind: the reply to one message of a conversation. It has
// no workflow, and lists, counts and deletions of executions mean those of workflows unless stated otherwise.
import type { ApprovalStore } from "./approval-store.ts";
import type { BudgetCharge, BudgetStore } from "./budget-store.ts";
import type { ClusterChannel } from "./cluster-channel.ts";
import type {
  ConversationStore,
  KeepReply,
  PostMessage,
  PostResult,
  ReplaceLast,
  StoredMessage,
  StoredUsage,
} from "./conversation-store.ts";
import type { FactChange, FactStore } from "./fact-store.ts";
import type { ObservationStore } from "./observation-store.ts";
import type { RollupStore } from "./rollup-store.ts";
import type { ScheduleStore, StoredSchedule } from "./schedule-store.ts";
import type { SearchStore } from "./search-store.ts";
import type { NoteWork, SendWork, SignalStore } from "./signal-store.ts";
import type { NewStoredEvent, SameValue, StoredEvent, StoredJson, WrittenEvent } from "./stored-event.ts";
import type { Suspension, WaitingQuery, WaitingSuspension } from "./suspension.ts";
import type { UsageEntry, UsageStore } from "./usage-store.ts";

export type { Suspension } from "./suspension.ts";

export const executionStatuses = ["running", "suspended", "completed", "error", "cancelled"] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

export function isExecutionStatus(status: string): status is ExecutionStatus {
  return executionStatuses.some((each) => each === status);
}

/** The kind of execution: a workflow, or the turn of a conversation. */
export type ExecutionKind = "workflow" | "turn";

/** An execution as its row describes it. */
export interface ExecutionRow {
  readonly executionId: string;
  readonly kind: ExecutionKind;
  /** "" for a turn, which has none. */
  readonly workflowId: string;
  /** The agent whose turn it is; null for a workflow. */
  readonly agentId: string | null;
  readonly status: ExecutionStatus;
  readonly input: StoredJson;
  /** A JSON object. */
  readonly context: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: number;
  /** When it fails unless it has ended; null for never. */
  readonly timeoutAt: number | null;
  readonly endAt: number | null;
  readonly result: StoredJson;
  /** Why it failed, a JSON object. */
  readonly error: StoredJson;
  /** The number of the last event. */
  readonly sequence: number;
  /** The top-level step that runs now or comes next. */
  readonly stepIndex: number;
  readonly paused: boolean;
  /** How many events of resumes the journal holds. */
  readonly resumes: number;
  /** Recoveries since the last progress, from owners whose heartbeats the store had: see `claimAbandoned`. */
  readonly recoveries: number;
  readonly tags: readonly string[];
  /** The definition that it began with, or last continued with; null when that is not known. */
  readonly definition: string | null;
  /** Why no process may run it until it is unparked; null when every process may. */
  readonly parked: string | null;
  /** The replayed execution; null for an execution of its own. */
  readonly replayOf: ReplayOf | null;
  /**
   * The trace that it belongs to: empty for one of its own, whose id follows from the executionId; null when it is not
   * traced.
   */
  readonly trace: string | null;
  /** Its relations to a parent and to children, a JSON object; null for none. Its end is listed as due once. */
  readonly links: string | null;
}

/** An execution in a list: without the values that may be long. */
export type ListedExecution = Omit<ExecutionRow, "kind" | "agentId" | "input" | "context" | "result">;

/** A claimed execution: without its long values, which its owner reads with the journal. */
export type ClaimedExecution = Omit<ExecutionRow, "input" | "context" | "result" | "error">;

/** How far an execution has come. */
export interface ExecutionHead
  extends Pick<
    ExecutionRow,
    | "executionId"
    | "kind"
    | "workflowId"
    | "agentId"
    | "userId"
    | "conversationId"
    | "status"
    | "sequence"
    | "paused"
  > {
  /** No process may run it until it is unparked. */
  readonly parked: boolean;
  /** The process that has claimed it, alive or not; null without a claim. */
  readonly owner: string | null;
}

/** Where a replay comes from. */
export interface ReplayOf {
  readonly executionId: string;
  /** The top-level step that it began from. */
  readonly stepId: string;
}

export interface NewExecution {
  readonly executionId: string;
  readonly workflowId: string;
  readonly input: StoredJson;
  readonly context: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: number;
  /** When it fails unless it has ended; null for never. */
  readonly timeoutAt: number | null;
  readonly claim: Claim;
  readonly events: readonly WrittenEvent[];
  /** The usage of agents whose replies a replay takes over. Default: none. */
  readonly usage?: StoredUsage | null;
  /** Default: none. */
  readonly tags?: readonly string[];
  /** A definition that was given to the store with `define`. Default: not known. */
  readonly definition?: string;
  /** The trace that it belongs to, empty for one of its own. Default: it is not traced. */
  readonly trace?: string | null;
  /** A JSON object. Default: none. */
  readonly links?: string | null;
  /** For a replay, whose first events are copies: its source, its position, and how many resumes the copies hold. */
  readonly replay?: { readonly of: ReplayOf; readonly stepIndex: number; readonly resumes: number };
}

/** A turn: the reply to a message of a conversation, as an execution. */
export interface NewTurn
  extends Pick<NewExecution, "executionId" | "input" | "context" | "startAt" | "claim" | "events"> {
  readonly agentId: string;
  readonly conversationId: string;
  readonly userId: string | null;
}

/** The message that begins a turn: a message of the user, or the assistant's last one with decisions on its tool calls. */
export type TurnMessage =
  | ({ readonly kind: "post" } & Pick<
      PostMessage,
      "messageId" | "body" | "title" | "again" | "wasQueued" | "ownConversation" | "at"
    >)
  | ({ readonly kind: "replace" } & Pick<ReplaceLast, "messageId" | "previous" | "body" | "at">);

/** The message and the turn that replies to it, in one write. The token of its claim is its key. */
export interface BeginTurn {
  readonly message: TurnMessage;
  readonly turn: NewTurn;
  /** How many of the messages before a posted one are read with it. Default: none are. */
  readonly before?: number | undefined;
}

/**
 * - `begun`: the message is kept, and the turn is the caller's to run. `before` has the messages that
 *   were asked for, oldest first, at most 8 000 000 characters of them and at least one message.
 * - `has-reply`, `foreign`, `full`, `withdrawn`: as in `PostResult`.
 * - `behind`: another message is before it in the queue.
 * - `changed`: the last message is not any more as the caller read it.
 * - `busy`: another turn of the conversation runs, in this process or another. An idle one is ended instead.
 */
export type BeginTurnResult =
  | { readonly kind: "begun"; readonly before?: readonly StoredMessage[] }
  | { readonly kind: Exclude<PostResult["kind"], "posted"> | "changed" | "behind" }
  | { readonly kind: "busy"; readonly executionId: string };

/** The last commit of a turn and the message that the conversation keeps, in one write. */
export interface EndTurn {
  /**
   * One with an `end`; or one that goes idle because its reply waits: the turn stays live until it has ended, or the next turn
   * of its conversation begins. Its number is the key of both.
   */
  readonly commit: Commit;
  /** The usage of the turn is added to it from the turn's row, each part of it once. */
  readonly reply: Omit<KeepReply, "usage">;
}

export interface Claim {
  readonly owner: string;
  readonly token: string;
}

/** A time at which an execution continues, at one of its paths. */
export interface Timer {
  readonly path: string;
  readonly dueAt: number;
}

/** An event by its number and its time: an event that takes the place of a lost one has another time. */
export interface EventPosition {
  readonly sequence: number;
  readonly at: number;
}

/** The delivery of an event, kept with the write that records the event. */
export interface NewDelivery {
  readonly row: StoredSchedule;
  /** The suspension that it is about; null for the end of the execution. */
  readonly suspensionId: string | null;
}

/** One atomic step forward of a running execution. */
export interface Commit {
  readonly executionId: string;
  readonly token: string;
  /**
   * 1, 2, 3 … under one claim, without gaps: repeating a commit whose result was lost returns the first result, and a
   * number that leaves one out shows that the store has lost it.
   */
  readonly number: number;
  /**
   * The number of the last event that the owner knows of. A store that finds it so need not read the row; one whose journal
   * ends before it has lost events. Default: not known.
   */
  readonly after?: number;
  /**
   * The last event of another writer that the owner has read since its last commit, by number and time. A store that holds
   * another event there has lost it. Default: none.
   */
  readonly others?: EventPosition;
  /** Outcomes of bodies: recorded also while the execution is paused. */
  readonly events: readonly WrittenEvent[];
  /** The usage of agents for those outcomes, added to the usage of the execution; null for none. */
  readonly usage: StoredUsage | null;
  /** Changes of facts by the tool calls among those outcomes. Default: none. */
  readonly facts?: readonly FactChange[];
  /** Events that the bodies of those outcomes send. Default: none. */
  readonly sends?: readonly SendWork[];
  /** The same by day, user, agent, workflow and model, added to the rows of usage; each key once. Default: none. */
  readonly spent?: readonly UsageEntry[];
  /** It has children from now on, which its `links` note. Default: as before. */
  readonly hasChildren?: true;
  /** The use of those calls in place of the shares of budgets that they hold. Default: none. */
  readonly charges?: readonly BudgetCharge[];
  /** Suspensions that those outcomes open. One whose path has an `early` decision is not opened, and uses the decision up. */
  readonly open: readonly Suspension[];
  /** Paths whose `early` decisions those outcomes use up. Default: none. */
  readonly takes?: readonly string[];
  /**
   * Steps that those outcomes end although calls of theirs wait, and calls that do not wait any more: suspensions at or
   * below them are closed. A path is below a step when the step's path and a "/", "[" or "#" begin it. Default: none.
   */
  readonly closeEnded?: readonly string[];
  /** The consequences of the outcomes: recorded only unless the execution is paused. */
  readonly following: readonly WrittenEvent[];
  /** With `following`: the containers that ended; suspensions at or below them are closed. */
  readonly closeBelow: readonly string[];
  /** With `following`: times to wake up at, one for a path. */
  readonly timers: readonly Timer[];
  /** With `following`: paths whose timers go. When the execution ends all of them go. */
  readonly clear: readonly string[];
  /** With `following`: the top-level step that now runs. */
  readonly stepIndex: number;
  /**
   * Deliveries of events that the commit records; those of a suspension only when it is opened. A row whose id is there stays.
   * Default: none.
   */
  readonly deliveries?: readonly NewDelivery[];
  /** The execution made progress, so its recoveries are counted from 0 again. Ending it counts in any case. */
  readonly progress: boolean;
  /** With `following`: the execution ends; all its suspensions are closed. */
  readonly end: {
    readonly status: ExecutionStatus;
    /** A long one is that of the last of `following`. */
    readonly result: StoredJson | (SameValue & { readonly sameAs: -1 });
    readonly error: StoredJson;
  } | null;
  /** Let go of the claim and record the event, unless more resumes have arrived than the `resumes` the owner knows of. */
  readonly idle: { readonly resumes: number; readonly event: NewStoredEvent | null } | null;
}

/**
 * - `ok`: all of it is recorded. `sequence` is the number of its last event.
 * - `paused`: only `events` and `open` are; nothing new may start.
 * - `ended`: the execution has ended meanwhile (cancelled); nothing is recorded.
 * - `fenced`: the claim is no longer this process's; nothing is recorded and it must stop.
 * - `lost`: the store lacks commits or events that the owner knows of (see `hasLost`); nothing is recorded, and the owner
 *   must stop, release its claim and load the execution again.
 */
export interface CommitResult {
  readonly kind: "ok" | "paused" | "ended" | "fenced" | "lost";
  readonly sequence: number;
  /** The claim was released, as `idle` asked for. */
  readonly idle: boolean;
}

/** Its suspensionId is its key: repeating it returns the first result. */
export interface Pause {
  readonly executionId: string;
  /** The opened suspension and its event; the store fills in the step that the execution has reached. */
  readonly suspension: Omit<Suspension, "stepIndex">;
  readonly event: Omit<NewStoredEvent, "stepIndex">;
}

/** `status` is the status that made it refuse. */
export type PauseResult =
  | { readonly kind: "paused"; readonly event: StoredEvent; readonly suspension: Suspension }
  | { readonly kind: "refused"; readonly status: ExecutionStatus };

/** The token of its claim is its key: repeating it returns the first result. */
export interface Resume {
  readonly executionId: string;
  /** The suspensions it closes, all or none: one, or a pause together with a step that waits. */
  readonly suspensionIds: readonly string[];
  /** Goes back to a top-level step: closes everything that is open and takes the execution over from any owner. */
  readonly rewind: { readonly stepIndex: number } | null;
  /** The event for the journal; counted in `resumes`. */
  readonly events: readonly NewStoredEvent[];
  readonly claim: Claim;
  /** A deadline has passed before a resume: refused while the execution is paused, because no time runs out then. */
  readonly byDeadline: boolean;
  /**
   * The last event that the caller knows of, by its number and its time: refused when there are others. A store that cannot
   * lose recorded events may compare the number alone. Default: any.
   */
  readonly last?: EventPosition;
  /** Milliseconds that the pause which it lifts has lasted: the execution's timeout moves by them. Default: 0. */
  readonly pausedFor?: number;
  /**
   * A decision that is made before its step waits: it closes nothing and claims nothing, and the next suspension of the path
   * is not opened. Refused when the path waits or has such a decision, after the end, and when the execution has another
   * number of `resumes` than the caller has read. Default: it resumes.
   */
  readonly early?: { readonly path: string; readonly resumes: number };
  /** Its effect for the event from outside that resumes it. Default: a caller or a deadline does. */
  readonly note?: NoteWork;
}

/**
 * - `claimed`: the execution had no owner; the caller's claim holds and it must run it.
 * - `owned`: a live owner continues it; the caller counts as alive, even when its lease has run out.
 * - `kept`: an `early` one is recorded.
 * - `refused`: the suspension is no longer open.
 */
export type ResumeResult =
  | { readonly kind: "claimed" | "owned" | "kept"; readonly events: readonly StoredEvent[] }
  | { readonly kind: "refused" };

/** Ends an execution from outside. */
export interface Cancel {
  readonly executionId: string;
  /** A random id: repeating a cancel whose result was lost returns the first result. */
  readonly key: string;
  readonly event: NewStoredEvent;
  readonly status: "cancelled" | "error";
  /** Why it failed, a JSON object; null when it was cancelled. */
  readonly error: StoredJson;
  /** Deliveries of its end. Default: none. */
  readonly deliveries?: readonly NewDelivery[];
  /** A time has passed, without a caller: refused while the execution is paused, or when this suspension is closed. */
  readonly due: { readonly suspensionId: string | null } | null;
  /** Its effect for the event from outside that ends it. Default: none does. */
  readonly note?: NoteWork;
}

export type CancelResult =
  | { readonly kind: "cancelled"; readonly event: StoredEvent }
  | { readonly kind: "refused"; readonly status: ExecutionStatus };

export interface ClaimAbandoned {
  readonly owner: string;
  /** A random id that the claims' tokens begin with: repeating a call whose result was lost returns those claims. */
  readonly key: string;
  /** Only executions of these workflows. */
  readonly workflowIds: readonly string[];
  /** And turns of these agents. Default: none. */
  readonly agentIds?: readonly string[];
  /**
   * False: those whose recoveries since their last progress are fewer than `suspectAfter`, oldest first. True: the
   * others, one of which may crash the process, those with the fewest recoveries first.
   */
  readonly suspects: boolean;
  readonly suspectAfter: number;
  readonly limit: number;
  /** Not these executions. Default: none. */
  readonly except?: readonly string[];
  /** Only this execution, independent of workflow, limit and exceptions. Default: any. */
  readonly only?: string;
}

export interface ClaimsQuery {
  readonly owner: string;
  /** The last claim of the page before. Default: from the first on. */
  readonly after?: Omit<OwnedClaim, "token"> | undefined;
  readonly limit: number;
}

export interface OwnedClaim {
  readonly executionId: string;
  readonly startAt: number;
  readonly token: string;
}

export interface DueQuery {
  /** Only executions of these workflows. */
  readonly workflowIds: readonly string[];
  /** Also turns of these agents. Default: none. */
  readonly agentIds?: readonly string[] | undefined;
  /** Also work that events leave. Default: none. */
  readonly signals?: boolean | undefined;
  /**
   * Only what falls due after this time, in milliseconds since 1970. A limit of an execution that has an earlier one may be missing.
   * Default: from the first.
   */
  readonly after?: number | undefined;
  /**
   * At most this many timers and ends, as many deadlines and timeouts together, as many schedules and deliveries, and as much work of
   * events: none keeps another out.
   */
  readonly limit: number;
}

/**
 * Something that falls due: an idle execution wakes up, a suspension ends by itself, an execution takes too long, or one with
 * `links` has ended, which concerns its parent and its children; a schedule or a delivery has to be looked at, or an event has work
 * to do.
 */
export type DueTimer = {
  /** For a schedule, a delivery, and for work of events: its own id. */
  readonly executionId: string;
  readonly workflowId: string;
  readonly dueAt: number;
} & (
  | {
      readonly kind: "timer";
      /** Whose execution it is; absent or null when it has no user. */
      readonly userId?: string | null;
    }
  | { readonly kind: "end" }
  | { readonly kind: "schedule" }
  | { readonly kind: "signal" }
  | { readonly kind: "delivery" }
  | {
      readonly kind: "timeout";
      /** The earliest timer of the same execution, when that is idle or has no live owner. */
      readonly timerAt: number | null;
    }
  | {
      readonly kind: "deadline";
      readonly timerAt: number | null;
      readonly suspensionId: string;
      readonly path: string | null;
      readonly stepIndex: number;
    }
);

/** Filters of a list; newest first. With an `idPrefix` and no tag it may be by their ids, the highest first. */
export interface ListQuery {
  readonly workflowId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly userId?: string | undefined;
  readonly tag?: string | undefined;
  readonly idPrefix?: string | undefined;
  readonly executionId?: string | undefined;
  /** Only those that are traced. */
  readonly traced?: true | undefined;
  /** Of this trace, where the row names it. */
  readonly traceId?: string | undefined;
  /** Replays of this execution. */
  readonly replayOf?: string | undefined;
  /** True: only those that are parked. Default: false. */
  readonly parked?: boolean | undefined;
  /** Started at this time or later. */
  readonly from?: number | undefined;
  /** Started before this time. */
  readonly to?: number | undefined;
  /** The last row of the page before. */
  readonly before?: { readonly startAt: number; readonly executionId: string } | undefined;
  readonly limit: number;
  /** Stop once the strings of the rows (`textLength`) are as long as this; at least one is read. Default and most: 8 000 000. */
  readonly length?: number | undefined;
}

export interface EventsQuery {
  readonly executionId: string;
  readonly after: number;
  readonly limit: number;
  /** Stop once the values and details read are as long as this; at least one event is read. Default and most: 8 000 000. */
  readonly length?: number;
}

/**
 * The fold of a journal's first events, for the engine to read: a shortcut, which may be missing at any time. The journal
 * itself stays whole.
 */
export interface Snapshot {
  readonly executionId: string;
  /** The number of the last event that it holds. */
  readonly sequence: number;
  /** Which form `body` has. */
  readonly format: number;
  readonly body: string;
}

/** How many executions of a workflow run or wait. */
export interface UnfinishedCount {
  readonly workflowId: string;
  readonly count: number;
}

/** A place in the order in which executions ended. */
export interface EndPosition {
  readonly endAt: number;
  readonly executionId: string;
}

export interface DeleteFinished {
  /** Default: executions of workflows. */
  readonly kind?: ExecutionKind;
  /** Executions that ended here or earlier. */
  readonly upTo: EndPosition;
  /** At most this many executions. */
  readonly limit: number;
  /** Stop once this many events are deleted; a longer journal is deleted in several calls, from its end. */
  readonly events: number;
}

/** An execution with the parts of its state. */
export interface StoredExecution {
  readonly execution: ExecutionRow;
  readonly suspensions: readonly Suspension[];
  readonly timers: readonly Timer[];
  /** The usage of the agents of its completed steps; null when there was none. */
  readonly usage: StoredUsage | null;
}

/** How a store is now. */
export interface StoreHealth {
  /** Why it cannot be read or written, in words that hold no names and no paths; null when it can. */
  readonly problem: string | null;
  /** Its size on the disk, in bytes; null where there is none, or it is not known. */
  readonly bytes: number | null;
  /** The processes that share it now, as far as that is known; absent where only one can use it. */
  readonly nodes?: number;
  /** How often a part of it has died and was replaced, and why the last time. */
  readonly restarts: { readonly count: number; readonly reason: string };
}

/** A process that uses the store. */
export interface StoreNode {
  /** The name under which it claims executions. */
  readonly owner: string;
  /** The description that came with its last heartbeat; null where the store keeps none. */
  readonly about: string | null;
  /** Its lease lasts. */
  readonly isAlive: boolean;
  /** Claimed executions and turns that have work to do. */
  readonly executions: number;
}

export interface StoreNodes {
  /** At most 200: those whose leases last, and others whose executions no process has taken over yet. */
  readonly nodes: readonly StoreNode[];
  /** Executions and turns that have work to do and no owner. */
  readonly unowned: number;
}

/** When processes have registered a definition of a workflow; the last time to within an hour. */
export interface SeenDefinition {
  readonly definition: string;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface Release {
  readonly executionId: string;
  readonly token: string;
  /** This process leaves it to others for good: they are notified to poll for work at once. Default: false. */
  readonly offer?: boolean;
}

export interface Store {
  /** Where it keeps its data, for the log. */
  readonly location: string;
  /** Absent where one process has the store to itself. */
  readonly clusterChannel?: ClusterChannel;
  /** Opens it, once, before anything else; a store that cannot be opened says why. */
  open(): Promise<void>;
  /**
   * Creates an execution that the caller owns; an id that exists already leaves everything as it is. `created` is true
   * also when the same call is repeated because its result was lost.
   */
  create(execution: NewExecution): Promise<{ readonly created: boolean }>;
  commit(commit: Commit): Promise<CommitResult>;
  /** At most one turn of a conversation is live. */
  beginTurn(begin: BeginTurn): Promise<BeginTurnResult>;
  /** Commits the end of a turn; the reply is kept exactly when that is recorded, and the conversation still exists. */
  endTurn(end: EndTurn): Promise<CommitResult>;
  pause(pause: Pause): Promise<PauseResult>;
  resume(resume: Resume): Promise<ResumeResult>;
  cancel(cancel: Cancel): Promise<CancelResult>;
  /** Keeps the owner's claims alive for this many milliseconds from now; 0 ends them at once. */
  heartbeat(heartbeat: {
    readonly owner: string;
    readonly lease: number;
    /** A description of the process for `nodes`. Default: that of the heartbeat before. */
    readonly about?: string | undefined;
  }): Promise<void>;
  /** The processes that use the store, with the number of their executions. */
  nodes(): Promise<StoreNodes>;
  /**
   * Claims executions that have work to do and no live owner, oldest first. That counts as a recovery, unless the claim was
   * released or its owner never had a heartbeat: neither is a crash.
   */
  claimAbandoned(
    query: ClaimAbandoned,
  ): Promise<readonly { readonly row: ClaimedExecution; readonly token: string }[]>;
  /** The claims of an owner, whether its lease lasts or not, by the time when their executions started. */
  claims(query: ClaimsQuery): Promise<readonly OwnedClaim[]>;
  /** Releases a claim with the work undone: the next poll for work takes it. */
  release(release: Release): Promise<void>;
  /** The first due times, now or later, of executions that are not paused; timers only of those without an owner. */
  due(query: DueQuery): Promise<readonly DueTimer[]>;
  /** Claims an idle execution with a timer that is due at `now`, also repeatedly; false when it is not one any more. */
  wake(wake: { readonly executionId: string; readonly now: number; readonly claim: Claim }): Promise<boolean>;
  /** The end of an execution with `links` has been dealt with: it is not due any more. */
  endHandled(ended: { readonly executionId: string }): Promise<void>;
  state(executionId: string): Promise<StoredExecution | undefined>;
  /** How far those of these executions have come that exist, in any order; at most 1000 at once. */
  heads(executionIds: readonly string[]): Promise<readonly ExecutionHead[]>;
  /** The turn that is live in a conversation: it runs, or is suspended. */
  liveTurn(conversationId: string): Promise<ExecutionHead | undefined>;
  /** Events with a sequence above `after`, in order. */
  events(query: EventsQuery): Promise<readonly StoredEvent[]>;
  /**
   * Keeps a snapshot in place of an earlier one, without a claim. One that is not newer changes nothing, nor does one of an
   * execution that is gone, has ended or has not come so far. Deleted with the execution.
   */
  keepSnapshot(snapshot: Snapshot): Promise<void>;
  snapshot(executionId: string): Promise<Snapshot | undefined>;
  list(query: ListQuery): Promise<readonly ListedExecution[]>;
  /** Open suspensions of workflows and turns, oldest first. */
  waiting(query: WaitingQuery): Promise<readonly WaitingSuspension[]>;
  /** Keeps the outline of a definition, once. */
  define(definition: {
    readonly definition: string;
    readonly outline: string;
    /** The workflow that is registered with it at this time, for `definitions`. Default: none. */
    readonly seen?: { readonly workflowId: string; readonly at: number } | undefined;
  }): Promise<void>;
  /** The definitions that processes have registered for a workflow: the last 100, the most recent first. */
  definitions(workflowId: string): Promise<readonly SeenDefinition[]>;
  /** The outline of a definition; undefined when it was never given to the store. */
  outline(definition: string): Promise<string | undefined>;
  /** Notes that the owner of this claim continues with another definition. */
  adopt(adopt: {
    readonly executionId: string;
    readonly token: string;
    readonly definition: string;
  }): Promise<void>;
  /**
   * Releases a claim because the definition does not fit, or the execution makes no progress: no process claims it until it
   * is unparked or resumed.
   */
  park(park: {
    readonly executionId: string;
    readonly token: string;
    readonly reason: string;
    readonly definition: string;
  }): Promise<void>;
  /** Lets the executions of a workflow be claimed again that were parked under another definition than this one. */
  unpark(unpark: {
    readonly workflowId: string;
    readonly definition: string;
    /** Only those that began or last continued with this definition, and so fit it. Default: false. */
    readonly own?: boolean;
  }): Promise<void>;
  /** How many executions run or wait, by workflow. */
  countUnfinished(): Promise<readonly UnfinishedCount[]>;
  /** The newest ended execution beyond the `keep` most recent ones; undefined when there is none. */
  endedBeyond(query: { readonly keep: number }): Promise<EndPosition | undefined>;
  /** Deletes ended executions with all that belongs to them, oldest end first. Returns which it has begun to delete. */
  deleteFinished(query: DeleteFinished): Promise<{
    readonly executionIds: readonly string[];
    /** There may be more to delete. */
    readonly more: boolean;
  }>;
  /** Returns freed space to the disk, about `bytes` of it, where that can be done in parts. */
  compact(query: { readonly bytes: number }): Promise<{
    /** There is more to return. */
    readonly more: boolean;
  }>;
  /** Asks the readers and the writers, and reports within a few seconds also when they do not respond; never rejects. */
  health(): Promise<StoreHealth>;
  /** Logs and traces. */
  readonly observations: ObservationStore;
  /** Counts over time. */
  readonly rollups: RollupStore;
  /** Usage of models by day, user, agent, workflow and model. */
  readonly usage: UsageStore;
  /** Budgets over windows of time. */
  readonly budgets: BudgetStore;
  /** Schedules that start executions. */
  readonly schedules: ScheduleStore<NewExecution>;
  /** Events from outside, and the waits for them. */
  readonly signals: SignalStore;
  /** Conversations with agents. */
  readonly conversations: ConversationStore;
  /** The facts that agents keep. */
  readonly facts: FactStore;
  /** Which tool approvals were used. */
  readonly approvals: ApprovalStore;
  /** The index of values; absent where executions cannot be found by them. */
  readonly search?: SearchStore<ListedExecution>;
  /** Finishes earlier calls, as far as the storage allows, then closes; later calls are refused. */
  close(): Promise<void>;
}
