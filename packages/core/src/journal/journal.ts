// The fold of a journal: the state of each path that an execution has reached.
import type { JsonText } from "../values/json.ts";
import { iterationOf, iterationPath, stepIdOf } from "../values/step-path.ts";
import { JournaledCheckpoints } from "./checkpoints.ts";
import {
  type CheckpointCompleteEvent,
  type CheckpointRetryEvent,
  isOutcome,
  type JournalEvent,
  type Numbered,
  type StepStartEvent,
  type TakenEvent,
  unknownEvent,
  type WorkflowResumedEvent,
} from "./events.ts";
import { KeptState } from "./kept-state.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { PastSteps } from "./past-steps.ts";
import { newPathState, type PathState, type Resumption } from "./path-state.ts";
import { isNumbered, PathsInside } from "./paths-inside.ts";
import { afterRewind, afterWait, rewindOf, waitOf } from "./visit.ts";

export type { LoopRound, PathState, Resumption } from "./path-state.ts";

/** Loops: the steps of earlier rounds are not needed to continue. */
const loops: ReadonlySet<string> = new Set(["andDoWhile", "andDoUntil"]);

const noState: ReadonlyMap<string, unknown> = new Map();

/** The fold of one journal. */
export interface JournalParts {
  /** The states that are needed to continue, by path. */
  readonly paths: Map<string, PathState>;
  /** Steps in rounds and items that are over; made for the first, as the others that may be undefined. */
  past: PastSteps | undefined;
  /** The newest outcome of each step id: a search through all paths made loops take quadratic time. */
  readonly newest: Map<string, PathState>;
  /** The same among earlier top-level steps, those first: an execution may go back to one. */
  older: Map<string, PathState[]> | undefined;
  state: KeptState | undefined;
  /** Those of bodies that have not ended. */
  checkpoints: JournaledCheckpoints | undefined;
  /** Resumes and rewinds so far; the store compares the number before it lets an owner go idle. */
  resumes: number;
  /** The numbers of the events from outside that it has taken, by their names and keys: the last ones of each. */
  taken: Map<string, readonly number[]> | undefined;
  /** The number of resumes at the last rewind; 0 without one. */
  rewoundAt: number;
  /** Decisions that were made before their steps waited, by path; made for the first. */
  early: Map<string, Resumption> | undefined;
}

/** Events of one name and key that an execution remembers to have taken: others of them are taken in their order. */
const maxTaken = 20;

/** The states of all paths that the execution has reached. */
export class Journal {
  readonly #parts: JournalParts;
  readonly #paths: Map<string, PathState>;
  #inside: PathsInside;
  #stateVersion = 0;

  constructor(parts: JournalParts = emptyParts()) {
    this.#parts = parts;
    this.#paths = parts.paths;
    this.#inside = new PathsInside(parts.paths.keys(), parts.checkpoints?.paths());
  }

  get parts(): Readonly<JournalParts> {
    return this.#parts;
  }

  get resumes(): number {
    return this.#parts.resumes;
  }

  set resumes(resumes: number) {
    this.#parts.resumes = resumes;
  }

  get(path: string): PathState | undefined {
    return this.#paths.get(path);
  }

  /** Notes an event from outside that a wait has taken. */
  took({ name, key, seq }: TakenEvent): void {
    this.#parts.taken ??= new Map();
    const place = JSON.stringify([name, key]);
    const others = (this.#parts.taken.get(place) ?? []).filter((each) => each !== seq);
    this.#parts.taken.set(place, [...others, seq].slice(-maxTaken));
  }

  /**
   * The numbers of the events of this name and key that it has taken, of any key for null. `after`: of earlier ones it does
   * not know any more whether it has taken them.
   */
  takenOf(name: string, key: string | null): { readonly after: number; readonly not: readonly number[] } {
    const found: number[] = [];
    for (const [place, seqs] of this.#parts.taken ?? []) {
      const [ofName, ofKey]: [string, string | null] = JSON.parse(place);
      if (ofName === name && (key === null || ofKey === key)) found.push(...seqs);
    }
    const not = found.sort((a, b) => a - b).slice(-maxTaken);
    return { after: not.length < maxTaken ? 0 : (not[0] ?? 0), not };
  }

  /** The same; also a step in a round or an item that is over, as long as it is among the last of them. */
  find(path: string): PathState | undefined {
    return this.#paths.get(path) ?? this.#parts.past?.steps.get(path);
  }

  get paths(): ReadonlyMap<string, PathState> {
    return this.#paths;
  }

  /** The rounds, items and functions inside this step, at any depth; some of them twice. */
  pathsInside(path: string): Iterable<string> {
    return this.#inside.of(path);
  }

  /** The checkpoints of bodies that have not ended; undefined when there are none. */
  get checkpoints(): Pick<JournaledCheckpoints, "get" | "of" | "waitsOf"> | undefined {
    return this.#parts.checkpoints;
  }

  checkpointCompleted(event: CheckpointCompleteEvent): void {
    this.#checkpointsWith(event.path).completed(event);
  }

  checkpointFailed(event: CheckpointRetryEvent): void {
    this.#checkpointsWith(event.path).failed(event);
  }

  /** They are removed with the container that holds them. */
  #checkpointsWith(path: string): JournaledCheckpoints {
    this.#inside.add(path);
    this.#parts.checkpoints ??= new JournaledCheckpoints();
    return this.#parts.checkpoints;
  }

