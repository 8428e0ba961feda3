// The fold of a journal as JSON, so that it can be kept and continued: each text is in it once, without the states that
// are not needed any more.
//
// A change of the format or of its meaning increments `packedFormat`: a fold in another format is not read, and the
// journal is folded whole.
import type { JsonText } from "../values/json.ts";
import {
  type BodyState,
  type CheckpointState,
  type CheckpointWaits,
  JournaledCheckpoints,
} from "./checkpoints.ts";
import { Journal, type PathState } from "./journal.ts";
import { KeptState } from "./kept-state.ts";
import type { Outcome } from "./outcome.ts";
import { PastSteps } from "./past-steps.ts";
import { newPathState, type Resumption } from "./path-state.ts";

export const packedFormat = 2;

/** The number of a text; null for none. */
type TextNumber = number | null;

type PackedOutcome =
  | { readonly kind: "output"; readonly value: TextNumber; readonly usage?: Usage }
  | { readonly kind: "bailed"; readonly value: TextNumber }
  | Extract<Outcome, { kind: "skipped" | "error" }>;

type Usage = NonNullable<Extract<Outcome, { kind: "output" }>["usage"]>;

/** The fields that only a step that has not ended needs. */
interface PackedWait {
  readonly suspension?: { readonly suspensionId: string; readonly data: TextNumber };
  readonly resumption?: Resumption;
  readonly failures?: number;
  readonly retryAt?: number;
  readonly pausedFor?: number;
  readonly round?: { readonly number: number; readonly data: TextNumber };
}

type PackedState = readonly [
  stepIndex: number,
  sequence: number,
  /** Null when its start is not in the journal. */
  startedAt: number | null,
  input: TextNumber,
  outcome: PackedOutcome | null,
  wait: PackedWait | null,
];

export interface PackedJournal {
  readonly states: readonly PackedState[];
  /** The paths of the first states: those that are needed to continue, then those that have ended. */
  readonly paths: readonly string[];
  readonly past: readonly string[];
  readonly reached: readonly (readonly [stepIndex: number, paths: readonly string[]])[];
  /** The states of the step ids, the newest last. */
  readonly newest: readonly (readonly [stepId: string, states: readonly number[]])[];
  readonly state: readonly (readonly [stepIndex: number, keys: readonly (readonly [string, unknown])[]])[];
  readonly checkpoints: readonly PackedBody[];
  readonly resumes: number;
  readonly taken?: readonly (readonly [place: string, seqs: readonly number[]])[];
  readonly rewoundAt?: number;
  readonly early?: readonly (readonly [path: string, resumption: Resumption])[];
}

type PackedBody = readonly [
  path: string,
  stepIndex: number,
  waits: CheckpointWaits | null,
  checkpoints: readonly (readonly [path: string, state: PackedCheckpoint])[],
];

type PackedCheckpoint = Omit<CheckpointState, "output"> & { readonly output: TextNumber };

/** Numbers texts: each is written once, however many steps have passed it on. */
export class TextNumbers {
  readonly #numbers = new Map<string, number>();

