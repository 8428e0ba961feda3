// Explains why an execution waits: one sentence, and the facts behind it.
//
// All kinds of waits are found here, from the row of the execution and the last events of its journal. A new kind of wait
// is a member of `WaitKind`, a search in `waitsOf` and a line in `clauseOf`.
import { decodeEvent } from "../../journal/codec.ts";
import { isEnd, isOutcome, type JournalEvent } from "../../journal/events.ts";
import { type Failure, readFailure } from "../../journal/failure.ts";
import type {
  ExecutionHead,
  ExecutionRow,
  ExecutionStatus,
  StoredExecution,
  Suspension,
} from "../../store/store.ts";
import { afterDeadline } from "../../store/suspension.ts";
import { isoTime } from "../../values/iso-time.ts";
import { fromJson } from "../../values/json.ts";
import { bodyPathOf, isBelow } from "../../values/step-path.ts";
import { findStep } from "../../workflow/find-step.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import type { Explanation, ShortExplanation, Wait } from "../stream/explanation.ts";
import { awaitedIn } from "../stream/views.ts";

type ExplainParts = Pick<Engine, "store" | "clock" | "workflows" | "drivers" | "admission" | "observation">;
type ExplainedRow = Pick<
  ExecutionRow,
  "executionId" | "status" | "stepIndex" | "parked" | "workflowId" | "startAt"
>;
type ExplainedState = Pick<StoredExecution, "suspensions" | "timers"> & { readonly execution: ExplainedRow };

/** How many of the last events are read, and the length of their texts in characters. */
const tailEvents = 200;
const tailLength = 1_000_000;
/** The error of a call of a model that waits for its provider. */
const providerBusy = "ModelBusyError:";
/** The longest text of a step or a caller in a sentence. */
const longestText = 200;
/** Rows of one list that are explained. */
const mostRows = 100;

interface Situation {
  readonly state: ExplainedState;
  readonly workflow: WorkflowDefinition | undefined;
  readonly now: number;
  /** Whether a process has claimed it and, where that is this one, has a slot for it. */
  readonly hasSlot: boolean;
  /** The last events; none in a list. */
  readonly tail: readonly JournalEvent[];
}

export async function explainExecution(engine: ExplainParts, state: StoredExecution): Promise<Explanation> {
  const { executionId, workflowId, status, sequence, userId, tags } = state.execution;
  const { budgets } = engine.observation.usage;
  const after = Math.max(0, sequence - tailEvents);
  const [stored, heads, states] = await Promise.all([
    engine.store.events({ executionId, after, limit: tailEvents, length: tailLength }),
    engine.store.heads([executionId]),
    budgets?.statesOf({ userId, tags }),
  ]);
  const tail = stored.map(decodeEvent);
  const costs = { ...(state.usage && { usage: state.usage }), ...(states && { budgets: states }) };
  const common = { executionId, workflowId, status, ...costs };
  if (!isOpen(status)) return { ...common, sentence: endSentence(state.execution, tail), waits: [] };
  const hasSlot = hasSlotNow(engine, heads[0]);
  const workflow = engine.workflows.get(workflowId);
  const waits = waitsOf({ state, workflow, now: engine.clock.now(), hasSlot, tail });
  return { ...common, sentence: sentenceOf(waits), waits };
}

/** The explanations of the open rows of a list, by executionId. A row that runs here has none, nor has one beyond 100. */
export async function explainRows(
  engine: ExplainParts,
  rows: readonly ExplainedRow[],
): Promise<ReadonlyMap<string, ShortExplanation>> {
  const found = new Map<string, ShortExplanation>();
  const open = rows
    .filter(({ executionId, status }) => isOpen(status) && !runsHere(engine, executionId))
    .slice(0, mostRows);
  if (open.length === 0) return found;
  const heads = await engine.store.heads(open.map(({ executionId }) => executionId));
  const withSlot = heads.filter((head) => hasSlotNow(engine, head)).map(({ executionId }) => executionId);
  // One after another: a state holds the input, which may be long.
  for (const { executionId, workflowId } of open) {
    const state = await engine.store.state(executionId);
    if (state === undefined || !isOpen(state.execution.status)) continue;
    const [workflow, hasSlot] = [engine.workflows.get(workflowId), withSlot.includes(executionId)];
    const [first, ...more] = waitsOf({ state, workflow, now: engine.clock.now(), hasSlot, tail: [] });
    if (first === undefined || first.kind === "running") continue;
    const { reason: _, resume: __, ...plain } = first;
    const { kind, until } = first;
    const sentence = sentenceOf([kind === "parked" ? first : plain, ...more]);
    found.set(executionId, { sentence, kind, ...(until !== undefined && { until }) });
  }
  return found;
}

function runsHere({ drivers }: ExplainParts, executionId: string): boolean {
  return drivers.get(executionId)?.isRunning === true;
}

function hasSlotNow({ admission }: ExplainParts, head: ExecutionHead | undefined): boolean {
  return head !== undefined && head.owner !== null && !admission.isWaiting(head.executionId);
}

function isOpen(status: ExecutionStatus): boolean {
  return status === "running" || status === "suspended";
}

