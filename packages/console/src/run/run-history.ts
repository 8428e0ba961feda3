// The runs of the steps at every position of a journal.
//
// A run is folded from the events. `RunHistory` keeps the run before every 256 events, and the run at any position is
// folded from the one before it. Runs share all that did not change between them: a journal of 100 000 events has 400
// kept runs, which take about as much memory as two.
import type { ExecutionEvent } from "../api/types.ts";
import { type Chain, listed, SharedList } from "./shared-list.ts";
import {
  type Answer,
  type Attempt,
  type Checkpoint,
  definitionPath,
  depthOf,
  errorText,
  ownerPath,
  type StepRun,
  type StepStatus,
  statusesOfRounds,
} from "./step-runs.ts";

/** Events between two kept runs. */
export const keptEvery = 256;

/** A path of the journal; the same at all positions. */
interface Place {
  readonly index: number;
  readonly path: string;
  readonly parent: Place | undefined;
  /** The steps that ran directly inside. */
  readonly children: Place[];
  /** The index of its step in the definition, among those of all paths. */
  readonly group: number;
}

class Places {
  /** Containers before their steps. */
  readonly all: Place[] = [];
  readonly groups = new Map<string, number>();
  readonly #byPath = new Map<string, Place>();

  get(path: string): Place | undefined {
    return this.#byPath.get(path);
  }

  getOrAdd(path: string): Place {
    const known = this.get(path);
    if (known !== undefined) return known;
    const name = definitionPath(path);
    const group = this.groups.get(name) ?? this.groups.size;
    this.groups.set(name, group);
    const parent = this.#containerOf(path);
    const place = { index: this.all.length, path, parent, children: [], group };
    this.all.push(place);
    this.#byPath.set(path, place);
    parent?.children.push(place);
    return place;
  }