  of(text: JsonText): TextNumber {
    if (text === undefined) return null;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** Undefined for one that was not numbered. */
  find(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  get texts(): readonly string[] {
    return [...this.#numbers.keys()];
  }
}

export function packJournal(journal: Journal, texts: TextNumbers): PackedJournal {
  const { paths, past, newest, older, state, checkpoints, resumes, taken, rewoundAt, early } = journal.parts;
  const states: PackedState[] = [];
  const numbers = new Map<PathState, number>();
  const numberOf = (each: PathState): number => {
    const known = numbers.get(each);
    if (known !== undefined) return known;
    numbers.set(each, states.length);
    return states.push(packState(each, texts)) - 1;
  };
  const recorded = [...paths].filter(([, each]) => isRecorded(each));
  for (const [, each] of recorded) numberOf(each);
  for (const each of past?.steps.values() ?? []) numberOf(each);
  return {
    paths: recorded.map(([path]) => path),
    past: [...(past?.steps.keys() ?? [])],
    reached: Array.from(past?.reached ?? [], ([stepIndex, reached]) => [stepIndex, [...reached].sort()]),
    newest: Array.from(newest, ([id, each]) => [id, [...(older?.get(id) ?? []), each].map(numberOf)]),
    state: Array.from(state?.groups ?? [], ({ stepIndex, keys }) => [stepIndex, [...keys]]),
    checkpoints: Array.from(checkpoints?.bodies ?? [], (body) => packBody(body, texts)),
    resumes,
    ...(taken && { taken: [...taken] }),
    ...(rewoundAt > 0 && { rewoundAt }),
    ...(early !== undefined && early.size > 0 && { early: [...early] }),
    // Last: the steps above have been numbered by then.
    states,
  };
}

export function unpackJournal(packed: PackedJournal, texts: readonly string[]): Journal {
  const states = packed.states.map((each) => unpackState(each, texts));
  const at = (number: number): PathState => states[number] ?? newPathState(0);
  const paths = new Map(packed.paths.map((path, index) => [path, at(index)]));
  const past = new Map(packed.past.map((path, index) => [path, at(paths.size + index)]));
  const reached = new Map(packed.reached.map(([stepIndex, each]) => [stepIndex, new Set(each)]));
  const newest = new Map<string, PathState>();
  const older = new Map<string, PathState[]>();
  for (const [id, numbers] of packed.newest) {
    const list = numbers.map(at);
    newest.set(id, list.pop() ?? newPathState(0));
    if (list.length > 0) older.set(id, list);
  }
  const groups = packed.state.map(([stepIndex, keys]) => ({ stepIndex, keys: new Map(keys) }));
  return new Journal({
    paths,
    past: new PastSteps(past, reached),
    newest,
    older,
    state: new KeptState(groups),
    checkpoints: new JournaledCheckpoints(
      new Map(packed.checkpoints.map((body) => [body[0], unpackBody(body, texts)])),
    ),
    resumes: packed.resumes,
    taken: packed.taken && new Map(packed.taken),
    rewoundAt: packed.rewoundAt ?? 0,
    early: packed.early && new Map(packed.early),
  });
}

/** False for a step that was about to start when its branch lost: it has no event. */
function isRecorded({ outcome, sequence, suspension, failures }: PathState): boolean {
  return outcome !== undefined || sequence > 0 || suspension !== undefined || failures > 0;
}

function packState(state: PathState, texts: TextNumbers): PackedState {
  const { stepIndex, sequence, started, startedAt, input, outcome } = state;
  const packed = outcome === undefined ? null : packOutcome(outcome, texts);
  const wait = outcome === undefined ? packWait(state, texts) : null;
  return [stepIndex, sequence, started ? startedAt : null, texts.of(input), packed, wait];
}

function packOutcome(outcome: Outcome, texts: TextNumbers): PackedOutcome {
  switch (outcome.kind) {
    case "output": {
      const { kind, value, usage } = outcome;
      return { kind, value: texts.of(value), ...(usage && { usage }) };
    }
    case "bailed":
      return { kind: outcome.kind, value: texts.of(outcome.value) };
    case "error":
    case "skipped":
      return outcome;
  }
}

function packWait(state: PathState, texts: TextNumbers): PackedWait | null {
  const { suspension, resumption, failures, retryAt, pausedFor, round } = state;
  if (suspension === undefined && failures === 0 && pausedFor === 0 && round === undefined) return null;
  return {
    ...(suspension && { suspension: { ...suspension, data: texts.of(suspension.data) } }),
    ...(resumption && { resumption }),
    ...(failures > 0 && { failures, retryAt }),
    ...(pausedFor > 0 && { pausedFor }),
    ...(round && { round: { ...round, data: texts.of(round.data) } }),
  };
}

function packBody([path, body]: readonly [string, BodyState], texts: TextNumbers): PackedBody {
  const { stepIndex, waits, checkpoints } = body;
  const each = Array.from(
    checkpoints,
    ([at, state]) => [at, { ...state, output: texts.of(state.output) }] as const,
  );
  return [path, stepIndex, waits ?? null, each];
}

function unpackBody([, stepIndex, waits, each]: PackedBody, texts: readonly string[]): BodyState {
  const checkpoints = new Map(
    each.map(([path, state]) => [path, { ...state, output: textOf(state.output, texts) }]),
  );
  return { stepIndex, waits: waits ?? undefined, checkpoints };
}

function textOf(number: TextNumber, texts: readonly string[]): JsonText {
  return number === null ? undefined : texts[number];
}

function unpackState(packed: PackedState, texts: readonly string[]): PathState {
  const [stepIndex, sequence, startedAt, input, outcome, wait] = packed;
  const text = (number: TextNumber): JsonText => textOf(number, texts);
  const state = newPathState(stepIndex);
  state.sequence = sequence;
  state.started = startedAt !== null;
  state.startedAt = startedAt ?? 0;
  state.input = text(input);
  if (outcome !== null)
    state.outcome = "value" in outcome ? { ...outcome, value: text(outcome.value) } : outcome;
  if (wait === null) return state;
  const { suspension, resumption, failures = 0, retryAt = 0, pausedFor = 0, round } = wait;
  state.suspension = suspension && { ...suspension, data: text(suspension.data) };
  state.resumption = resumption;
  state.failures = failures;
  state.retryAt = retryAt;
  state.pausedFor = pausedFor;
  state.round = round && { ...round, data: text(round.data) };
  return state;
}
