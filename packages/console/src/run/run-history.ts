// The runs of the steps at every position of a journal.
//
// Each event is folded once. A step keeps its versions with the positions from which they count, so that the run at any
// position is a binary search per shown step: moving through 100 000 events folds none of them again.
import type { ExecutionEvent } from "../api/types.ts";
import {
  type Answer,
  type Attempt,
  type Checkpoint,
  definitionPath,
  errorText,
  ownerPath,
  type StepRun,
  type StepStatus,
  statusesOfRounds,
} from "./step-runs.ts";

/** Changes of status between two kept counts of a group. */
const countEvery = 256;

type Waits = "running" | "suspended" | "sleeping";

/** All versions of the run at one path. */
class PathHistory {
  readonly path: string;
  readonly parent: PathHistory | undefined;
  readonly group: Group;
  readonly positions: number[] = [];
  /** Undefined from the position on at which the execution went back to an earlier step. */
  readonly runs: (StepRun | undefined)[] = [];
  // Made for the first entry: a journal may have 50 000 paths.
  checkpoints: Checkpoint[] | undefined;
  answers: Answer[] | undefined;
  /** How many of its direct open steps run, wait or sleep; undefined for a step that holds none. */
  open: Record<Waits, number> | undefined;

  constructor(path: string, parent: PathHistory | undefined, group: Group) {
    this.path = path;
    this.parent = parent;
    this.group = group;
  }

  get current(): StepRun | undefined {
    return this.runs.at(-1);
  }

  at(position: number): StepRun | undefined {
    return this.runs[countUpTo(this.positions, position) - 1];
  }
}

/** The runs of one step of the definition: one, or one per round. */
class Group {
  /** In the order in which they started. */
  readonly histories: PathHistory[] = [];
  /** The positions of their first events. */
  readonly starts: number[] = [];
  readonly positions: number[] = [];
  readonly changes: { readonly from: StepStatus | undefined; readonly to: StepStatus | undefined }[] = [];
  /** The counts before every `countEvery` changes. */
  readonly #counts: Map<StepStatus, number>[] = [];
  readonly #now = new Map<StepStatus, number>();