  #containerOf(path: string): Place | undefined {
    for (let end = endOfParent(path); end > 0; end = endOfParent(path.slice(0, end))) {
      const found = this.get(path.slice(0, end));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Where the path of its container may end: before the last "/" or "[". */
function endOfParent(path: string): number {
  return Math.max(path.lastIndexOf("/"), path.lastIndexOf("["));
}

type Waits = "running" | "suspended" | "sleeping";

/** The run at one path, with the parts of it that only its page shows. */
interface KeptRun extends StepRun {
  readonly checkpoints: Chain<Checkpoint> | undefined;
  readonly answers: Chain<Answer> | undefined;
  /** How many of its direct open steps run, wait or sleep. */
  readonly open: Readonly<Record<Waits, number>>;
}

const noneOpen = { running: 0, suspended: 0, sleeping: 0 };

/** The runs of one step of the definition: one, or one per round. */
interface Group {
  /** How many of them have each status. */
  readonly counts: Readonly<Partial<Record<StepStatus, number>>>;
  /** The one that began last. */
  readonly last: Place;
}

/** The rounds of a step at a position. */
export interface Rounds {
  readonly total: number;
  readonly done: number;
  /** One status for all: failed and unfinished rounds take precedence. */
  readonly status: StepStatus;
  readonly last: StepRun;
}

/** The run after some of its events. */
export class Run {
  /** The number of these events. */
  position = 0;
  startAt = 0;
  /** The time of the last event. */
  lastAt = 0;
  endAt: number | null = null;
  #places = new Places();
  #runs = new SharedList<KeptRun>();
  #groups = new SharedList<Group>();
  #patches: Chain<Readonly<Record<string, unknown>>> | undefined;
  #current: StepRun | undefined;

  /** The run after further events; this one stays as it is. */
  plus(events: readonly ExecutionEvent[]): Run {
    const next = new Run();
    next.position = this.position;
    next.startAt = this.startAt;
    next.lastAt = this.lastAt;
    next.endAt = this.endAt;
    next.#places = this.#places;
    next.#runs = this.#runs.copy();
    next.#groups = this.#groups.copy();
    next.#patches = this.#patches;
    for (const event of events) next.#add(event);
    return next;
  }

  get(path: string): StepRun | undefined {
    return this.#kept(path);
  }

  #kept(path: string): KeptRun | undefined {
    const place = this.#places.get(path);
    return place && this.#runs.get(place.index);
  }

  /** All runs of steps, in the order in which they began. */
  steps(): StepRun[] {
    return this.#places.all
      .flatMap(({ index }) => this.#runs.get(index) ?? [])
      .sort((one, other) => one.first - other.first);
  }

  /** Whether steps ran inside of this one. */
  isContainer(path: string): boolean {
    return (this.#places.get(path)?.children.length ?? 0) > 0;
  }

  /** The rounds of a step of the definition; undefined before the first. */
  rounds(path: string): Rounds | undefined {
    const group = this.#groups.get(this.#places.groups.get(path) ?? -1);
    const last = group && this.#runs.get(group.last.index);
    if (group === undefined || last === undefined) return undefined;
    const { counts } = group;
    const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
    const status = statusesOfRounds.find((each) => (counts[each] ?? 0) > 0) ?? last.status;
    return { total, done: counts.completed ?? 0, status, last };
  }

  /** The step that is of interest: a waiting or failed one, else a running one, else the last. */
  get current(): StepRun | undefined {
    this.#current ??= this.#findCurrent();
    return this.#current;
  }

  #findCurrent(): StepRun | undefined {
    let best: Candidate | undefined;
    for (const { index, group } of this.#places.all) {
      const run = this.#runs.get(index);
      if (run !== undefined && (best === undefined || isOfMoreInterest({ run, group }, best)))
        best = { run, group };
    }
    return best?.run;
  }

  checkpoints(path: string): readonly Checkpoint[] {
    return listed(this.#kept(path)?.checkpoints);
  }

  answers(path: string): readonly Answer[] {
    return listed(this.#kept(path)?.answers);
  }

  /** The state that the steps have set, by key. */
  state(): Readonly<Record<string, unknown>> {
    return Object.assign({}, ...listed(this.#patches));
  }

  #add(event: ExecutionEvent): void {
    this.position += 1;
    this.lastAt = Date.parse(event.timestamp);
    if (this.position === 1) this.startAt = this.lastAt;
    // A step may emit an event of any name.
    if ("data" in event) return;
    const { stepPath } = event;
    switch (event.type) {
      case "state-changed":
        if (event.state !== undefined) this.#patches = { entry: event.state, before: this.#patches };
        return;
      case "step-suspended":
      case "workflow-suspended":
        return this.#suspend(event);
      case "workflow-resumed":
        return this.#resume(event);
      case "workflow-complete":
      case "workflow-error":
      case "workflow-cancelled":
        return this.#end(event);
      case "execution-rewound":
        return this.#rewind(event.stepIndex ?? 0);
      default:
        if (stepPath === undefined) return;
        if (stepPath.includes("#")) this.#inside(event, stepPath);
        else this.#step(event, stepPath);
    }
  }

  /** A checkpoint, or a function beside the body of a step. */
  #inside(event: ExecutionEvent, path: string): void {
    const [place, run] = this.#ownerOf(path);
    if (place === undefined || run === undefined) return;
    const entry: Checkpoint = {
      position: this.position,
      name: path.slice(path.indexOf("#") + 1),
      startAt: event.startedAt === undefined ? this.lastAt : Date.parse(event.startedAt),
      endAt: this.lastAt,
      output: event.output,
      error: errorText(event.error),
      retryAt: event.retryAt === undefined ? undefined : Date.parse(event.retryAt),
    };
    this.#set(place, { ...run, checkpoints: { entry, before: run.checkpoints } });
  }

  #ownerOf(path: string | undefined): [place?: Place, run?: KeptRun] {
    const place = path === undefined ? undefined : this.#places.get(ownerPath(path));
    const run = place && this.#runs.get(place.index);
    return place && run ? [place, run] : [];
  }

  #step(event: ExecutionEvent, path: string): void {
    const place = this.#places.getOrAdd(path);
    const run = this.#runs.get(place.index) ?? this.#newRun(path, event);
    const at = this.lastAt;
    switch (event.type) {
      case "step-start": {
        const status = run.type.startsWith("andSleep") ? "sleeping" : "running";
        const attempts = [...run.attempts, { startAt: at, endAt: null }];
        return this.#set(place, { ...run, status, endAt: null, input: event.input, attempts });
      }
      case "step-complete": {
        const { output, usage } = event;
        return this.#ended(place, { ...run, status: "completed", output, usage });
      }
      case "step-skipped":
        return this.#ended(place, { ...run, status: "skipped" });
      case "step-bailed":
        return this.#ended(place, { ...run, status: "completed", output: event.result });
      case "step-error":
        return this.#ended(place, { ...run, status: "error" }, errorText(event.error));
      case "step-retry": {
        const error = errorText(event.error);
        const retryAt = event.retryAt === undefined ? at : Date.parse(event.retryAt);
        const attempts = [...closed(run.attempts, at, error), { startAt: retryAt, endAt: null }];
        return this.#set(place, { ...run, status: "retrying", error, retryAt, attempts });
      }
      default:
        return;
    }
  }

  #suspend({ suspension }: ExecutionEvent): void {
    const [place, run] = this.#ownerOf(suspension?.stepPath);
    if (place === undefined || run === undefined || suspension === undefined) return;
    const others = run.suspensions.filter(({ suspensionId }) => suspensionId !== suspension.suspensionId);
    this.#set(place, { ...waiting(run, "suspended", this.lastAt), suspensions: [...others, suspension] });
  }

  #resume({ stepPath, suspensionId, userId, byDeadline = false, resumeData: data }: ExecutionEvent): void {
    const [place, run] = this.#ownerOf(stepPath);
    if (place === undefined || run === undefined) return;
    const isAnswered = (suspension: { readonly suspensionId: string }) =>
      suspensionId === undefined || suspension.suspensionId === suspensionId;
    const suspensions = run.suspensions.filter((suspension) => !isAnswered(suspension));
    const { position, lastAt: answeredAt } = this;
    const answers = run.suspensions
      .filter(isAnswered)
      .map((suspension) => ({ position, suspension, answeredAt, userId, byDeadline, data }))
      .reduce<Chain<Answer> | undefined>((before, entry) => ({ entry, before }), run.answers);
    const next = suspensions.length > 0 ? run : running(run, answeredAt);
    this.#set(place, { ...next, suspensions, answers });
  }