/** Everything that an open execution waits for, the most important first. */
function waitsOf(situation: Situation): readonly Wait[] {
  const { execution, suspensions } = situation.state;
  const { parked } = execution;
  const waits: Wait[] = [
    ...(parked === null ? [] : [{ kind: "parked", reason: parked } as const]),
    ...suspensions.filter(({ path }) => path === null).map((each) => pauseOf(each, situation)),
    ...suspensions.filter(({ path }) => path !== null).map(suspensionWait),
    ...retriesAndSleeps(situation),
  ];
  if (waits.length > 0 || execution.status === "suspended") return waits;
  const running = runningStep(situation);
  return [situation.hasSlot ? running : { ...running, kind: "capacity" }];
}

function pauseOf({ suspensionId, reason, suspendedAt }: Suspension, { tail }: Situation): Wait {
  const event = tail.findLast(
    (each) => each.type === "workflow-suspended" && each.suspensionId === suspensionId,
  );
  const userId = event?.type === "workflow-suspended" ? event.userId : undefined;
  const since = isoTime(suspendedAt);
  return { kind: "pause", since, reason, suspensionId, ...(userId !== undefined && { userId }) };
}

function suspensionWait(suspension: Suspension): Wait {
  const { suspensionId, path, reason, suspendedAt, deadline, onDeadline } = suspension;
  const data = path?.includes("#") && suspension.data !== null ? fromJson(suspension.data) : undefined;
  const toolName = textField(data, "toolName");
  return {
    kind: toolName !== undefined ? "tool" : isObject(data) && "budget" in data ? "budget" : "suspension",
    stepPath: stepOf(path ?? ""),
    since: isoTime(suspendedAt),
    suspensionId,
    ...(reason !== "" && { reason }),
    ...(toolName !== undefined && { toolName }),
    ...(suspension.awaits && { events: awaitedIn(suspension.awaits) }),
    ...(deadline !== null && { until: isoTime(deadline), ...deadlineEffect(onDeadline) }),
  };
}

function deadlineEffect(onDeadline: string | null): Pick<Wait, "onDeadline" | "resume"> {
  const after = afterDeadline(onDeadline);
  return typeof after === "string" ? { onDeadline: after } : { onDeadline: "resume", resume: after.resume };
}

/** The timers of steps, the earliest first, and checkpoints that wait for their next attempt. */
function retriesAndSleeps(situation: Situation): readonly Wait[] {
  const { state, tail, now } = situation;
  // A timer that is due stays until the next commit: its step runs, or waits for a process.
  const timers = state.timers
    .filter(({ dueAt }) => dueAt > now)
    .sort((one, other) => one.dueAt - other.dueAt);
  const checkpoints = tail.filter(
    (event, index): event is CheckpointRetry =>
      event.type === "checkpoint-retry" &&
      event.retryAt > now &&
      !tail.slice(index + 1).some((later) => isAbout(later, event.path)),
  );
  // The step of a checkpoint that waits has a timer for it.
  const isOfCheckpoint = (path: string, dueAt: number) =>
    checkpoints.some((event) => event.retryAt === dueAt && bodyPathOf(event.path) === path);
  const own = timers.filter(({ path, dueAt }) => !isOfCheckpoint(path, dueAt));
  const ofSteps = own.map(({ path, dueAt }): Wait => {
    const failed = tail.findLast((event) => event.type === "step-retry" && event.path === path);
    const until = isoTime(dueAt);
    if (failed?.type === "step-retry") return { ...retryOf(situation, failed), until };
    const found = situation.workflow && findStep(situation.workflow, path)?.step;
    const kind = found === undefined || found.type.startsWith("andSleep") ? "sleep" : "retry";
    return { kind, stepPath: stepOf(path), until };
  });
  return [...ofSteps, ...checkpoints.map((event) => retryOf(situation, event))];
}

type CheckpointRetry = Extract<JournalEvent, { readonly type: "checkpoint-retry" }>;

function retryOf(
  { workflow }: Situation,
  event: Extract<JournalEvent, { readonly type: "step-retry" | "checkpoint-retry" }>,
): Wait {
  const { path, attempt, retryAt, error } = event;
  const attempts =
    event.type === "step-retry" ? workflow && findStep(workflow, path)?.step.retry?.attempts : undefined;
  return {
    ...{ kind: "retry", stepPath: stepOf(path), until: isoTime(retryAt), attempt, error: textOf(error) },
    ...(attempts !== undefined && { attempts }),
  };
}

/** The newest step that has started and not ended. */
function runningStep({ state, workflow, tail }: Situation): Wait {
  const ended = new Set(tail.flatMap((event) => (isOutcome(event) ? [event.path] : [])));
  const isOpenStart = (event: JournalEvent) =>
    event.type === "step-start" &&
    !ended.has(event.path) &&
    ![...ended].some((container) => isBelow(event.path, container));
  const start = tail.findLast(isOpenStart);
  if (start?.type === "step-start")
    return { kind: "running", stepPath: start.path, since: isoTime(start.timestamp) };
  const stepPath = workflow?.steps[state.execution.stepIndex]?.id;
  return { kind: "running", ...(stepPath !== undefined && { stepPath }) };
}