  change(position: number, from: StepStatus | undefined, to: StepStatus | undefined): void {
    if (from === to) return;
    if (this.changes.length % countEvery === 0) this.#counts.push(new Map(this.#now));
    this.positions.push(position);
    this.changes.push({ from, to });
    count(this.#now, from, -1);
    count(this.#now, to, 1);
  }

  /** How many of its runs have each status. */
  countsAt(position: number): ReadonlyMap<StepStatus, number> {
    const end = countUpTo(this.positions, position);
    if (end === this.changes.length) return this.#now;
    const kept = Math.floor(end / countEvery);
    const counts = new Map(this.#counts[kept]);
    for (const { from, to } of this.changes.slice(kept * countEvery, end)) {
      count(counts, from, -1);
      count(counts, to, 1);
    }
    return counts;
  }
}

function count(counts: Map<StepStatus, number>, status: StepStatus | undefined, by: number): void {
  if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + by);
}

/** How many of the ascending positions are at or before this one. */
function countUpTo(positions: readonly number[], position: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rounds of a step at a position. */
export interface Rounds {
  readonly total: number;
  readonly done: number;
  /** One status for all: failed and unfinished rounds take precedence. */
  readonly status: StepStatus;
  readonly last: StepRun;
}

export class RunHistory {
  readonly #paths = new Map<string, PathHistory>();
  readonly #groups = new Map<string, Group>();
  readonly #open = new Set<PathHistory>();
  readonly #failed = new Set<string>();
  readonly #states: { readonly position: number; readonly patch: Readonly<Record<string, unknown>> }[] = [];
  #events: readonly ExecutionEvent[] = [];
  #position = 0;
  #at = 0;
  #end: { readonly position: number; readonly at: number } | undefined;

  /** Folds the events that follow those before. False for another journal, which has no place here. */
  extend(events: readonly ExecutionEvent[]): boolean {
    if (this.#position > events.length || (this.#position > 0 && this.#events[0] !== events[0])) return false;
    this.#events = events;
    for (const event of events.slice(this.#position)) {
      this.#position += 1;
      this.#at = Date.parse(event.timestamp);
      this.#apply(event);
    }
    return true;
  }

  /** The run after this many events. */
  at(position: number): Run {
    return new Run(
      {
        paths: this.#paths,
        groups: this.#groups,
        states: this.#states,
        end: this.#end,
        startAt: timeOf(this.#events[0]),
        lastAt: timeOf(this.#events[Math.max(0, position - 1)]),
      },
      position,
    );
  }

  #apply(event: ExecutionEvent): void {
    // A step may emit an event of any name.
    if ("data" in event) return;
    const { stepPath } = event;
    switch (event.type) {
      case "state-changed":
        if (event.state !== undefined) this.#states.push({ position: this.#position, patch: event.state });
        return;
      case "step-suspended":
      case "workflow-suspended":
        return this.#suspend(event);
      case "workflow-resumed":
        return this.#resume(event);
      case "workflow-complete":
      case "workflow-error":
      case "workflow-cancelled":
        return this.#endAll(event);
      case "execution-rewound":
        for (const history of this.#paths.values())
          if ((history.current?.stepIndex ?? -1) >= (event.stepIndex ?? 0)) this.#set(history, undefined);
        return;
      default:
        if (stepPath === undefined) return;
        if (stepPath.includes("#")) this.#inside(event, stepPath);
        else this.#step(event, stepPath);
    }
  }

  /** A checkpoint, or a function beside the body of a step. */
  #inside(event: ExecutionEvent, path: string): void {
    const history = this.#paths.get(ownerPath(path));
    if (history === undefined) return;
    history.checkpoints ??= [];
    history.checkpoints.push({
      position: this.#position,
      name: path.slice(path.indexOf("#") + 1),
      startAt: event.startedAt === undefined ? this.#at : Date.parse(event.startedAt),
      endAt: this.#at,
      output: event.output,
      error: errorText(event.error),
      retryAt: event.retryAt === undefined ? undefined : Date.parse(event.retryAt),
    });
  }

  #step(event: ExecutionEvent, path: string): void {
    const history = this.#historyOf(path);
    const run = history.current ?? this.#newRun(path, event);
    const at = this.#at;
    switch (event.type) {
      case "step-start": {
        const status = run.type.startsWith("andSleep") ? "sleeping" : "running";
        const attempts = [...run.attempts, { startAt: at, endAt: null }];
        return this.#set(history, { ...run, status, endAt: null, input: event.input, attempts });
      }
      case "step-complete":
        return this.#ended(history, {
          ...run,
          status: "completed",
          output: event.output,
          usage: event.usage,
        });
      case "step-skipped":
        return this.#ended(history, { ...run, status: "skipped" });
      case "step-bailed":
        return this.#ended(history, { ...run, status: "completed", output: event.result });
      case "step-error":
        return this.#ended(history, { ...run, status: "error" }, errorText(event.error));
      case "step-retry": {
        const error = errorText(event.error);
        const retryAt = event.retryAt === undefined ? at : Date.parse(event.retryAt);
        const attempts = [...closed(run.attempts, at, error), { startAt: retryAt, endAt: null }];
        return this.#set(history, { ...run, status: "retrying", error, retryAt, attempts });
      }
      default:
        return;
    }
  }

  #suspend({ suspension }: ExecutionEvent): void {
    const path = suspension?.stepPath;
    const history = path === undefined ? undefined : this.#paths.get(ownerPath(path));
    const run = history?.current;
    if (history === undefined || run === undefined || suspension === undefined) return;
    const others = run.suspensions.filter(({ suspensionId }) => suspensionId !== suspension.suspensionId);
    this.#set(history, { ...waiting(run, "suspended", this.#at), suspensions: [...others, suspension] });
  }

  #resume(event: ExecutionEvent): void {
    const history = event.stepPath === undefined ? undefined : this.#paths.get(ownerPath(event.stepPath));
    const run = history?.current;
    if (history === undefined || run === undefined) return;
    const isAnswered = ({ suspensionId }: { readonly suspensionId: string }) =>
      event.suspensionId === undefined || suspensionId === event.suspensionId;
    history.answers ??= [];
    for (const suspension of run.suspensions.filter(isAnswered))
      history.answers.push({
        position: this.#position,
        suspension,
        answeredAt: this.#at,
        userId: event.userId,
        byDeadline: event.byDeadline === true,
        data: event.resumeData,
      });
    const suspensions = run.suspensions.filter((suspension) => !isAnswered(suspension));
    const next = suspensions.length > 0 ? run : running(run, this.#at);
    this.#set(history, { ...next, suspensions });
  }

  #ended(history: PathHistory, run: StepRun, error: string | undefined = run.error): void {
    const isFailed = run.status === "error";
    const attempts = closed(run.attempts, this.#at, isFailed ? error : undefined);
    this.#set(history, { ...run, error, attempts, endAt: this.#at, suspensions: [], retryAt: undefined });
    if (isFailed) this.#failed.add(run.path);
    if (history.open)
      this.#close(
        ({ path }) => isInside(path, history.path),
        () => "cancelled",
      );
  }

  #endAll({ type }: ExecutionEvent): void {
    this.#end = { position: this.#position, at: this.#at };
    const failed = type === "workflow-error" ? [...this.#failed] : [];
    this.#close(
      () => true,
      ({ path }) => (failed.some((each) => isInside(each, path)) ? "error" : "cancelled"),
    );
  }