  #ended(place: Place, run: KeptRun, error: string | undefined = run.error): void {
    const attempts = closed(run.attempts, this.lastAt, run.status === "error" ? error : undefined);
    const ended = { error, attempts, endAt: this.lastAt, suspensions: [], retryAt: undefined };
    this.#set(place, { ...run, ...ended });
    for (const child of place.children) this.#close(child);
  }

  /** Ends an open run, whose container has ended before. */
  #close(place: Place, failed?: ReadonlySet<Place>): void {
    const run = this.#runs.get(place.index);
    if (run === undefined || openKind(run) === undefined) return;
    const status = failed?.has(place) ? "error" : "cancelled";
    const [endAt, attempts] = [run.endAt ?? this.lastAt, closed(run.attempts, this.lastAt)];
    this.#set(place, { ...run, status, endAt, attempts, suspensions: [], retryAt: undefined });
    for (const child of place.children) this.#close(child, failed);
  }

  /** The end of the execution: an open container of a step that failed has failed with it. */
  #end({ type }: ExecutionEvent): void {
    this.endAt = this.lastAt;
    const failed = new Set<Place>();
    for (const { index, parent } of type === "workflow-error" ? this.#places.all : [])
      if (this.#runs.get(index)?.status === "error")
        for (let place = parent; place !== undefined; place = place.parent) failed.add(place);
    for (const place of this.#places.all) this.#close(place, failed);
  }

  #rewind(stepIndex: number): void {
    for (const place of this.#places.all)
      if ((this.#runs.get(place.index)?.stepIndex ?? -1) >= stepIndex) this.#set(place, undefined);
  }

  #newRun(path: string, { stepType = "", stepIndex = 0 }: ExecutionEvent): KeptRun {
    return {
      path,
      type: stepType,
      stepIndex,
      status: "running",
      startAt: this.lastAt,
      endAt: null,
      waited: 0,
      attempts: [],
      input: undefined,
      output: undefined,
      error: undefined,
      usage: undefined,
      suspensions: [],
      retryAt: undefined,
      first: this.position,
      checkpoints: undefined,
      answers: undefined,
      open: noneOpen,
    };
  }

  /** A new version of a run. Its container waits when all of its open steps do. */
  #set(place: Place, run: KeptRun | undefined): void {
    const { index, parent } = place;
    const before = this.#runs.get(index);
    this.#runs.set(index, run);
    if (before?.status !== run?.status) this.#count(place, before, run);
    const [was, is] = [openKind(before), openKind(run)];
    const container = parent && this.#runs.get(parent.index);
    if (was === is || parent === undefined || container === undefined) return;
    const open = { ...container.open };
    if (was !== undefined) open[was] -= 1;
    if (is !== undefined) open[is] += 1;
    const status = statusOf(open);
    if (openKind(container) === undefined || status === container.status)
      this.#runs.set(parent.index, { ...container, open });
    else if (status === "running") this.#set(parent, { ...running(container, this.lastAt), open });
    else this.#set(parent, { ...waiting(container, status, this.lastAt), open });
  }

  #count(place: Place, before: KeptRun | undefined, run: KeptRun | undefined): void {
    const group = this.#groups.get(place.group);
    const counts = { ...group?.counts };
    if (before !== undefined) counts[before.status] = (counts[before.status] ?? 0) - 1;
    if (run !== undefined) counts[run.status] = (counts[run.status] ?? 0) + 1;
    const last = before === undefined || group === undefined ? place : group.last;
    this.#groups.set(place.group, { counts, last });
  }
}