  /** The step of this id that ended last, wherever it stands. */
  newest(stepId: string): PathState | undefined {
    return this.#parts.newest.get(stepId);
  }

  /** The state that the steps have set with `setState` so far. */
  get state(): ReadonlyMap<string, unknown> {
    return this.#parts.state?.current ?? noState;
  }

  /** Grows whenever the state changes. */
  get stateVersion(): number {
    return this.#stateVersion;
  }

  stateChanged(stepIndex: number, patch: string): void {
    this.#parts.state ??= new KeptState();
    this.#parts.state.set(stepIndex, patch);
    this.#stateVersion++;
  }

  started(path: string, stepIndex: number, input: JsonText, at: number): void {
    const state = this.#at(path, stepIndex);
    state.started = true;
    state.startedAt = at;
    state.input = input;
  }

  ended(path: string, stepIndex: number, outcome: Outcome, sequence: number): void {
    const state = this.#at(path, stepIndex);
    // Outcomes are recorded once: the first wins.
    if (state.outcome !== undefined) return;
    state.outcome = outcome;
    state.sequence = sequence;
    this.#parts.checkpoints?.ended(path);
  }

  /**
   * The event of this number is in the store. Only now an outcome counts as the newest of its step id: a commit puts the
   * outcomes of bodies before those of containers, so before it the order is not known, and would be another after a
   * crash. Its contents end only now, so the fold keeps the same states in every process that makes it.
   */
  committed(event: JournalEvent): void {
    if (isOutcome(event)) {
      this.#number(event.path, event.sequence);
      for (const path of this.#inside.takeStep(event.path)) this.#past(path);
    } else if (event.type === "step-start") this.#begun(event);
  }

  /** An attempt failed; the next one starts at `retryAt` or later. */
  failed(path: string, stepIndex: number, attempt: number, retryAt: number): void {
    const state = this.#at(path, stepIndex);
    state.failures = attempt;
    state.retryAt = retryAt;
  }

  suspended(path: string, stepIndex: number, suspensionId: string, data: JsonText): void {
    const state = this.#at(path, stepIndex);
    state.suspension = { suspensionId, data };
    state.resumption = this.#parts.early?.get(path);
    if (state.resumption !== undefined) this.#parts.early?.delete(path);
  }

  resumed(path: string, { suspensionId, resumeData, expired, early }: WorkflowResumedEvent): void {
    const state = this.#paths.get(path);
    const resumption = { data: resumeData ?? "null", expired };
    const waits = state?.suspension !== undefined && state.resumption === undefined;
    // One that waits here does not wait in the store: the decision was there before it.
    if (early && !(waits && state.outcome === undefined)) {
      this.#parts.early ??= new Map();
      this.#parts.early.set(path, resumption);
    } else if (state !== undefined && (early || state.suspension?.suspensionId === suspensionId))
      state.resumption = resumption;
  }

  /** Identifies the next wait of a step, or the present one: a decision about another one does not count for it. */
  visitOf(path: string): string {
    const { suspension, resumption } = this.#paths.get(path) ?? {};
    if (suspension === undefined) return afterRewind(this.#parts.rewoundAt);
    return resumption === undefined ? waitOf(suspension.suspensionId) : afterWait(suspension.suspensionId);
  }

  /** A pause was lifted: it does not count for the time limits of the steps that had begun before it. */
  lifted(pausedFor: number): void {
    for (const state of this.#paths.values()) if (state.outcome === undefined) state.pausedFor += pausedFor;
  }

  /** Forgets everything at or after a top-level step, which then runs with `data` as its resume data. */
  rewound(stepId: string, stepIndex: number, data: string): void {
    this.#parts.state?.rewind(stepIndex);
    this.#parts.past?.rewind(stepIndex);
    this.#parts.checkpoints?.rewound(stepIndex);
    this.#stateVersion++;
    this.#parts.rewoundAt = this.resumes;
    this.#parts.early = undefined;
    this.#rewindNewest(stepIndex);
    for (const [path, state] of this.#paths) if (state.stepIndex >= stepIndex) this.#paths.delete(path);
    this.#inside = new PathsInside(this.#paths.keys(), this.#parts.checkpoints?.paths());
    const state = this.#at(stepId, stepIndex);
    state.suspension = { suspensionId: rewindOf(this.resumes), data: undefined };
    state.resumption = { data, expired: false };
  }

  #rewindNewest(stepIndex: number): void {
    const { newest, older } = this.#parts;
    for (const [id, state] of newest) {
      if (state.stepIndex < stepIndex) continue;
      const left = older?.get(id)?.filter((each) => each.stepIndex < stepIndex) ?? [];
      const last = left.pop();
      if (last === undefined) newest.delete(id);
      else newest.set(id, last);
      if (left.length === 0) older?.delete(id);
      else older?.set(id, left);
    }
  }

  #number(path: string, sequence: number): void {
    const state = this.#paths.get(path);
    if (state === undefined) return;
    state.sequence = sequence;
    if (state.outcome === undefined || path.includes("#")) return;
    const { newest } = this.#parts;
    const id = stepIdOf(path);
    const before = newest.get(id);
    if (before !== undefined && before.stepIndex !== state.stepIndex) this.#keepOlder(id, before);
    newest.set(id, state);
  }

  #keepOlder(stepId: string, state: PathState): void {
    this.#parts.older ??= new Map();
    const list = this.#parts.older.get(stepId);
    if (list === undefined) this.#parts.older.set(stepId, [state]);
    else list.push(state);
  }

  /** The start of a step is in the store; that of the first in a round ends the round before. */
  #begun({ path, stepType, sequence, timestamp, input }: Numbered<StepStartEvent>): void {
    const state = this.#paths.get(path);
    if (state === undefined) return;
    if (state.outcome === undefined) state.sequence = sequence;
    // It is journaled no earlier than the event before it, and after a pause that held it back.
    state.startedAt = timestamp;
    state.pausedFor = 0;
    if (loops.has(stepType)) state.round = { number: 0, data: undefined };
    const place = iterationOf(path);
    if (place === undefined) return;
    const loop = this.#paths.get(place.container);
    if (loop?.round === undefined || place.index <= loop.round.number) return;
    const before = iterationPath(place.container, loop.round.number);
    loop.round = { number: place.index, data: input };
    for (const over of this.#inside.takeRound(place.container, before)) this.#past(over);
  }

  /** The state of this path is not needed to continue. Paths without a number are few. */
  #past(path: string): void {
    this.#parts.checkpoints?.ended(path);
    const state = this.#paths.get(path);
    if (state === undefined || !isNumbered(path)) return;
    this.#paths.delete(path);
    this.#parts.past ??= new PastSteps();
    this.#parts.past.add(path, state);
  }