  /** Ends open runs, containers before their steps. */
  #close(isChosen: (history: PathHistory) => boolean, status: (run: StepRun) => StepStatus): void {
    const chosen = [...this.#open].filter(isChosen).sort((one, other) => one.path.length - other.path.length);
    for (const history of chosen) {
      const run = history.current;
      if (run === undefined) continue;
      const attempts = closed(run.attempts, this.#at);
      const endAt = run.endAt ?? this.#at;
      this.#set(history, {
        ...run,
        ...{ status: status(run), endAt, attempts, suspensions: [], retryAt: undefined },
      });
    }
  }

  #historyOf(path: string): PathHistory {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const name = definitionPath(path);
    const group = this.#groups.get(name) ?? new Group();
    this.#groups.set(name, group);
    const history = new PathHistory(path, this.#containerOf(path), group);
    if (history.parent) history.parent.open ??= { running: 0, suspended: 0, sleeping: 0 };
    group.histories.push(history);
    group.starts.push(this.#position);
    this.#paths.set(path, history);
    return history;
  }

  #containerOf(path: string): PathHistory | undefined {
    for (let end = endOfParent(path); end > 0; end = endOfParent(path.slice(0, end))) {
      const found = this.#paths.get(path.slice(0, end));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #newRun(path: string, { stepType = "", stepIndex = 0 }: ExecutionEvent): StepRun {
    return {
      path,
      type: stepType,
      stepIndex,
      status: "running",
      startAt: this.#at,
      endAt: null,
      waited: 0,
      attempts: [],
      input: undefined,
      output: undefined,
      error: undefined,
      usage: undefined,
      suspensions: [],
      retryAt: undefined,
      first: this.#position,
    };
  }

  /** A new version of a run. Its container waits when all of its open steps do. */
  #set(history: PathHistory, run: StepRun | undefined): void {
    const before = history.current;
    if (history.positions.at(-1) === this.#position) history.runs[history.runs.length - 1] = run;
    else {
      history.positions.push(this.#position);
      history.runs.push(run);
    }
    history.group.change(this.#position, before?.status, run?.status);
    if (run === undefined) this.#failed.delete(history.path);
    const [was, is] = [openKind(before), openKind(run)];
    if (is === undefined) this.#open.delete(history);
    else this.#open.add(history);
    const { parent } = history;
    const open = parent?.open;
    if (was === is || parent === undefined || open === undefined) return;
    if (was !== undefined) open[was] -= 1;
    if (is !== undefined) open[is] += 1;
    const container = parent.current;
    if (container === undefined || openKind(container) === undefined) return;
    const status =
      open.running > 0 || open.suspended + open.sleeping === 0
        ? "running"
        : open.suspended > 0
          ? "suspended"
          : "sleeping";
    if (status === container.status) return;
    this.#set(
      parent,
      status === "running" ? running(container, this.#at) : waiting(container, status, this.#at),
    );
  }
}

interface RunParts {
  readonly paths: ReadonlyMap<string, PathHistory>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly states: readonly { readonly position: number; readonly patch: object }[];
  readonly end: { readonly position: number; readonly at: number } | undefined;
  readonly startAt: number;
  readonly lastAt: number;
}

/** The run after some of its events. */
export class Run {
  readonly startAt: number;
  readonly endAt: number | null;
  /** The time of the last event. */
  readonly lastAt: number;
  readonly #parts: RunParts;
  readonly #position: number;

  constructor(parts: RunParts, position: number) {
    const { startAt, lastAt, end } = parts;
    this.#parts = parts;
    this.#position = position;
    this.startAt = startAt;
    this.lastAt = lastAt;
    this.endAt = end !== undefined && end.position <= position ? end.at : null;
  }

  get(path: string): StepRun | undefined {
    return this.#parts.paths.get(path)?.at(this.#position);
  }

  /** All runs of steps, in the order in which they began. */
  steps(): StepRun[] {
    return [...this.#parts.paths.keys()]
      .flatMap((path) => this.get(path) ?? [])
      .sort((one, other) => one.first - other.first);
  }

  /** Whether steps ran inside of this one. */
  isContainer(path: string): boolean {
    return this.#parts.paths.get(path)?.open !== undefined;
  }

  /** The rounds of a step of the definition; undefined before the first. */
  rounds(path: string): Rounds | undefined {
    const group = this.#parts.groups.get(path);
    const last = group && this.#lastOf(group, () => true);
    if (group === undefined || last === undefined) return undefined;
    if (group.histories.length === 1)
      return { total: 1, done: last.status === "completed" ? 1 : 0, status: last.status, last };
    const counts = group.countsAt(this.#position);
    const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const status = statusesOfRounds.find((each) => (counts.get(each) ?? 0) > 0) ?? last.status;
    return { total, done: counts.get("completed") ?? 0, status, last };
  }

  /** The step that is of interest: a waiting or failed one, else a running one, else the last. */
  get current(): StepRun | undefined {
    const wanted = ["suspended", "error", "retrying", "running", "sleeping"] as const;
    const groups = [...this.#parts.groups].map(([path, group]) => ({
      group,
      depth: path.split("/").length,
      counts: group.countsAt(this.#position),
    }));
    for (const status of wanted) {
      const found = groups
        .filter(({ counts }) => (counts.get(status) ?? 0) > 0)
        // A step before the container that waits for it.
        .sort((one, other) => other.depth - one.depth)
        .flatMap(({ group }) => this.#lastOf(group, (run) => run.status === status) ?? [])[0];
      if (found !== undefined) return found;
    }
    const ended = groups.flatMap(({ group }) => this.#lastOf(group, () => true) ?? []);
    return ended.reduce<StepRun | undefined>(
      (last, run) => (last !== undefined && last.first > run.first ? last : run),
      undefined,
    );
  }

  #lastOf({ histories, starts }: Group, isChosen: (run: StepRun) => boolean): StepRun | undefined {
    for (let index = countUpTo(starts, this.#position) - 1; index >= 0; index--) {
      const run = histories[index]?.at(this.#position);
      if (run !== undefined && isChosen(run)) return run;
    }
    return undefined;
  }

  checkpoints(path: string): readonly Checkpoint[] {
    return this.#upToHere(this.#parts.paths.get(path)?.checkpoints);
  }

  answers(path: string): readonly Answer[] {
    return this.#upToHere(this.#parts.paths.get(path)?.answers);
  }

  /** The state that the steps have set, by key. */
  state(): Readonly<Record<string, unknown>> {
    return Object.assign({}, ...this.#upToHere(this.#parts.states).map(({ patch }) => patch));
  }

  #upToHere<Entry extends { readonly position: number }>(entries: readonly Entry[] = []): readonly Entry[] {
    return entries.filter(({ position }) => position <= this.#position);
  }
}

/** The run of a whole journal. */
export function foldRun(events: readonly ExecutionEvent[]): Run {
  const history = new RunHistory();
  history.extend(events);
  return history.at(events.length);
}

function timeOf(event: ExecutionEvent | undefined): number {
  return event === undefined ? 0 : Date.parse(event.timestamp);
}

/** Where the path of its container may end: before the last "/" or "[". */
function endOfParent(path: string): number {
  return Math.max(path.lastIndexOf("/"), path.lastIndexOf("["));
}

function isInside(path: string, container: string): boolean {
  return path.startsWith(container) && "/[".includes(path[container.length] ?? " ");
}

function openKind(run: StepRun | undefined): Waits | undefined {
  switch (run?.status) {
    case "running":
    case "retrying":
      return "running";
    case "suspended":
    case "sleeping":
      return run.status;
    default:
      return undefined;
  }
}

/** The attempts with an end of the last one. */
function closed(attempts: readonly Attempt[], at: number, error?: string): readonly Attempt[] {
  const last = attempts.at(-1);
  if (last === undefined || (last.endAt !== null && error === undefined)) return attempts;
  const failure = error === undefined ? {} : { error };
  return [...attempts.slice(0, -1), { ...last, endAt: last.endAt ?? at, ...failure }];
}

function waiting(run: StepRun, status: "suspended" | "sleeping", at: number): StepRun {
  return { ...run, status, endAt: run.endAt ?? at, attempts: closed(run.attempts, at) };
}

function running(run: StepRun, at: number): StepRun {
  const last = run.attempts.at(-1);
  // One step of a container ended, and the next one began: no wait.
  const hasWaited = last?.endAt !== at;
  const attempts: readonly Attempt[] = hasWaited
    ? [...run.attempts, { startAt: at, endAt: null, resumed: true }]
    : [...run.attempts.slice(0, -1), { ...last, endAt: null }];
  const waited = run.waited + (run.endAt === null ? 0 : at - run.endAt);
  return { ...run, status: "running", endAt: null, waited, attempts };
}