/** The runs at all positions of a journal. */
export class RunHistory {
  readonly whole: Run;
  readonly #events: readonly ExecutionEvent[];
  /** The runs before every `keptEvery` events. */
  readonly #kept: Run[];
  /** The runs between two of them that were shown last. */
  #near: { readonly part: number; readonly runs: Map<number, Run> } = { part: 0, runs: new Map() };

  /** `before` is the history of fewer events: where they are of the same journal, only new ones are folded. */
  constructor(events: readonly ExecutionEvent[], before?: RunHistory) {
    const isKnown =
      before !== undefined && before.#events[0] === events[0] && before.#events.length <= events.length;
    this.#events = events;
    this.#kept = isKnown ? before.#kept : [];
    let run = isKnown ? before.whole : new Run();
    while (run.position < events.length) {
      const part = Math.floor(run.position / keptEvery);
      if (run.position % keptEvery === 0) this.#kept[part] = run;
      run = run.plus(events.slice(run.position, (part + 1) * keptEvery));
    }
    this.whole = run;
  }

  /** The run after this many events: at most `keptEvery` of them are folded. */
  at(position: number): Run {
    if (position >= this.whole.position) return this.whole;
    const part = Math.floor(position / keptEvery);
    if (this.#near.part !== part) this.#near = { part, runs: new Map() };
    const { runs } = this.#near;
    const known = position % keptEvery === 0 ? this.#kept[part] : runs.get(position);
    const run = known ?? this.at(position - 1).plus(this.#events.slice(position - 1, position));
    runs.set(position, run);
    return run;
  }
}

/** The run of a whole journal. */
export function foldRun(events: readonly ExecutionEvent[]): Run {
  return new Run().plus(events);
}

/** The interest of each status, the greatest first; those of ended steps are equal. */
const interest: Readonly<Record<StepStatus, number>> = {
  ...{ suspended: 0, error: 1, retrying: 2, running: 3, sleeping: 4 },
  ...{ completed: 5, skipped: 5, cancelled: 5 },
};

interface Candidate {
  readonly run: StepRun;
  readonly group: number;
}

function isOfMoreInterest({ run, group }: Candidate, than: Candidate): boolean {
  const rank = interest[run.status];
  if (rank !== interest[than.run.status]) return rank < interest[than.run.status];
  if (rank === interest.completed || group === than.group) return run.first > than.run.first;
  // A step before the container that waits for it.
  return depthOf(run.path) > depthOf(than.run.path);
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

/** The status of an open container with these open steps. */
function statusOf({ running, suspended, sleeping }: Readonly<Record<Waits, number>>): Waits {
  if (running > 0 || suspended + sleeping === 0) return "running";
  return suspended > 0 ? "suspended" : "sleeping";
}

/** The attempts with an end of the last one. */
function closed(attempts: readonly Attempt[], at: number, error?: string): readonly Attempt[] {
  const last = attempts.at(-1);
  if (last === undefined || (last.endAt !== null && error === undefined)) return attempts;
  const failure = error === undefined ? {} : { error };
  return [...attempts.slice(0, -1), { ...last, endAt: last.endAt ?? at, ...failure }];
}

function waiting(run: KeptRun, status: "suspended" | "sleeping", at: number): KeptRun {
  return { ...run, status, endAt: run.endAt ?? at, attempts: closed(run.attempts, at) };
}

function running(run: KeptRun, at: number): KeptRun {
  const last = run.attempts.at(-1);
  // One step of a container ended, and the next one began: no wait.
  const hasWaited = last?.endAt !== at;
  const attempts: readonly Attempt[] = hasWaited
    ? [...run.attempts, { startAt: at, endAt: null, resumed: true }]
    : [...run.attempts.slice(0, -1), { ...last, endAt: null }];
  const waited = run.waited + (run.endAt === null ? 0 : at - run.endAt);
  return { ...run, status: "running", endAt: null, waited, attempts };
}