  #at(path: string, stepIndex: number): PathState {
    let state = this.#paths.get(path);
    if (state === undefined) {
      state = newPathState(stepIndex);
      this.#paths.set(path, state);
      this.#inside.add(path);
    }
    return state;
  }
}

function emptyParts(): JournalParts {
  return {
    paths: new Map(),
    past: undefined,
    newest: new Map(),
    older: undefined,
    state: undefined,
    checkpoints: undefined,
    resumes: 0,
    taken: undefined,
    rewoundAt: 0,
    early: undefined,
  };
}

/** Adds journaled events to the fold. */
export function replayEvents(journal: Journal, events: Iterable<JournalEvent>): void {
  for (const event of events) {
    replayEvent(journal, event);
    journal.committed(event);
  }
}

function replayEvent(journal: Journal, event: JournalEvent): void {
  if (isOutcome(event)) return journal.ended(event.path, event.stepIndex, outcomeOf(event), event.sequence);
  switch (event.type) {
    case "step-start":
      return journal.started(event.path, event.stepIndex, event.input, event.timestamp);
    case "step-retry":
      return journal.failed(event.path, event.stepIndex, event.attempt, event.retryAt);
    case "state-changed":
      return journal.stateChanged(event.stepIndex, event.patch);
    case "checkpoint-complete":
      return journal.checkpointCompleted(event);
    case "checkpoint-retry":
      return journal.checkpointFailed(event);
    case "step-suspended":
      return journal.suspended(event.path, event.stepIndex, event.suspensionId, event.data);
    case "workflow-resumed":
      journal.resumes++;
      if (event.event !== undefined) journal.took(event.event);
      return event.path === null ? journal.lifted(event.pausedFor ?? 0) : journal.resumed(event.path, event);
    case "execution-rewound":
      journal.resumes++;
      return journal.rewound(event.path, event.stepIndex, event.resumeData ?? "null");
    case "workflow-start":
    case "workflow-suspended":
    case "workflow-complete":
    case "workflow-error":
    case "workflow-cancelled":
    case "emitted":
      return;
    default:
      return unknownEvent(event);
  }
}