/** Whether the event is of this checkpoint, or ends its step. */
function isAbout(event: JournalEvent, checkpoint: string): boolean {
  if (!("path" in event) || event.path === null) return false;
  return event.path === checkpoint || (isOutcome(event) && event.path === bodyPathOf(checkpoint));
}

// ---- sentences

function sentenceOf(waits: readonly Wait[]): string {
  const [first, ...more] = waits;
  if (first === undefined) return "It waits.";
  const others =
    more.length === 0 ? "" : more.length === 1 ? " One more waits." : ` ${more.length} more wait.`;
  return `${clauseOf(first)}.${others}`;
}

function clauseOf(wait: Wait): string {
  const { kind, stepPath = "", since, until, reason, userId, toolName, attempt, attempts, error } = wait;
  const step = stepPath === "" ? "The execution" : `Step ${stepPath}`;
  const because = reason === undefined || reason === "" ? "" : `: ${short(reason)}`;
  switch (kind) {
    case "parked":
      return `No process may run it${because}`;
    case "pause":
      return `Paused${userId === undefined ? "" : ` by ${short(userId)}`} since ${since}${because}`;
    case "suspension":
      if (wait.events !== undefined)
        return `${step} waits since ${since} for ${eventsClause(wait.events)}${deadlineClause(wait)}`;
      return `${step} waits since ${since} for an answer${because}${deadlineClause(wait)}`;
    case "tool":
      return `The tool ${toolName} of step ${stepPath} waits since ${since} for approval${deadlineClause(wait)}`;
    case "budget":
      return `${step} waits since ${since} for a decision about its budget${because}`;
    case "retry": {
      if (error?.startsWith(providerBusy)) return `${step} waits for the provider until ${until}`;
      const which = attempt === undefined ? "an attempt" : `attempt ${attempt}`;
      const failed = `${which}${attempts === undefined ? "" : ` of ${attempts}`} failed`;
      const why = error === undefined ? "" : ` with ${short(error)}`;
      return `${step}: ${failed}${why}; the next one starts at ${until}`;
    }
    case "sleep":
      return `${step} sleeps until ${until}`;
    case "capacity":
      return "It could continue and waits for a process with a free place";
    case "running":
      return since === undefined ? `${step} runs` : `${step} runs since ${since}`;
    default:
      return kind satisfies never;
  }
}

function eventsClause(events: NonNullable<Wait["events"]>): string {
  const of = ({ name, key }: { readonly name: string; readonly key: string | null }) =>
    key === null ? name : `${name} with the key ${short(key)}`;
  return `the event ${events.map(of).join(" or ")}`;
}

function deadlineClause({ until, onDeadline, resume }: Wait): string {
  if (until === undefined) return "";
  const effect =
    onDeadline === "cancel"
      ? "the execution is cancelled"
      : onDeadline === "fail"
        ? "the step fails"
        : resume === undefined
          ? "it continues"
          : `it continues with ${short(dataWords(resume))}`;
  return `; without one ${effect} at ${until}`;
}

/** "approved: no, amount: 90", "the answer no". */
function dataWords(data: unknown): string {
  const plain = plainWord(data);
  if (plain !== undefined) return `the answer ${plain}`;
  const fields = isObject(data) && !Array.isArray(data) ? Object.entries(data) : [];
  const words = fields.flatMap(([name, value]) => {
    const word = plainWord(value);
    return word === undefined ? [] : [`${name}: ${word}`];
  });
  return words.length === 0 ? "prepared data" : words.join(", ");
}

/** Undefined for a value that has no short word. */
function plainWord(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null) return "nothing";
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function endSentence(execution: ExecutionRow, tail: readonly JournalEvent[]): string {
  const { status, startAt, endAt, error } = execution;
  const when =
    endAt === null ? "" : ` at ${isoTime(endAt)}, ${((endAt - startAt) / 1000).toFixed(3)} s after its start`;
  const end = tail.findLast(isEnd);
  if (status === "completed") return `Completed${when}.`;
  if (status === "cancelled") {
    const { userId = undefined, reason = undefined } = end?.type === "workflow-cancelled" ? end : {};
    const by = userId === undefined ? "" : ` by ${short(userId)}`;
    return `Cancelled${by}${when}${reason === undefined ? "" : `: ${short(reason)}`}.`;
  }
  const failure = error === null ? undefined : readFailure(error);
  const where = failure?.step === undefined ? "" : ` in step ${failure.step}`;
  return `Failed${where}${when}${failure === undefined ? "" : `: ${short(textOf(failure))}`}.`;
}

function textOf({ name, message }: Failure): string {
  return `${name}: ${message}`;
}

/** One line, of bounded length. */
function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line;
}

/** The path of the step: a call such as `settle#call[0]` is of `settle`. */
function stepOf(path: string): string {
  return path.includes("#") ? bodyPathOf(path) : path;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function textField(value: unknown, name: string): string | undefined {
  const field = isObject(value) ? value[name] : undefined;
  return typeof field === "string" ? field : undefined;
}
